"""Assets of Vitrine as MLflow's artifacts: list, download, upload, delete."""

# MLflow's base class declares no types.
# pyright: reportIncompatibleMethodOverride=false

import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlflow.entities import FileInfo
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_DOES_NOT_EXIST, ErrorCode
from mlflow.store.artifact.artifact_repo import ArtifactRepository

from vitrine_mlflow.errors import invalid
from vitrine_mlflow.lending import require_lent
from vitrine_mlflow.vitrine_link import Asset, AssetAddress, AssetFile, connect, report_errors

if TYPE_CHECKING:
    from vitrine import Vitrine

_DESCRIPTION = "Artifacts of MLflow runs"


class _Threads(ThreadPoolExecutor):
    """Threads that know the request for which they work, and so its workspace."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        return super().submit(copy_context().run, fn, *args, **kwargs)


class VitrineArtifactRepository(ArtifactRepository):
    """The files at an address. An asset is created with the first upload; versions are read-only.

    MLflow splits the last segment off an address to download it, so what is left may be a
    database alone: only an address together with the path below it must name an asset.
    """

    def __init__(
        self,
        artifact_uri: str,
        tracking_uri: str | None = None,
        registry_uri: str | None = None,
        client: "Vitrine | None" = None,
    ) -> None:
        super().__init__(artifact_uri, tracking_uri, registry_uri)
        self._client = client
        self._lock = threading.Lock()
        self.thread_pool = _Threads(thread_name_prefix="vitrine-artifacts")

    @property
    def client(self) -> "Vitrine":
        with self._lock:  # MLflow downloads in several threads
            if self._client is None:
                self._client = connect()
                weakref.finalize(self, self._client.close)
            return self._client

    def _address(self, path: str | None) -> AssetAddress:
        """The address of a path. Every operation begins here, for a server may keep a repository
        longer than a request."""
        require_lent(self.artifact_uri, "The artifact location")
        root = self.artifact_uri.rstrip("/")
        return AssetAddress.parse(f"{root}/{path.strip('/')}" if path else root)

    def list_artifacts(self, path: str | None = None) -> list[FileInfo]:
        address = self._address(path)
        inside = f"{address.path}/" if address.path else ""
        entries: dict[str, FileInfo] = {}
        for file in self._files(address):
            if not file.path.startswith(inside):
                continue  # the address names this file
            name, slash, _ = file.path.removeprefix(inside).partition("/")
            shown = f"{path.strip('/')}/{name}" if path else name
            entries[name] = FileInfo(shown, bool(slash), None if slash else file.size)
        return [entries[name] for name in sorted(entries)]

    def _files(self, address: AssetAddress) -> list[AssetFile]:
        """The files at or below an address: none before the first upload creates the asset."""
        try:
            return Asset(self.client, address).files
        except MlflowException as error:
            if address.version or error.error_code != ErrorCode.Name(RESOURCE_DOES_NOT_EXIST):
                raise
            return []

    def _download_file(self, remote_file_path: str, local_path: str) -> None:
        address = self._address(remote_file_path)
        Asset(self.client, address).download(Path(local_path))

    def log_artifact(self, local_file: str, artifact_path: str | None = None) -> None:
        file = Path(local_file)
        self._upload(artifact_path, [(file, file.name)])

    def log_artifacts(self, local_dir: str, artifact_path: str | None = None) -> None:
        root = Path(local_dir)
        files = sorted(file for file in root.rglob("*") if file.is_file())
        self._upload(artifact_path, [(file, file.relative_to(root).as_posix()) for file in files])

    def _upload(self, path: str | None, files: Iterable[tuple[Path, str]]) -> None:
        address = self._writable(path)
        client = self.client
        from vitrine.transfer.importing import upload_files  # noqa: PLC0415 - optional
        from vitrine.transfer.scan import LocalFile  # noqa: PLC0415

        inside = f"/{address.path}" if address.path else ""
        wanted = [
            LocalFile(path=file, key=f"{inside}/{name}", size=file.stat().st_size)
            for file, name in files
        ]
        if not wanted:
            return
        with report_errors(address):
            self._ensure_asset(address)
            outcomes = upload_files(client, address.database, address.asset, wanted)
        failed = [outcome for outcome in outcomes if outcome.reason]
        if failed:
            raise MlflowException(
                f"{address.uri}: {len(failed)} of {len(wanted)} files were not stored; "
                f"{failed[0].key}: {failed[0].reason}"
            )

    def _ensure_asset(self, address: AssetAddress) -> None:
        from vitrine.errors import ConflictError, NotFoundError  # noqa: PLC0415 - optional

        try:
            self.client.assets.get(address.database, address.asset)
        except NotFoundError:
            try:
                self.client.assets.create(
                    address.database,
                    address.asset,
                    description=_DESCRIPTION,
                    asset_id=address.asset,
                )
            except ConflictError:
                return  # another process created it

    def delete_artifacts(self, artifact_path: str | None = None) -> None:
        """Permanently delete a file, or all below a folder; `mlflow gc` calls it for runs."""
        address = self._writable(artifact_path)
        if not address.path:
            raise invalid(f"{address.uri} is a whole asset: delete it with `vitrine delete`.")
        files = self._files(address)
        if not files:
            return
        is_file = files[0].path == address.path
        ids = (address.database, address.asset)
        with report_errors(address):
            self.client.files.delete(ids, f"/{address.path}", folder=not is_file)

    def _writable(self, path: str | None) -> AssetAddress:
        address = self._address(path)
        if address.version:
            raise invalid(f"{address.uri}: versions of assets cannot be changed.")
        return address
