"""Commands that search: search, suggest."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.output import size_text
from vitrine.cli.session import Session, command
from vitrine.metadata_filters import (
    GeoRelation,
    parse_choices,
    parse_facet,
    parse_filter,
    parse_geo,
    parse_order,
    parse_where,
)
from vitrine.resources.search import DEEPEST_HIT, LARGEST_PAGE, SearchQuery, facets
from vitrine.search_models import (
    EntityType,
    Facet,
    Histogram,
    HistogramBucket,
    HistogramField,
    Hit,
    Hits,
    MetadataFacetCounts,
    SearchResult,
    Total,
)

# The API's limit with `foldFiles`.
LARGEST_FOLDED_PAGE = 100
_SIGNS = {"from": "from", "to": "below"}

MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "Metadata condition: 'height>=3', 'made<2024-01-01', maker=Acme, maker (any "
            "value), !maker (no value). May be repeated; all conditions must match."
        )
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "Condition on facts of files: 'triangles > 10000', format=OBJ. May be repeated; "
            "all conditions must match."
        )
    ),
]
FacetOption = Annotated[
    list[str] | None,
    typer.Option(help="Count hits by a fact: format, or 'texturesMissing >= 1'. May be repeated."),
]
ChooseOption = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "Only hits with this facet value; the facet still counts its other values: "
            "ext=glb, tag=red, type=folder, database=museum, format=OBJ. May be repeated."
        )
    ),
]
FoldOption = Annotated[
    bool, typer.Option("--fold", help="Show assets, each with its three best files.")
]
SortOption = Annotated[
    list[str] | None,
    typer.Option(help="Order by a fact: triangles, or -triangles for the largest first."),
]


GeoPointOption = Annotated[
    str | None,
    typer.Option(metavar="LAT,LON[,METERS]", help="Only with a place here, or within this radius."),
]
GeoBoxOption = Annotated[
    str | None,
    typer.Option(metavar="TOP,LEFT,BOTTOM,RIGHT", help="Only with a place in this box."),
]
GeoJsonOption = Annotated[
    typer.FileBinaryRead | None,
    typer.Option(metavar="FILE", help="Only with a place in the shape in this file of GeoJSON."),
]
GeoRelationOption = Annotated[
    GeoRelation | None,
    typer.Option(help="How places relate to the shape, instead of intersecting it."),
]


class HistogramName(StrEnum):
    SIZE = "size"
    MODIFIED = "modified"
    VERSIONED = "versioned"


HistogramOption = Annotated[
    list[HistogramName] | None,
    typer.Option(
        help="Count hits by file size, by date of the file, or by date of the asset version."
    ),
]


@command("search")
def search(  # noqa: PLR0913, PLR0917 - a parameter for each option; Typer calls it by name
    session: Session,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or '' for everything.")],
    database: Annotated[str | None, typer.Option(help="Only in this database.")] = None,
    entity: Annotated[EntityType | None, typer.Option("--type", help="Type of hits.")] = None,
    ext: Annotated[str | None, typer.Option(help="Only files with this extension.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with one of these tags.")] = None,
    metadata_key: Annotated[str | None, typer.Option(help="Only with this metadata key.")] = None,
    metadata_value: Annotated[str | None, typer.Option(help="Only with this value.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Include archived hits.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=DEEPEST_HIT, help="Maximum hits.")] = 20,
    with_facets: Annotated[bool, typer.Option("--facets", help="Count by type, tag, …")] = False,
    metadata: MetadataOption = None,
    where: WhereOption = None,
    geo_point: GeoPointOption = None,
    geo_bbox: GeoBoxOption = None,
    geo_geojson: GeoJsonOption = None,
    geo_relation: GeoRelationOption = None,
    facet: FacetOption = None,
    choose: ChooseOption = None,
    histogram: HistogramOption = None,
    fold: FoldOption = False,
    sort: SortOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Show all hits.")] = False,
) -> None:
    """Search assets and files.

    Options that take a fact also take metadata.KEY.
    """
    if everything and (with_facets or facet or histogram or fold):
        raise typer.BadParameter("--all excludes --facets, --facet, --histogram and --fold")
    wanted = SearchQuery(
        query=query or None,
        entity_types=[entity] if entity else [],
        database_id=database,
        file_extension=ext.lstrip(".").lower() if ext else None,
        tags=tag or [],
        metadata_key=metadata_key,
        metadata_value=metadata_value,
        fold_files=fold,
        include_archived=archived,
        did_you_mean=True,
        metadata=[*map(parse_filter, metadata or ()), *map(parse_where, where or ())],
        geo=parse_geo(
            geo_point, geo_bbox, None if geo_geojson is None else geo_geojson.read(), geo_relation
        ),
        sort=[*map(parse_order, sort or ())],
        facets=[*map(parse_facet, facet or ())],
        choices=parse_choices(choose or ()),
        histograms=[HistogramField[name.name] for name in histogram or ()],
    )
    if everything:
        hits = list(session.client.search.everything(wanted))
        total = Total(value=len(hits))
        return _print_hits(session, SearchResult(hits=Hits(total=total)), hits)
    verb = session.client.search.full if with_facets else session.client.search.simple
    most = LARGEST_FOLDED_PAGE if wanted.fold_files else LARGEST_PAGE
    pages = list(_pages(lambda start, size: verb(wanted, start=start, size=size), limit, most))
    hits = [hit for page in pages for hit in page.hits.hits]
    return _print_hits(session, pages[0], hits)


@command("suggest")
def suggest(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text typed so far.")],
    size: Annotated[int, typer.Option(min=1, max=20, help="Maximum number of suggestions.")] = 10,
) -> None:
    """Suggest names, tags and metadata that begin with a text."""
    suggestions = session.client.search.suggest(text, size=size)
    session.output.document([suggestion.wire() for suggestion in suggestions])
    rows: list[list[object]] = [
        [suggestion.text, suggestion.kind, suggestion.documents] for suggestion in suggestions
    ]
    session.output.rows(["text", "kind", "documents"], rows)


def _pages(
    fetch: Callable[[int, int], SearchResult], limit: int, most: int
) -> Iterator[SearchResult]:
    """Return at least one page, and as many as the limit requires."""
    start, left = 0, limit
    while True:
        size = min(most, left, DEEPEST_HIT - start)
        page = fetch(start, size)
        yield page
        start, left = start + size, left - len(page.hits.hits)
        # A page of folded assets leaves out those that were hidden or removed meanwhile, so a short
        # page is the last one only if no asset follows.
        is_last = len(page.hits.hits) < size and start >= (page.assets_found or 0)
        if is_last or left <= 0 or start >= DEEPEST_HIT:
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
            name: [{"key": row.key, "count": _number_of(row)} for row in rows]
            for name, rows in counted.items()
        }
    if first.metadata_facets is not None:
        document["metadataFacets"] = [counts.wire() for counts in first.metadata_facets]
    if first.histograms is not None:
        document["histograms"] = [histogram.wire() for histogram in first.histograms]
    document |= {
        name: value
        for name, value in (
            ("assetsFound", first.assets_found),
            ("withAllWords", first.with_all_words),
            ("didYouMean", first.did_you_mean),
            ("reindexDue", first.reindex_due),
        )
        if value is not None
    }
    session.output.document(document)
    shown = [row for hit in hits for row in (hit, *hit.files)]
    session.output.rows(["type", "database", "asset", "file", "size"], [*map(_hit_row, shown)])
    if not session.output.as_json:
        _print_counts(session, first, len(hits))


def _number_of(row: Facet | HistogramBucket) -> int:
    """Return the number of hits: with folded files these are assets."""
    if row.assets is not None:
        return row.assets
    return row.doc_count if isinstance(row, Facet) else row.documents


def _print_counts(session: Session, first: SearchResult, shown: int) -> None:
    say = session.output.say
    for name, rows in facets(first).items():
        say(f"{name}: {', '.join(f'{row.key} {_number_of(row)}' for row in rows)}")
    for counts in first.metadata_facets or ():
        say(f"{counts.key}: {_facet_text(counts)}")
    for histogram in first.histograms or ():
        say(f"{histogram.field}: {_histogram_text(histogram)}")
    if first.with_all_words is not None:
        say(f"{first.with_all_words} hits have all words")
    if first.did_you_mean:
        say(f"Did you mean: {first.did_you_mean}")
    if first.reindex_due:
        say(first.reindex_due)
    total = first.hits.total
    about = "at least " if total.relation != "eq" else ""
    if first.assets_found is not None:
        say(f"{shown} of {first.assets_found} assets, {about}{total.value} hits")
    else:
        say(f"{shown} of {about}{total.value}")


def _histogram_text(histogram: Histogram) -> str:
    kept: list[str] = []
    for bucket in histogram.buckets:
        place = str(bucket.start)
        if histogram.interval is None:
            ends = (("from", bucket.start), ("below", bucket.end))
            place = " ".join(f"{word} {end}" for word, end in ends if end is not None)
        if bucket.documents:
            kept.append(f"{place}: {_number_of(bucket)}")
    every = f" (each {histogram.interval})" if histogram.interval else ""
    return (", ".join(kept) or "none") + every


def _facet_text(counted: MetadataFacetCounts) -> str:
    shown = [f"{row.key} {_number_of(row)}" for row in counted.buckets if not counted.ranges]
    for interval in counted.ranges:
        bounds = [f"{sign} {interval[name]}" for name, sign in _SIGNS.items() if name in interval]
        shown.append(f"{' and '.join(bounds)}: {interval.get('assets', interval['doc_count'])}")
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
