"""Exports of assets and of the trees below them, page by page."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from vitrine.api_models import ExportedAsset as ExportedAsset
from vitrine.api_models import ExportedFile as ExportedFile
from vitrine.api_models import ExportPage as ExportPage
from vitrine.api_models import UnseenAsset as UnseenAsset
from vitrine.errors import ProtocolError
from vitrine.resources.assets import asset_path
from vitrine.resources.resource import given
from vitrine.storage import Storage
from vitrine.transport import Transport, parse


@dataclass(frozen=True, kw_only=True)
class ExportFlags:
    """The parts of assets to export, as the contract names them, with its defaults."""

    generate_presigned_urls: bool = False
    include_folder_files: bool = False
    include_only_primary_type_files: bool = False
    include_file_metadata: bool = True
    include_asset_link_metadata: bool = True
    include_asset_metadata: bool = True
    fetch_asset_relationships: bool = True
    fetch_entire_children_subtrees: bool = False
    include_parent_relationships: bool = False
    include_archived_files: bool = False
    file_extensions: Sequence[str] = ()
    max_assets: int | None = None
    max_files: int | None = None

    def body(self) -> dict[str, JsonValue]:
        fields = {to_camel(name): value for name, value in asdict(self).items()}
        extensions: list[JsonValue] = [*self.file_extensions]
        return given(**{**fields, "fileExtensions": extensions or None})


class Exports:
    def __init__(self, transport: Transport, storage: Storage) -> None:
        self._transport = transport
        self._storage = storage

    def pages(
        self, database_id: str, asset_id: str, flags: ExportFlags | None = None
    ) -> Iterator[ExportPage]:
        """Yield the pages of an export, each requested when the previous one is used up.

        A large page comes from the storage.

        Raises:
            ProtocolError: a page has another form, or a token is repeated.
            StorageError: the storage rejected the request for a page.
        """
        path = asset_path(database_id, asset_id, "export")
        body = (flags or ExportFlags()).body()
        seen: set[str] = set()
        while True:
            response = self._transport.send(
                "POST", path, body=body, repeatable=True, redirects=True
            )
            if response.status_code == HTTPStatus.SEE_OTHER:
                # Requested without the key, which is for the API only.
                with self._storage.get(response.headers["Location"]) as response:
                    response.read()
            page = parse(ExportPage, response)
            yield page
            token = page.next_token
            if not token:
                return
            if token in seen:
                raise ProtocolError(f"POST {path}: the server returned the same page token twice")
            seen.add(token)
            body = {**body, "startingToken": token}
