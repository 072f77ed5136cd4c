"""An asset with the services of its files, and clients that upload as users do."""

import base64
import hashlib
from dataclasses import dataclass, replace
from typing import Any

from backend.aws.clients import s3
from backend.aws.object_ranges import S3ObjectRanges
from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.core.clock import Clock
from backend.core.ids import NewId, new_upload_id
from backend.core.objects import Objects
from backend.core.tables import Tables
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.downloads.routes import build_router as downloads_router
from backend.domains.downloads.service import DownloadService, StreamService
from backend.domains.files.repository import FileRepository
from backend.domains.files.routes import build_router as files_router
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.views import ViewQueries
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.commands import JobService
from backend.domains.uploads.repository import UploadRepository
from backend.domains.uploads.routes import build_router as uploads_router
from backend.domains.uploads.service.commands import UploadLimits, UploadService
from backend.domains.uploads.service.context import UploadContext
from backend.domains.uploads.service.large_files import LargeFiles
from backend.domains.uploads.service.renewal import RenewalService
from backend.domains.uploads.service.settlement import Settlement
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.file_changes import changes, rewrites
from backend.entrypoints.wiring.saved_views import saved_views
from backend.spec.functions.apis import FILES_API
from backend.spec.settings import LARGE_FILE_BYTES
from tests.factories.access import OnlyUser
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.audit import audit_service
from tests.factories.http import Client, Response
from tests.factories.quarantine import quarantine
from tests.fakes.queues import MemoryQueues

BUCKET = "assetbucket"
AUXILIARY = "assetauxiliarybucket"
PATH = "/database/museum/assets/statue"
PARAMETERS = {"databaseId": "museum", "assetId": "statue"}
GLB = b"glTF" + bytes(60)


def sha256(body: bytes) -> str:
    """The checksum as the API writes it."""
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


@dataclass(frozen=True)
class Gallery:
    """The asset `statue` of the database `museum`, and the services of its files."""

    assets: AssetService
    files: FileQueries
    uploads: UploadService
    renewals: RenewalService
    large_files: LargeFiles
    downloads: DownloadService
    streams: StreamService
    views: ViewQueries
    changing: Context
    objects: Objects
    asset: Asset
    user_id: str = "admin"

    def send(self, method: str, path: str, **more: Any) -> Response:
        """A request to any route of files, uploads and downloads."""
        router = (
            uploads_router(self.uploads, self.renewals)
            if path.startswith("/uploads")
            else downloads_router(self.downloads, self.streams, self.views)
            if path.endswith("/download")
            or "/stream/" in path
            or ("/views" in path and method == "GET")
            else files_router(
                self.files,
                lambda: changes(self.changing),
                lambda: rewrites(self.changing),
                saved_views(self.changing),
            )
        )
        return Client(router, user_id=self.user_id).send(method, path, **more)

    def as_user(self, user_id: str) -> "Gallery":
        return replace(self, user_id=user_id)

    def list_files(self, **query: str) -> Response:
        return self.send("GET", f"{PATH}/listFiles", parameters=PARAMETERS, query=query)

    def file_info(self, path: str, **query: str) -> Response:
        wanted = {"filePath": path, **query}
        return self.send("GET", f"{PATH}/fileInfo", parameters=PARAMETERS, query=wanted)

    def download(self, **body: Any) -> Response:
        wanted = {"downloadType": "assetFile", **body}
        return self.send("POST", f"{PATH}/download", parameters=PARAMETERS, body=wanted)

    def stream(
        self, path: str, *, method: str = "GET", family: str = "download", **more: Any
    ) -> Response:
        """The bytes of a file; `path` is decoded, as from the gateway."""
        place = f"{PATH}/{family}/stream/"
        return self.send(
            method,
            place + path,
            parameters={**PARAMETERS, "proxy": path},
            **more,
        )

    def initialise(self, *files: dict[str, Any], **more: Any) -> Response:
        body = {**PARAMETERS, "uploadType": "assetFile", "files": list(files), **more}
        return self.send("POST", "/uploads", body=body)

    def complete(self, upload_id: str, *files: dict[str, Any], **more: Any) -> Response:
        body = {**PARAMETERS, "uploadType": "assetFile", "files": list(files), **more}
        path = f"/uploads/{upload_id}/complete"
        return self.send("POST", path, parameters={"uploadId": upload_id}, body=body)

    def renew(self, upload_id: str, *files: dict[str, Any], **more: Any) -> Response:
        path = f"/uploads/{upload_id}/renew"
        body = {"files": list(files), **more}
        return self.send("POST", path, parameters={"uploadId": upload_id}, body=body)

    def upload(self, upload_id: str) -> Response:
        path = f"/uploads/{upload_id}"
        return self.send("GET", path, parameters={"uploadId": upload_id})

    def abort(self, upload_id: str) -> Response:
        path = f"/uploads/{upload_id}"
        return self.send("DELETE", path, parameters={"uploadId": upload_id})

    def change(self, method: str, verb: str, body: Any = None, **parameters: str) -> Response:
        """A request to a route of files that writes."""
        wanted = {**PARAMETERS, **parameters}
        path = "/".join((PATH, verb, *parameters.values()))
        return self.send(method, path, parameters=wanted, body=body)

    def stored_asset(self) -> Asset:
        """The asset as it is stored now."""
        asset = self.assets.find_asset("museum", "statue")
        assert asset is not None
        return asset

    def put(self, path: str, body: bytes = GLB) -> str:
        """Put an object directly at the asset's path; return its version id."""
        key = self.asset.asset_location.key + path.removeprefix("/")
        written = self.objects.put(BUCKET, key, body, content_type="text/plain", metadata={})
        return written.version_id


def gallery(
    tables: Tables,
    objects: Objects,
    *,
    clock: Clock = lambda: NOON,
    new_id: NewId = new_upload_id,
    per_minute: int = 1000,
    large_bytes: int = 1024**3,
    base_prefix: str = "/",
    is_distributable: bool = True,
    scans: bool = False,
) -> Gallery:
    """An asset without files in an empty bucket; uploads are scanned or not."""
    assets = asset_service(tables, objects, clock=clock, base_prefix=base_prefix)
    created_database(assets)
    files = FileQueries(FileRepository(tables), assets, objects, quarantine(tables, scans=scans))
    context = UploadContext(
        uploads=UploadRepository(tables),
        assets=assets,
        databases=assets.databases,
        jobs=JobService(JobRepository(tables), OnlyUser(), audit_service(objects, clock), clock),
        objects=objects,
        audit=audit_service(objects, clock),
        large_bytes=large_bytes,
        clock=clock,
    )
    settlement = Settlement(context, files)
    return Gallery(
        assets=assets,
        files=files,
        uploads=UploadService(context, settlement, UploadLimits(per_minute, 900), new_id),
        renewals=RenewalService(context, 900),
        large_files=LargeFiles(context, settlement),
        downloads=DownloadService(assets, files, objects, 900),
        streams=StreamService(assets, files, objects, _ranges(objects), lambda: AUXILIARY, 900),
        views=ViewQueries(assets, objects, lambda: AUXILIARY),
        changing=file_changing(
            tables, objects, clock=clock, assets=assets, files=files, large_bytes=large_bytes
        ),
        objects=objects,
        asset=created_asset(assets, is_distributable=is_distributable),
    )


def _ranges(objects: Objects) -> S3ObjectRanges:
    return S3ObjectRanges(objects.client if isinstance(objects, S3Objects) else s3())


def file_changing(
    tables: Tables,
    objects: Objects,
    *,
    clock: Clock,
    assets: AssetService,
    files: FileQueries,
    large_bytes: int,
) -> Context:
    """The service that changes files, wired as in its function, over these ports."""
    from tests.model.deployment import in_memory_settings

    settings = in_memory_settings()
    environment = {**settings.environment, LARGE_FILE_BYTES.variable: str(large_bytes)}
    return Context(
        FILES_API,
        clock,
        settings=Settings(environment),
        tables=tables,
        objects=objects,
        queues=MemoryQueues(),
        authorization=OnlyUser(),
        assets=assets,
        databases=assets.databases,
        files=files,
    )
