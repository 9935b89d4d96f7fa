"""The `@anthropic-ai/sdk` package against the deployed stack."""

from tests.stores.sdk.conftest import keys
from tests.stores.sdk.test_typescript import (
    outcomes,
    test_every_scenario_is_looked_at,
    test_the_package_works_unchanged,
)

__all__ = ["keys", "outcomes", "test_every_scenario_is_looked_at", "test_the_package_works_unchanged"]
