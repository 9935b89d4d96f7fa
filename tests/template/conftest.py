import pytest

from tests.template.stack import BACKENDS, ROOT, Stack, translated

if not (ROOT / ".tools/sam/bin/python").exists():
    pytest.skip("the SAM CLI's environment is missing: run `make tools`", allow_module_level=True)


@pytest.fixture(params=BACKENDS)
def any_stack(request: pytest.FixtureRequest) -> Stack:
    return translated()[request.param]


@pytest.fixture
def stack() -> Stack:
    return translated()["none"]


@pytest.fixture
def data(stack: Stack) -> Stack:
    return stack.nested("Data")


@pytest.fixture
def with_domain() -> Stack:
    return translated()["domain"]


@pytest.fixture
def with_existing() -> Stack:
    return translated()["existing"]


@pytest.fixture
def prod() -> Stack:
    return translated()["prod"]
