"""The demo: import a folder, wait for the indexes, find every file by search.

Searches are made for each asset (and by extension for a large asset), because one search returns at
most ten thousand hits. Facts, thumbnails and GLBs are counted if uploads are processed.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vitrine.client import Vitrine
from vitrine.errors import NotFoundError
from vitrine.metadata_filters import FACT
from vitrine.resources.search import DEEPEST_HIT, SearchQuery, facets
from vitrine.resources.streams import Source
from vitrine.search_models import EntityType, Facet, Hit
from vitrine.transfer.importing import import_directory
from vitrine.transfer.report import AssetOutcome, FileOutcome, ImportReport, Observer, Status

# Parallel requests for the facts of files, each of which waits for the server.
_READERS = 8


@dataclass(frozen=True, kw_only=True)
class Processed:
    """The results of processing an asset's files.

    `refused` are paths with the reasons of readers, `not_inspected` those with the reasons why no
    reader was used; `unexplained` counts files with neither facts nor a reason.
    """

    facts: int
    thumbnails: int
    glbs: int
    refused: Sequence[tuple[str, str]]
    not_inspected: Sequence[tuple[str, str]]
    unexplained: int


@dataclass(frozen=True, kw_only=True)
class AssetFound:
    """The number of an asset's imported files that a search finds."""

    asset: AssetOutcome
    files: Sequence[FileOutcome]
    missing: Sequence[str]
    twice: Sequence[str]
    processed: Processed


@dataclass(frozen=True, kw_only=True)
class Demo:
    report: ImportReport
    assets: Sequence[AssetFound]
    facets: Mapping[str, Sequence[Facet]]
    seconds: float

    @property
    def problems(self) -> list[str]:
        """Return each file that search does not find, or finds twice."""
        lines: list[str] = []
        for result in self.assets:
            lines += [f"not found: {result.asset.asset_name}{key}" for key in result.missing]
            lines += [f"found twice: {result.asset.asset_name}{key}" for key in result.twice]
        return lines

    @property
    def refused(self) -> list[tuple[str, str]]:
        """Return files that no reader could read, with the reasons."""
        return [pair for result in self.assets for pair in result.processed.refused]

    @property
    def not_inspected(self) -> Counter[str]:
        """Return how many files were not inspected, by reason."""
        return Counter(
            reason for result in self.assets for _, reason in result.processed.not_inspected
        )

    @property
    def failed(self) -> bool:
        return self.report.failed or bool(self.problems)

    def figures(self) -> dict[str, int | float]:
        stored = self.report.of(Status.UPLOADED, Status.SKIPPED)
        missing = sum(len(result.missing) for result in self.assets)
        return {
            "assets": len(self.report.assets),
            "files": len(stored),
            "bytes": sum(outcome.size for outcome in stored),
            "searchable": len(stored) - missing,
            "seconds": round(self.seconds, 2),
            "files_per_second": round(len(stored) / self.seconds, 1) if self.seconds else 0.0,
            "facts": sum(result.processed.facts for result in self.assets),
            "thumbnails": sum(result.processed.thumbnails for result in self.assets),
            "glbs": sum(result.processed.glbs for result in self.assets),
            "refused": len(self.refused) + self.not_inspected.total(),
            "unexplained": sum(result.processed.unexplained for result in self.assets),
        }


def run(
    client: Vitrine,
    folder: Path,
    *,
    database_id: str | None,
    jobs: int,
    observer: Observer,
    drain: Callable[[], float],
    clock: Callable[[], float] = time.monotonic,
) -> Demo:
    """Import, wait and search for every stored file.

    `seconds` is the time from the first request until everything could be searched. A runtime that
    processes uploads is drained once all executions have ended.
    """
    started = clock()
    report = import_directory(client, folder, database_id=database_id, jobs=jobs, observer=observer)
    drain()
    seconds = clock() - started
    counted = client.search.full(
        SearchQuery(database_id=report.database_id, entity_types=[EntityType.FILE]), size=1
    )
    results = [_find(client, report, asset) for asset in report.assets]
    return Demo(report=report, assets=results, facets=facets(counted), seconds=seconds)


def _find(client: Vitrine, report: ImportReport, asset: AssetOutcome) -> AssetFound:
    files = [
        outcome
        for outcome in report.of(Status.UPLOADED, Status.SKIPPED)
        if outcome.asset_id == asset.asset_id and outcome.key is not None
    ]
    location = (asset.location or asset.asset_id).rstrip("/")
    documents = [
        hit
        for query in _queries(report.database_id, asset, files)
        for hit in client.search.hits(query)
    ]
    hits = Counter(hit.text("str_key") for hit in documents)
    wanted = {f"{location}{file.key}": str(file.key) for file in files}
    return AssetFound(
        asset=asset,
        files=files,
        missing=[key for full, key in wanted.items() if full not in hits],
        twice=[key for full, key in wanted.items() if hits[full] > 1],
        processed=_processing_results(client, report.database_id, asset, documents),
    )


def _processing_results(
    client: Vitrine, database_id: str, asset: AssetOutcome, documents: Sequence[Hit]
) -> Processed:
    """Count facts and thumbnails; look for each model's GLB, and for the reason of other files."""
    refusals = [(hit.text("str_key"), _fact(hit, "refused")) for hit in documents]
    refused = [(key, reason) for key, reason in refusals if reason]
    facts = [hit for hit in documents if _fact(hit, "format") and not _fact(hit, "refused")]
    models = [hit for hit in facts if _fact(hit, "vertices")]
    others = [hit for hit in documents if not _fact(hit, "format") and not _fact(hit, "refused")]
    location = (asset.location or asset.asset_id).rstrip("/")

    def reason_of(hit: Hit) -> tuple[str, str | None]:
        key = hit.text("str_key")
        path = key.removeprefix(location)
        return key, client.files.info(database_id, asset.asset_id, path).not_inspected

    def has_glb(hit: Hit) -> bool:
        path = hit.text("str_key").removeprefix(f"{location}/")
        glb = f"glb/{path}/{hit.text('str_s3_version_id')}.glb"
        source = Source(database_id=database_id, asset_id=asset.asset_id, path=glb, family="viewer")
        try:
            # HEAD, because it transfers no bytes of the GLB.
            client.streams.head(source)
        except NotFoundError:
            return False
        return True

    with ThreadPoolExecutor(_READERS) as pool:
        glbs = sum(pool.map(has_glb, models))
        reasons = list(pool.map(reason_of, others))
    not_inspected = [(key, reason) for key, reason in reasons if reason is not None]
    return Processed(
        facts=len(facts),
        thumbnails=sum(bool(hit.text("str_previewfilekey")) for hit in documents),
        glbs=glbs,
        refused=refused,
        not_inspected=not_inspected,
        unexplained=len(others) - len(not_inspected),
    )


def _fact(hit: Hit, name: str) -> str:
    attributes = hit.source.get("AB_")
    value = attributes.get(FACT + name) if isinstance(attributes, dict) else None
    return "" if value is None else str(value)


def _queries(
    database_id: str, asset: AssetOutcome, files: Sequence[FileOutcome]
) -> list[SearchQuery]:
    """Return searches that together find all of the asset's files."""
    extensions: set[str | None] = {None}
    if len(files) > DEEPEST_HIT:
        extensions = {PurePosixPath(str(file.key)).suffix.lstrip(".").lower() for file in files}
    return [
        SearchQuery(
            database_id=database_id,
            asset_id=asset.asset_id,
            entity_types=[EntityType.FILE],
            file_extension=extension,
        )
        for extension in sorted(extensions, key=str)
    ]


def table_rows(demo: Demo) -> list[list[str]]:
    """Return one row per asset: name, files, bytes, files found, and processing results."""
    return [
        [
            row.asset.asset_name,
            str(len(row.files)),
            f"{sum(file.size for file in row.files):,} B",
            str(len(row.files) - len(row.missing)),
            str(row.processed.facts),
            str(row.processed.thumbnails),
            str(row.processed.glbs),
            str(len(row.processed.refused) + len(row.processed.not_inspected)),
            str(row.processed.unexplained),
        ]
        for row in demo.assets
    ]


def json_line(demo: Demo) -> str:
    """Return the figures on one line."""
    return json.dumps(demo.figures())
