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
from vitrine_mlflow.expressions import key_of
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
        registry: Any = providers
        provider: Any = registry.get_workspace_store(workspace_uri=self._provider_uri)
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
            while other workspaces than the default have resources in the table.
    """
    if context.isolation is not None:
        root = context.artifact_root
        segments = [segment for segment in urlsplit(root).path.split("/") if segment]
        if WORKSPACES_DIR_NAME in segments[-2:]:
            raise wrong_state(
                f"Cannot enable workspace mode because the default artifact root {root} contains "
                f"the reserved '{WORKSPACES_DIR_NAME}' segment. Choose a different artifact root "
                "before enabling workspaces."
            )
        return
    for workspace in sorted(_recorded_workspaces(context) - {DEFAULT_WORKSPACE}):
        if kind := _kind_of_a_resource(context, workspace):
            raise wrong_state(
                f"Cannot disable workspaces because {kind} exist outside the default workspace "
                f"(in workspace '{workspace}'). Enable workspace support "
                "(MLFLOW_ENABLE_WORKSPACES=true), or move or delete those of other workspaces "
                "before starting the store in single-tenant mode."
            )


def _recorded_workspaces(context: Context) -> set[str]:
    """Workspaces in the list, which may be in another table, and those that wrote to this one."""
    kinds = (keys.WORKSPACE_NAME, keys.WORKSPACE_USED)
    stored = [key_of(item) for item in context.database.query(keys.WORKSPACE_NAME.pk.text)]
    parsed = [kind.parse(key) for key in stored for kind in kinds]
    return {fields["workspace"] for fields in parsed if fields is not None}


def _kind_of_a_resource(context: Context, workspace: str) -> str | None:
    """Return a kind of resource that the workspace contains: experiments, models or webhooks."""
    places = {
        "experiments": (f"WS#{workspace}", GSI2),
        "registered models": (f"RM_LIST#{workspace}", GSI5),
        "webhooks": (keys.WEBHOOK.pk.build({"workspace": workspace}), None),
    }
    for kind, (pk, index) in places.items():
        if next(iter(context.database.query(pk, index=index, limit=1)), None) is not None:
            return kind
    return None
