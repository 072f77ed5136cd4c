"""Tools that only read."""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final, Literal, cast

from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from PIL import Image as Picture
from pydantic import Field, JsonValue

from vitrine.client import Vitrine
from vitrine.errors import VitrineError
from vitrine.lookup import find_asset
from vitrine.mcp_server.replies import MOST_ITEMS, data_text, first, reports_errors
from vitrine.metadata_filters import FACT, parse_order, parse_where
from vitrine.models import AssetIds
from vitrine.resources.metadata import MetadataOwner
from vitrine.resources.search import SearchQuery
from vitrine.search_models import EntityType, Hit
from vitrine.wire import Wire

_MOST_PICTURE_BYTES: Final = 4 * 1024 * 1024
_SIDE: Final = 256
"""The width and height of one view in the sheet of views."""
_MOST_VIEWS: Final = 8

Database = Annotated[str, Field(description="Id of the database.")]
AssetName = Annotated[str, Field(description="Id or name of the asset.")]
FilePath = Annotated[str, Field(description="Path in the asset, such as /parts/gear.glb.")]
OptionalPath = Annotated[
    str | None, Field(description="Path in the asset; without it, the asset itself.")
]


@dataclass(frozen=True, kw_only=True)
class _FilteredQuery(SearchQuery):
    """A search with filters in the query syntax."""

    filters: tuple[str, ...] = ()

    @property
    def needs_full_form(self) -> bool:
        return True

    def full_body(self) -> dict[str, JsonValue]:
        body = super().full_body()
        named = cast("list[JsonValue]", body.get("filters") or [])
        own: list[JsonValue] = [{"query_string": {"query": text}} for text in self.filters]
        return {**body, "filters": [*named, *own]} if named or own else body


@dataclass(frozen=True)
class Reading:
    """The tools; each public method is one."""

    client: Vitrine

    def ids(self, database: str, asset: str) -> AssetIds:
        return database, find_asset(self.client, database, asset).asset_id

    @reports_errors
    def search(  # noqa: PLR0913, PLR0917 - the arguments of the tool
        self,
        query: Annotated[str, Field(description="Words; empty finds everything.")] = "",
        kind: Annotated[
            Literal["asset", "file"] | None, Field(description="Only assets, or only files.")
        ] = None,
        database: Annotated[str | None, Field(description="Only in this database.")] = None,
        extension: Annotated[str | None, Field(description="Of files, such as glb.")] = None,
        tags: Annotated[list[str] | None, Field(description="One of these tags.")] = None,
        conditions: Annotated[
            list[str] | None,
            Field(
                description=(
                    "All must hold: facts of files such as 'triangles > 100000', 'format=OBJ', "
                    "'watertight=false', 'materials >= 2', 'unit' (has one), '!unit' (has none); "
                    "metadata as 'metadata.maker=Acme', 'metadata.mass_kg < 3'."
                )
            ),
        ] = None,
        has_thumbnail: Annotated[
            bool | None, Field(description="Only files with, or without, a thumbnail.")
        ] = None,
        largest_first: Annotated[
            str | None, Field(description="Order by a fact, such as triangles.")
        ] = None,
        size: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 20,
        start: Annotated[int, Field(ge=0, le=9_000)] = 0,
    ) -> str:
        """Find assets and files by words, tags, metadata and facts, with the total number."""
        exists = "_exists_:str_previewfilekey"
        filters = () if has_thumbnail is None else (exists if has_thumbnail else f"NOT {exists}",)
        by_file = has_thumbnail is not None or any(
            "metadata." not in row for row in conditions or ()
        )
        kinds = [EntityType(kind)] if kind else [EntityType.FILE] if by_file else []
        wanted = _FilteredQuery(
            query=query or None,
            entity_types=kinds,
            database_id=database,
            file_extension=extension.lstrip(".").lower() if extension else None,
            tags=tags or [],
            metadata=[*map(parse_where, conditions or ())],
            sort=[parse_order(f"-{largest_first}")] if largest_first else [],
            filters=filters,
            did_you_mean=True,
        )
        result = self.client.search.simple(wanted, start=start, size=size)
        hits: list[JsonValue] = [hit_summary(hit) for hit in result.hits.hits]
        reply = first(hits, result.total)
        if result.did_you_mean:
            reply["didYouMean"] = result.did_you_mean
        return data_text(reply)

    @reports_errors
    def suggest(
        self, text: Annotated[str, Field(description="The beginning of a word.", min_length=1)]
    ) -> str:
        """List names, tags, metadata keys and values that begin with a text."""
        return data_text(first(_wires(self.client.search.suggest(text, size=20))))

    @reports_errors
    def browse(
        self,
        database: Annotated[str | None, Field(description="Lists its assets.")] = None,
        asset: Annotated[str | None, Field(description="Lists its files; id or name.")] = None,
        folder: Annotated[str, Field(description="Only files below it.")] = "",
        start: Annotated[int, Field(ge=0, description="How many to leave out.")] = 0,
    ) -> str:
        """List databases, the assets of a database, or the files of an asset; 50 at a time."""
        if database is None:
            rows: Iterable[Wire] = self.client.databases.list()
        elif asset is None:
            rows = self.client.assets.list(database)
        else:
            ids = self.ids(database, asset)
            rows = self.client.files.list(*ids, prefix=folder.lstrip("/") or None, basic=True)
        return data_text(first(_wires(islice(rows, start, start + MOST_ITEMS + 1))))

    @reports_errors
    def show(self, database: Database, asset: AssetName, path: OptionalPath = None) -> str:
        """Show an asset with its metadata, links and files, or one file with its facts."""
        ids = self.ids(database, asset)
        return data_text(self.file(ids, path) if path else self.asset(ids))

    def asset(self, ids: AssetIds) -> dict[str, JsonValue]:
        """Return an asset, its metadata, its links and its first files."""
        files = _wires(islice(self.client.files.list(*ids, basic=True), MOST_ITEMS + 1))
        owner = MetadataOwner(database_id=ids[0], asset_id=ids[1])
        return {
            "asset": self.client.assets.get(*ids).wire(),
            "metadata": self._records(owner),
            "links": self.client.links.of(*ids).wire(),
            "files": first(files),
        }

    def file(self, ids: AssetIds, path: str) -> dict[str, JsonValue]:
        """Return a file, its facts, its attributes and its metadata."""
        info = self.client.files.info(*ids, path)
        owner = MetadataOwner(database_id=ids[0], asset_id=ids[1], file_path=info.relative_path)
        return {
            "file": info.wire(),
            **self._facts(ids, info.relative_path),
            "metadata": self._records(owner),
        }

    @reports_errors
    def facts(self, database: Database, asset: AssetName, path: FilePath) -> str:
        """List what the inspection of a file found: format, triangles, size, materials, …"""
        return data_text(self._facts(self.ids(database, asset), path))

    @reports_errors
    def similar(
        self,
        database: Database,
        asset: AssetName,
        path: FilePath,
        size: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 10,
    ) -> str:
        """List files with a similar shape, in all assets."""
        reply = self.client.facts.similar(self.ids(database, asset), path, size=size)
        return data_text(reply.wire())

    @reports_errors
    def where_used(self, database: Database, asset: AssetName, path: OptionalPath = None) -> str:
        """List the assets that an asset is a part of, and the files that refer to a file."""
        ids = self.ids(database, asset)
        links = self.client.links.of(*ids)
        reply: dict[str, JsonValue] = {
            "partOf": _wires(links.parents),
            "related": _wires(links.related),
        }
        if path:
            users = islice(self.client.facts.dependents(ids, path), MOST_ITEMS + 1)
            reply["usedByFiles"] = first(_wires(users))
        return data_text(reply)

    @reports_errors
    def thumbnail(self, database: Database, asset: AssetName, path: OptionalPath = None) -> Image:
        """Return the picture of a file or an asset."""
        ids = self.ids(database, asset)
        (found,) = self.client.search.previews([(*ids, path)]) or (None,)
        if found is None:
            raise ToolError("there is no such file, or it may not be seen")
        if found.preview is None:
            missing = found.preview_missing
            fact = missing.message if missing else "none was made"
            # The reason may quote the file.
            raise ToolError(f"no thumbnail; the reason:\n{data_text(fact)}")
        content = self._picture(found.preview.small_url or found.preview.url)
        signatures = {b"\x89PNG": "png", b"\xff\xd8": "jpeg", b"RIFF": "webp"}
        kinds = [kind for start, kind in signatures.items() if content.startswith(start)]
        if not kinds:
            raise ToolError("the thumbnail is not a PNG, JPEG or WebP picture")
        return Image(data=content, format=kinds[0])

    @reports_errors
    def views(self, database: Database, asset: AssetName, path: FilePath) -> Image:
        """Return one picture with up to eight rendered views of a model, from all sides."""
        glb = self.client.facts.glb(self.ids(database, asset), path)
        if glb.turntable is None or glb.turntable.url is None:
            fact = glb.glb_missing.message if glb.glb_missing else "turntables are off"
            raise ToolError(f"no rendered views; try the tool thumbnail:\n{data_text(fact)}")
        return Image(data=views_sheet(self._picture(glb.turntable.url)), format="png")

    @reports_errors
    def versions(self, database: Database, asset: AssetName) -> str:
        """List the versions of an asset, newest first."""
        listed = self.client.versions.list(self.ids(database, asset))
        return data_text(first(_wires(islice(listed, MOST_ITEMS + 1))))

    @reports_errors
    def compare_versions(
        self,
        database: Database,
        asset: AssetName,
        before: Annotated[str, Field(description="Number of the earlier version.")],
        after: Annotated[str, Field(description="Number of the later version.")],
    ) -> str:
        """List what differs between two versions of an asset: files, metadata and geometry."""
        pages = self.client.versions.compare(self.ids(database, asset), before, after)
        page = next(iter(pages))
        return data_text({**page.wire(), "more": page.next_token is not None})

    @reports_errors
    def workflows(
        self,
        database: Database,
        asset: Annotated[str | None, Field(description="Lists its executions.")] = None,
    ) -> str:
        """List the workflows that a database can run, and the executions on an asset."""
        rows = [
            flow.wire()
            for owner in (database, "GLOBAL")
            for flow in islice(self.client.workflows.list(owner), MOST_ITEMS)
        ]
        reply: dict[str, JsonValue] = {"workflows": first(cast("list[JsonValue]", rows))}
        if asset:
            runs = self.client.executions.list(*self.ids(database, asset))
            reply["executions"] = first(_wires(islice(runs, MOST_ITEMS + 1)))
        return data_text(reply)

    @reports_errors
    def explain_permission(
        self,
        user: Annotated[str, Field(description="Id of the user.")],
        action: Literal["GET", "PUT", "POST", "DELETE"],
        database: Database,
        asset: Annotated[str, Field(description="Id or name of the asset.")],
    ) -> str:
        """Explain, for administrators, why a user may or may not do something with an asset."""
        database_id, asset_id = self.ids(database, asset)
        explained = self.client.explanations.explain(
            user, action, "asset", databaseId=database_id, assetId=asset_id
        )
        return data_text(explained.wire())

    def _facts(self, ids: AssetIds, path: str) -> dict[str, JsonValue]:
        owner = MetadataOwner(database_id=ids[0], asset_id=ids[1], file_path=path, kind="attribute")
        records = list_records(self.client, owner)
        facts: dict[str, JsonValue] = {
            key.removeprefix(FACT): value for key, value in records.items() if key.startswith(FACT)
        }
        others = {key: value for key, value in records.items() if not key.startswith(FACT)}
        return {"facts": facts, "attributes": others}

    def _records(self, owner: MetadataOwner) -> dict[str, JsonValue]:
        return list_records(self.client, owner)

    def _picture(self, url: str) -> bytes:
        content = bytearray()
        with self.client.storage.get(url) as response:
            for piece in response.iter_raw():
                content += piece
                if len(content) > _MOST_PICTURE_BYTES:
                    raise VitrineError("the picture has more than 4 MiB")
        return bytes(content)


def list_records(client: Vitrine, owner: MetadataOwner) -> dict[str, JsonValue]:
    """Return the metadata by key, without schema fields that have no value."""
    return {
        record.metadata_key: record.metadata_value
        for record in islice(client.metadata.list(owner), 500)
        if record.metadata_value
    }


def _wires(rows: Iterable[Wire]) -> list[JsonValue]:
    return [row.wire() for row in rows]


def hit_summary(hit: Hit) -> JsonValue:
    """Return what a person wants to know of a hit; `show` has the rest."""
    source = hit.source
    asset_id, key = hit.text("str_assetid"), hit.text("str_key")
    attributes = source.get("AB_")
    facts: dict[str, JsonValue] = {}
    if isinstance(attributes, dict):
        facts = {
            name.removeprefix(FACT): value
            for name, value in attributes.items()
            if name.startswith(FACT) and isinstance(value, str | int | float | bool)
        }
    row: dict[str, JsonValue] = {
        "kind": hit.text("_rectype") or ("file" if key else "asset"),
        "database": source.get("str_databaseid"),
        "asset": asset_id,
        "assetName": source.get("str_assetname"),
        "path": "/" + key.partition(f"{asset_id}/")[2] if key else None,
        "description": source.get("str_description"),
        "tags": source.get("list_tags"),
        "bytes": source.get("num_filesize"),
        "facts": {name: value for name, value in facts.items() if len(str(value)) < 100} or None,
        "hasThumbnail": "str_previewfilekey" in source if key else None,
    }
    return {name: value for name, value in row.items() if value not in (None, "", [])}


def views_sheet(content: bytes) -> bytes:
    """Return the frames of an animated PNG side by side: models see only a first frame."""
    try:
        with Picture.open(io.BytesIO(content), formats=("PNG",)) as animation:
            if max(animation.size) > 4 * _SIDE:
                raise ToolError("the rendered views are too large")
            frames: list[Picture.Image] = []
            for number in range(min(_MOST_VIEWS, getattr(animation, "n_frames", 1))):
                animation.seek(number)
                frames.append(animation.convert("RGB").resize((_SIDE, _SIDE)))
    except (OSError, SyntaxError, EOFError) as error:
        raise ToolError("the rendered views are damaged") from error
    sheet = Picture.new("RGB", (_SIDE * min(4, len(frames)), _SIDE * -(-len(frames) // 4)))
    for number, frame in enumerate(frames):
        sheet.paste(frame, (_SIDE * (number % 4), _SIDE * (number // 4)))
    written = io.BytesIO()
    sheet.save(written, "PNG")
    return written.getvalue()
