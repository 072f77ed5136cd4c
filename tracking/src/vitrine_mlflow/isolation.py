"""The workspace of a request, as MLflow's server has resolved it."""

from typing import Any
from urllib.parse import urlsplit

from mlflow.environment_variables import MLFLOW_ENABLE_WORKSPACES

# MLflow has no public name for the registry of workspace providers; its own stores import this one
from mlflow.tracking._workspace import registry as providers
from mlflow.utils.workspace_context import get_request_workspace
from mlflow.utils.workspace_utils import WORKSPACES_DIR_NAME, resolve_workspace_store_uri

from vitrine_mlflow import keys
from vitrine_mlflow.context import DEFAULT_WORKSPACE, Context
from vitrine_mlflow.errors import invalid, wrong_state
from vitrine_mlflow.mlflow_api import joined_uri
from vitrine_mlflow.table import GSI2, GSI5


class RequestWorkspaces:
    """Workspaces of MLflow's provider, which may be another table or another product."""

    def __init__(self, provider_uri: str) -> None:
        self._provider_uri = provider_uri

    def active(self) -> str:
        workspace = get_request_workspace()
        if not workspace:
            raise invalid(
                "Active workspace is required. Configure a default workspace or call "
                "mlflow.set_workspace() before interacting with the store."
            )
        return workspace

    def artifact_root(self, default: str, workspace: str) -> str:
        found: Any = providers
        provider: Any = found.get_workspace_store(workspace_uri=self._provider_uri)
        root, append = provider.resolve_artifact_root(default, workspace)
        if not root:
            raise invalid(
                f"Cannot determine an artifact root for workspace '{workspace}'. Set "
                "--default-artifact-root when starting the server or configure the workspace's "
                "default_artifact_root."
            )
        return joined_uri(root, WORKSPACES_DIR_NAME, workspace) if append else root


def isolation_of(store_uri: str) -> RequestWorkspaces | None:
    """The workspaces of requests if MLflow's setting enables them."""
    if not MLFLOW_ENABLE_WORKSPACES.get():
        return None
    return RequestWorkspaces(resolve_workspace_store_uri(tracking_uri=store_uri) or store_uri)


def require_startable(context: Context) -> None:
    """Refuse settings under which resources of workspaces would be mixed.

    Raises:
        MlflowException: the artifact root is that of a workspace, or workspaces were disabled
            while other workspaces than the default have resources.
    """
    if context.isolation is not None:
        _require_root(context.artifact_root)
        return
    for item in context.database.query_prefix("WORKSPACES", keys.WORKSPACE_NAME.prefix()):
        workspace: str = item["name"]
        if workspace != DEFAULT_WORKSPACE and has_resources(context, workspace):
            raise wrong_state(
                "Cannot disable workspaces because experiments or models exist outside the default "
                "workspace (i.e., assigned to non-default workspaces). Enable workspace support "
                "(MLFLOW_ENABLE_WORKSPACES=true) or move those experiments back to the default "
                "workspace before starting the tracking store in single-tenant mode."
            )


def has_resources(context: Context, workspace: str) -> bool:
    """Whether the indexes list an experiment or a model of a workspace."""
    lists = ((f"WS#{workspace}", GSI2), (f"RM_LIST#{workspace}", GSI5))
    return any(
        True for pk, index in lists for _ in context.database.query(pk, index=index, limit=1)
    )


def _require_root(root: str) -> None:
    segments = [one for one in urlsplit(root).path.split("/") if one]
    if WORKSPACES_DIR_NAME in segments[-2:]:
        raise wrong_state(
            f"Cannot enable workspace mode because the default artifact root {root} contains the "
            f"reserved '{WORKSPACES_DIR_NAME}' segment. Choose a different artifact root before "
            "enabling workspaces."
        )
