"""DynamoDB's answers as JSON, straight from the items.

moto's general serializer spends a millisecond on an item of 15 attributes; the shape is already that of the wire.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from moto.core.responses import ActionContext, ActionResult
from moto.dynamodb.models.utilities import dynamo_to_dict

from infra.local.compact import wire

if TYPE_CHECKING:
    from moto.core.common_types import TYPE_RESPONSE

DATA_OPERATIONS = frozenset(
    {
        "GetItem",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Query",
        "Scan",
        "BatchGetItem",
        "TransactGetItems",
    }
)


class WireResult(ActionResult):
    """The result of an operation, which holds moto's items until it is written."""

    def execute_result(self, context: ActionContext) -> TYPE_RESPONSE:
        """Write the result: status, headers, JSON."""
        if context.operation_model.name not in DATA_OPERATIONS:
            return ActionResult(dynamo_to_dict(self.result)).execute_result(context)
        headers = {"Content-Type": "application/x-amz-json-1.0"}
        return 200, headers, json.dumps(self.result, default=wire, ensure_ascii=False)
