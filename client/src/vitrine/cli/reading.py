"""Commands that only read: version, ls, get, search, metadata get."""

from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.output import size_text
from vitrine.cli.session import Session, with_session
from vitrine.lookup import find_asset
from vitrine.metadata_filters import parse_facet, parse_filter, parse_order, parse_where
from vitrine.resources.search import DEEPEST_HIT, LARGEST_PAGE, SearchQuery, facets
from vitrine.search_models import (
    EntityType,
    Hit,
    Hits,
    MetadataFacetCounts,
    SearchResult,
    Total,
)

_SIGNS = {"from": "from", "to": "below"}

DatabaseArgument = Annotated[str, typer.Argument(metavar="DATABASE")]
ProcessingOption = Annotated[
    bool | None,
    typer.Option("--processing/--no-processing", help="Whether uploads are inspected."),
]
AssetArgument = Annotated[str, typer.Argument(metavar="ASSET", help="An asset's id or name.")]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(help="key>=3, made<2024-01-01, key=text, key (is there), !key; all hold."),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(help="A fact of files: 'triangles > 10000', format=OBJ; all hold."),
]
FacetOption = Annotated[
    list[str] | None, typer.Option(help="Count by a fact: format, or 'texturesMissing >= 1'.")
]
SortOption = Annotated[
    list[str] | None,
    typer.Option(help="By a fact: triangles, or -triangles for the largest first."),
]


@with_session
def version(session: Session) -> None:
    """Print the server's version."""
    answer = session.client.version.get()
    session.output.document(answer.wire())
    session.output.rows(
        ["contract", "product"], [[answer.version, answer.product_version or "unknown"]]
    )


@with_session
def ls(
    session: Session,
    database: Annotated[str | None, typer.Argument(metavar="DATABASE")] = None,
    asset: Annotated[str | None, typer.Argument(metavar="ASSET")] = None,
) -> None:
    """List databases, the assets of a database, or the files of an asset."""
    if database is None:
        _list_databases(session)
    elif asset is None:
        _list_assets(session, database)
    else:
        _list_files(session, database, asset)


def _list_databases(session: Session) -> None:
    found = list(session.client.databases.list())
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["database", "assets", "description"],
        [[one.database_id, one.asset_count, one.description] for one in found],
    )


def _list_assets(session: Session, database: str) -> None:
    session.client.databases.get(database)
    found = list(session.client.assets.list(database))
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["asset", "name", "type", "tags"],
        [[one.asset_id, one.asset_name, one.asset_type, " ".join(one.tags or ())] for one in found],
    )


def _list_files(session: Session, database: str, asset: str) -> None:
    asset_id = find_asset(session.client, database, asset).asset_id
    found = list(session.client.files.list(database, asset_id, basic=True, page_size=1_500))
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["path", "size", "changed"],
        [
            [one.relative_path, size_text(one.size), one.date_created_current_version]
            for one in found
        ],
    )


@with_session
def get(session: Session, database: DatabaseArgument, asset: AssetArgument) -> None:
    """Show one asset."""
    found = find_asset(session.client, database, asset).wire()
    session.output.document(found)
    session.output.rows(["field", "value"], [[name, value] for name, value in found.items()])


@with_session
def search(  # noqa: PLR0913, PLR0917 - a parameter for each option; Typer calls it by name
    session: Session,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Text; * and ? are wildcards.")],
    database: Annotated[str | None, typer.Option(help="Only in this database.")] = None,
    entity: Annotated[EntityType | None, typer.Option("--type", help="asset or file.")] = None,
    ext: Annotated[str | None, typer.Option(help="Only files with this extension.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="With any of these tags.")] = None,
    metadata_key: Annotated[str | None, typer.Option(help="With this metadata key.")] = None,
    metadata_value: Annotated[str | None, typer.Option(help="With this metadata value.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=DEEPEST_HIT, help="At most so many.")] = 20,
    with_facets: Annotated[bool, typer.Option("--facets", help="Count by type, tag, …")] = False,
    metadata: MetadataOption = None,
    where: WhereOption = None,
    facet: FacetOption = None,
    sort: SortOption = None,
    everything: Annotated[bool, typer.Option("--all", help="All hits, not just --limit.")] = False,
) -> None:
    """Search assets and files; metadata.width names a key of metadata instead of a fact."""
    if everything and (with_facets or facet):
        raise typer.BadParameter("--all and facets are not for the same search")
    wanted = SearchQuery(
        query=query or None,
        entity_types=[entity] if entity else [],
        database_id=database,
        file_extension=ext.lstrip(".").lower() if ext else None,
        tags=tag or [],
        metadata_key=metadata_key,
        metadata_value=metadata_value,
        metadata=[*map(parse_filter, metadata or ()), *map(parse_where, where or ())],
        facets=[*map(parse_facet, facet or ())],
        sort=[*map(parse_order, sort or ())],
        include_archived=archived,
    )
    if everything:
        _print_everything(session, wanted)
    else:
        _print_some(session, wanted, limit, with_facets=with_facets)


def _print_some(session: Session, wanted: SearchQuery, limit: int, *, with_facets: bool) -> None:
    verb = session.client.search.full if with_facets else session.client.search.simple
    pages = list(_pages(lambda start, size: verb(wanted, start=start, size=size), limit))
    hits = [hit for page in pages for hit in page.hits.hits]
    _print_hits(session, pages[0], hits)


@with_session
def suggest(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was typed so far.")],
    size: Annotated[int, typer.Option(min=1, max=20, help="At most so many.")] = 10,
) -> None:
    """Suggest names, tags, metadata keys and values that begin as a text does."""
    found = session.client.search.suggest(text, size=size)
    session.output.document([one.wire() for one in found])
    rows: list[list[object]] = [[one.text, one.kind, one.documents] for one in found]
    session.output.rows(["text", "kind", "documents"], rows)


def _print_everything(session: Session, wanted: SearchQuery) -> None:
    found = list(session.client.search.everything(wanted))
    total = Total(value=len(found))
    _print_hits(session, SearchResult(hits=Hits(total=total)), found)


def _pages(ask: Callable[[int, int], SearchResult], limit: int) -> Iterator[SearchResult]:
    """At least one page, and as many as the limit needs."""
    start = 0
    while True:
        size = min(LARGEST_PAGE, limit - start)
        page = ask(start, size)
        yield page
        start += len(page.hits.hits)
        if start >= limit or len(page.hits.hits) < size:
            return


def _print_hits(session: Session, first: SearchResult, hits: list[Hit]) -> None:
    counted = facets(first)
    total = first.hits.total
    document: dict[str, JsonValue] = {
        "total": total.value,
        "relation": total.relation,
        "hits": [hit.wire() for hit in hits],
    }
    if first.aggregations is not None:
        document["facets"] = {
            name: [{"key": row.key, "count": row.doc_count} for row in rows]
            for name, rows in counted.items()
        }
    if first.metadata_facets is not None:
        document["metadataFacets"] = [one.wire() for one in first.metadata_facets]
    session.output.document(document)
    session.output.rows(
        ["type", "database", "asset", "file", "size"], [_hit_row(hit) for hit in hits]
    )
    if session.output.as_json:
        return
    for name, rows in counted.items():
        shown = ", ".join(f"{row.key} {row.doc_count}" for row in rows)
        session.output.say(f"{name}: {shown}")
    for one in first.metadata_facets or ():
        session.output.say(f"{one.key}: {_facet_text(one)}")
    if first.did_you_mean:
        session.output.say(f"Did you mean: {first.did_you_mean}")
    about = "at least " if total.relation != "eq" else ""
    session.output.say(f"{len(hits)} of {about}{total.value}")


def _facet_text(counted: MetadataFacetCounts) -> str:
    shown = [f"{row.key} {row.doc_count}" for row in counted.buckets if not counted.ranges]
    for one in counted.ranges:
        bounds = [f"{sign} {one[name]}" for name, sign in _SIGNS.items() if name in one]
        shown.append(f"{' and '.join(bounds)}: {one['doc_count']}")
    return ", ".join(shown) or "none"


def _hit_row(hit: Hit) -> list[str]:
    key, asset_id = hit.text("str_key"), hit.text("str_assetid")
    inside = key.partition(f"{asset_id}/")[2] or key
    size = hit.source.get("num_filesize")
    return [
        hit.text("_rectype") or hit.index_type or ("file" if key else "asset"),
        hit.text("str_databaseid"),
        hit.text("str_assetname") or asset_id,
        inside,
        size_text(size) if isinstance(size, int) else "",
    ]
