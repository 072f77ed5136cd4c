"""The functions that MLflow loads by entry points. The source of datasets must be a class.

MLflow loads them while it is imported, perhaps by a module of this package that is not complete
yet. So this module imports the package's other modules only when MLflow calls it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vitrine_mlflow.artifacts import VitrineArtifactRepository
    from vitrine_mlflow.registry_store import DynamoRegistryStore
    from vitrine_mlflow.store import DynamoTrackingStore
    from vitrine_mlflow.workspaces import DynamoWorkspaceStore


def tracking_store(store_uri: str, artifact_uri: str | None = None) -> "DynamoTrackingStore":
    """The store of experiments, runs and traces at an address."""
    from vitrine_mlflow.store import DynamoTrackingStore  # noqa: PLC0415

    return DynamoTrackingStore(store_uri, artifact_uri)


def registry_store(store_uri: str, tracking_uri: str | None = None) -> "DynamoRegistryStore":
    """The store of registered models at an address."""
    from vitrine_mlflow.registry_store import DynamoRegistryStore  # noqa: PLC0415

    return DynamoRegistryStore(store_uri, tracking_uri)


def workspace_store(workspace_uri: str) -> "DynamoWorkspaceStore":
    """The provider of workspaces at an address."""
    from vitrine_mlflow.workspaces import DynamoWorkspaceStore  # noqa: PLC0415

    return DynamoWorkspaceStore(workspace_uri)


def artifact_repository(
    artifact_uri: str, tracking_uri: str | None = None, registry_uri: str | None = None
) -> "VitrineArtifactRepository":
    """The files of an asset as artifacts."""
    from vitrine_mlflow.artifacts import VitrineArtifactRepository  # noqa: PLC0415

    return VitrineArtifactRepository(artifact_uri, tracking_uri, registry_uri)
