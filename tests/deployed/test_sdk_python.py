"""The `anthropic` package for Python against the deployed stack."""

from tests.stores.sdk.conftest import keys
from tests.stores.sdk.test_python import outcomes, test_the_package_works_unchanged

__all__ = ["keys", "outcomes", "test_the_package_works_unchanged"]
