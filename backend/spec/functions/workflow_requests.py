"""Which requests the functions of pipelines and workflows make, as in `requests`."""

from collections.abc import Mapping

from backend.spec.functions.request_parts import Requests
from backend.spec.tables import assets, operations, workflows

OF_WORKFLOWS: Mapping[str, Requests] = {
    "PipelinesApi": {
        assets.DATABASES: ("ConditionCheckItem",),
        operations.RESERVATIONS: ("UpdateItem",),
        workflows.PIPELINES: (
            *("BatchGetItem", "ConditionCheckItem", "DeleteItem"),
            *("GetItem", "PutItem", "Query", "Scan"),
        ),
        workflows.WORKFLOWS: ("BatchGetItem", "PutItem"),
    },
    "WorkflowsApi": {
        assets.DATABASES: ("ConditionCheckItem",),
        operations.RESERVATIONS: ("UpdateItem",),
        workflows.PIPELINES: ("BatchGetItem", "ConditionCheckItem", "UpdateItem"),
        workflows.WORKFLOWS: ("DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
    },
}
