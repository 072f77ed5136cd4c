"""The class that MLflow loads.

MLflow loads it while MLflow is imported, perhaps by a module of `vitrine_mlflow` that is not
complete yet: the package's other modules are imported where they are used.
"""

from typing import TYPE_CHECKING, Any

from mlflow.data.dataset_source import DatasetSource
from mlflow.data.dataset_source_registry import get_registered_sources

from vitrine_mlflow.asset_scheme import ASSET_SCHEME

if TYPE_CHECKING:
    from vitrine import Vitrine

    from vitrine_mlflow.vitrine_link import AssetAddress

_FIELDS = ("uri", "database", "asset", "version", "digest")


class VitrineDatasetSource(DatasetSource):
    """A version of an asset, or a file or folder of it.

    An address without a version is resolved to the asset's current version when it is given, so
    that the dataset means the same files later.
    """

    def __init__(self, address: "AssetAddress", digest: str) -> None:
        self.address = address
        self.digest = digest

    @classmethod
    def of(cls, uri: str, client: "Vitrine | None" = None) -> "VitrineDatasetSource":
        """Resolve an address.

        Raises:
            MlflowException: there is no such asset or version, or nothing at the path.
        """
        from vitrine_mlflow.errors import invalid  # noqa: PLC0415
        from vitrine_mlflow.lending import require_lent  # noqa: PLC0415
        from vitrine_mlflow.vitrine_link import Asset, AssetAddress, connect  # noqa: PLC0415

        address = AssetAddress.parse(uri)
        require_lent(uri, "source")
        if client is None:
            with connect() as opened:
                return cls.of(uri, opened)
        asset = Asset(client, address).pin_version()
        if not asset.files:
            raise invalid(
                f"{asset.address.uri}: this version has no file there; `vitrine versions create` "
                "creates a version of the files as they are"
            )
        return cls(asset.address, asset.digest())

    @property
    def uri(self) -> str:
        return self.address.uri

    @staticmethod
    def _get_source_type() -> str:
        return ASSET_SCHEME

    def load(self, dst_path: str | None = None) -> str:
        """Download the files; the path of the file or folder on this machine."""
        from mlflow.artifacts import download_artifacts  # noqa: PLC0415 - not loaded yet above

        return str(download_artifacts(artifact_uri=self.uri, dst_path=dst_path))

    @staticmethod
    def _can_resolve(raw_source: Any) -> bool:
        return isinstance(raw_source, str) and raw_source.startswith(f"{ASSET_SCHEME}://")

    @classmethod
    def _resolve(cls, raw_source: Any) -> "VitrineDatasetSource":
        return cls.of(raw_source)

    def to_dict(self) -> dict[str, Any]:
        address = self.address
        values = (self.uri, address.database, address.asset, address.version, self.digest)
        return dict(zip(_FIELDS, values, strict=True))

    @classmethod
    def from_dict(cls, source_dict: dict[Any, Any]) -> "VitrineDatasetSource":
        from vitrine_mlflow.errors import invalid  # noqa: PLC0415
        from vitrine_mlflow.vitrine_link import AssetAddress  # noqa: PLC0415

        absent = [name for name in ("uri", "digest") if name not in source_dict]
        if absent:
            raise invalid(f"A source of type '{ASSET_SCHEME}' lacks {' and '.join(absent)}.")
        return cls(AssetAddress.parse(source_dict["uri"]), source_dict["digest"])


# MLflow generates a source for the scheme of every artifact repository, and warns at each use of a
# scheme that has two.
_sources: list[Any] = get_registered_sources()
_sources[:] = [source for source in _sources if source._get_source_type() != ASSET_SCHEME]
