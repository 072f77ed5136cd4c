"""The functions behind the routes of pipelines and workflows."""

from backend.spec import secrets, settings
from backend.spec.functions.model import api, audited
from backend.spec.tables import access, assets, operations, workflows

PIPELINES_API = audited(
    api(
        "PipelinesApi",
        "pipelines",
        "Pipelines, which process files.",
        writes=(workflows.PIPELINES, workflows.WORKFLOWS, operations.RESERVATIONS),
        reads=(assets.DATABASES,),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.ALLOWED_PIPELINES,),
    )
)
WORKFLOWS_API = audited(
    api(
        "WorkflowsApi",
        "workflows",
        "Workflows: sequences of pipelines, and the file types whose upload starts them.",
        writes=(workflows.PIPELINES, workflows.WORKFLOWS, operations.RESERVATIONS),
        reads=(assets.DATABASES, access.USERS),
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.PROCESSING,),
    )
)
