"""The routes of downloads."""

from backend.core.reads import Read, ReadAsset
from backend.core.references import AssetRef
from backend.domains.assets.models import AssetPath
from backend.domains.downloads.models import (
    DownloadBody,
    DownloadReply,
    StreamPath,
    VersionChoice,
)
from backend.domains.downloads.rules import Wanted
from backend.domains.downloads.service import (
    DownloadService,
    Reading,
    Streamed,
    StreamService,
)
from backend.domains.files.models.views import ViewPath, ViewReply, ViewsReply
from backend.domains.files.service.views import ViewQueries
from backend.http.call import Call
from backend.http.router import Content, Reply, Router
from backend.spec import routes


def build_router(service: DownloadService, streams: StreamService, views: ViewQueries) -> Router:
    """Bind the routes of downloads to the services."""
    router = Router()

    @router.bind(routes.DOWNLOAD)
    def get_download_url(call: Call, path: AssetPath, body: DownloadBody) -> Reply[DownloadReply]:
        asset = path.ref
        if body.keys is None:
            reply, file = service.get_download_url(call.caller, asset, body)
            return Reply(reply, read=Read((ReadAsset(*asset.ids, (file,)),), urls=True))
        reply, files = service.get_download_urls(call.caller, asset, body, body.keys)
        read = Read((ReadAsset(*asset.ids, files),), urls=True, all_named=True)
        return Reply(reply, compressible=True, read=read)

    @router.bind(routes.LIST_VIEWS)
    def list_views(call: Call, path: AssetPath) -> Reply[ViewsReply]:
        items = views.list_views(call.caller, path.ref, url_seconds=service.url_seconds)
        files = tuple(sorted({item.file_path for item in items}))
        read = Read((ReadAsset(*path.ref.ids, files),), urls=True) if items else None
        return Reply(ViewsReply(items=items), compressible=True, read=read)

    @router.bind(routes.GET_VIEW)
    def get_view(call: Call, path: ViewPath) -> ViewReply:
        return views.get_view(call.caller, path.ref, path.view_id)

    _bind_files(router, streams)
    _bind_auxiliary_files(router, streams)
    return router


def _bind_files(router: Router, streams: StreamService) -> None:
    def streamed(call: Call, path: StreamPath, query: VersionChoice, reading: Reading) -> Content:
        asset = path.ref
        wanted = Wanted.of(call.headers)
        streamed = streams.stream_file(
            call.caller, asset, path.proxy, query, wanted=wanted, reading=reading
        )
        return _content(asset, streamed, reading)

    @router.bind(routes.STREAM_FILE)
    def stream_file(call: Call, path: StreamPath, query: VersionChoice) -> Content:
        return streamed(call, path, query, "bytes")

    @router.bind(routes.HEAD_FILE)
    def head_file(call: Call, path: StreamPath, query: VersionChoice) -> Content:
        return streamed(call, path, query, "headers")


def _bind_auxiliary_files(router: Router, streams: StreamService) -> None:
    def streamed(call: Call, path: StreamPath, reading: Reading) -> Content:
        asset = path.ref
        wanted = Wanted.of(call.headers)
        streamed = streams.stream_auxiliary(
            call.caller, asset, path.proxy, wanted=wanted, reading=reading
        )
        return _content(asset, streamed, reading)

    @router.bind(routes.STREAM_AUXILIARY_FILE)
    def stream_auxiliary_file(call: Call, path: StreamPath) -> Content:
        return streamed(call, path, "bytes")

    @router.bind(routes.HEAD_AUXILIARY_FILE)
    def head_auxiliary_file(call: Call, path: StreamPath) -> Content:
        return streamed(call, path, "headers")


_CLOSED = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}
"""Headers that prevent a browser from running downloaded content, whatever its type."""


def _content(asset: AssetRef, streamed: Streamed, reading: Reading) -> Content:
    """Return the reply with a file, some of its bytes, or the URL of them.

    Only bytes and URLs are recorded as reads: viewers request headers and ranges thousands of
    times.
    """
    files = (ReadAsset(*asset.ids, (streamed.path,)),)
    if streamed.url is not None:
        kept = {"Location": streamed.url, "Cache-Control": "no-cache, no-store"}
        return Content(307, kept, read=Read(files, urls=True))
    size = streamed.head.version.size
    # Clients must revalidate with the ETag, so that a revoked permission applies at once.
    headers = {
        "Cache-Control": "private, no-cache",
        "Content-Type": streamed.serving.content_type,
        "Content-Disposition": streamed.serving.disposition,
        **_CLOSED,
        "Accept-Ranges": "bytes",
        "ETag": streamed.validators.etag,
        "Last-Modified": streamed.validators.modified_text,
        "X-Amz-Version-Id": streamed.head.version.version_id,
    }
    if streamed.is_known:
        return Content(304, headers)
    if reading == "headers":
        return Content(200, {**headers, "Content-Length": str(size)})
    read = Read(files, hourly=True)
    if streamed.span is None:
        return Content(200, headers, streamed.body, read)
    first, end = streamed.span
    headers["Content-Range"] = f"bytes {first}-{end - 1}/{size}"
    return Content(206, headers, streamed.body, read)
