"""Writes `docs/reference/` from the declarations: `make docs`. Never edit those pages by hand.

A test compares the pages with what this makes, so a changed declaration needs a new run.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from re import sub

from backend.core.errors import VitrineError
from backend.entrypoints.openapi import openapi
from backend.http.errors import status_of
from backend.spec.buckets import AUDIT_ARCHIVE_BUCKET, BUCKETS
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.key_layouts import KEY_LAYOUTS, RESERVED_FOLDERS
from backend.spec.keys import COMMENT, COMPOSITES, SNAPSHOT
from backend.spec.queues import (
    OBJECT_SUBSCRIPTIONS,
    QUEUE_SUBSCRIPTIONS,
    QUEUES,
    SCAN_SUBSCRIPTIONS,
    STREAM_SUBSCRIPTIONS,
    UNCONSUMED_STREAMS,
)
from backend.spec.routes import ROUTES, Route
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES
from backend.spec.tables.assets import (
    ASSET_FILE_VERSIONS,
    ASSET_LINK_EDGES,
    ASSET_UPLOADS,
    ASSET_VERSIONS,
    UPLOADS_BY_DATABASE,
    UPLOADS_BY_USER,
)
from backend.spec.tables.model import KeyAttribute, Table
from backend.spec.tables.operations import AUDIT, RESERVATIONS
from docs.costs import Figures, costs, measured
from docs.tables import rows
from docs.tracking import tracking_page
from infra.settings import described

REFERENCE = Path(__file__).with_name("reference")
COSTS = "costs.md"
_NOTICE = "<!-- Made by `make docs` from the declarations; edits are lost. -->"


def pages() -> dict[str, str]:
    """The text of every page that needs no measuring, by file name."""
    made = {
        "data-model.md": ("Data model", _data_model()),
        "routes.md": ("Routes", _routes()),
        "errors.md": ("Errors", _errors()),
        "settings.md": ("Functions and settings", _settings()),
        "tracking-table.md": ("The tracking table", tracking_page()),
    }
    written = {name: _page(title, lines) for name, (title, lines) in made.items()}
    return {**written, "openapi.json": json.dumps(openapi(), indent=1) + "\n"}


def costs_page(figures: Mapping[str, Figures]) -> str:
    """The text of the page `COSTS`."""
    return _page("Costs", costs(figures))


def _page(title: str, lines: Iterable[str]) -> str:
    return "\n".join([_NOTICE, f"# {title}", "", *lines]) + "\n"


def main() -> None:
    """Write the pages; that of costs, which is measured for a minute, with `--costs` only."""
    REFERENCE.mkdir(exist_ok=True)
    written = pages()
    if "--costs" in sys.argv[1:]:
        written[COSTS] = costs_page(measured())
    for name, text in written.items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


def _data_model() -> Iterator[str]:
    yield "Names, keys and indexes are those of the VAMS data model, unless an origin is given."
    yield "The list below a table contains the access patterns by the table's own key."
    yield from ("", "## Tables", "")
    for table in TABLES:
        yield from _table_section(table)
    yield from ("## Building blocks", "")
    yield from rows(("building block", "where", "what for"), _building_blocks())
    yield from ("", "## Composite keys", "")
    yield "Ids contain no separator; other parts are percent-encoded (`%`, `:`), except the last."
    yield ""
    yield from rows(
        ("attribute", "separator", "encoded parts"),
        ((f"`{c.name}`", f"`{c.separator}`", _code(sorted(c.encoded))) for c in COMPOSITES),
    )
    yield from _buckets()
    yield from ("", "## Queues and streams", "")
    yield from rows(("queue", "what for"), ((q.name, q.description) for q in QUEUES))
    yield ""
    yield from rows(("source", "consumer"), _subscriptions())
    for index in SEARCH_INDEXES:
        yield from ("", f"## Search index `{index.alias}`", "")
        parts = ":".join(f"{{{part}}}" for part in index.document_id)
        yield f"{index.description} Id: `{parts}`. From {', '.join(t.name for t in index.sources)}."
        yield ""
        properties = index.mapping["properties"]
        yield from rows(
            ("field", "type"), ((f"`{name}`", field["type"]) for name, field in properties.items())
        )


def _buckets() -> Iterator[str]:
    yield from ("", "## Buckets", "")
    yield from rows(
        ("bucket", "versioned", "what for"),
        ((b.name, "yes" * b.versioned, b.description) for b in BUCKETS),
    )
    yield from ("", "## Keys in the buckets", "")
    yield "The base prefix `/` is the root of the bucket. Below a base prefix, these folders never"
    yield f"are an asset: {_code(sorted(RESERVED_FOLDERS))}."
    yield ""
    yield from rows(
        ("bucket", "key", "what it is", "origin"),
        ((k.bucket, f"`{k.pattern}`", k.description, k.origin) for k in KEY_LAYOUTS),
    )


def _building_blocks() -> Iterator[tuple[str, str, str]]:
    """The patterns of DynamoDB that the tables follow; what can be told from them is."""
    expiring = ", ".join(table.name for table in TABLES if table.ttl)
    tenants = ", ".join(c.name for c in COMPOSITES if c.name.startswith("databaseId"))
    yield (
        "expiry by TTL",
        expiring,
        "uploads, keys that expired a month ago, counters of rate, finished jobs, the audit trail",
    )
    yield "tenant keys", f"`{tenants}`", "keys begin with the database"
    yield from _OTHER_BLOCKS


_OTHER_BLOCKS = (
    (
        "archival of what expires",
        f"{AUDIT.name}, into {AUDIT_ARCHIVE_BUCKET.name}",
        "entries leave the table by TTL, and its stream takes them to S3",
    ),
    (
        "composite sort keys",
        ", ".join(f"`{key.name}`" for key in (SNAPSHOT, COMMENT)),
        "a prefix of the key reads one file's records, or one version's comments",
    ),
    (
        "counter in shards",
        f"{RESERVATIONS.name}: `AssetCount#<database>#<0 to 3>`",
        (
            "creations in one database are not bound to what one partition can write; all other "
            "counters are of one user, asset or prefix, or are written once a batch (SearchState)"
        ),
    ),
    (
        "reservation of what is unique",
        f"{RESERVATIONS.name}: asset ids, prefixes; {ASSET_VERSIONS.name}: aliases of versions",
        "indexes lag, so uniqueness is never checked with one",
    ),
    (
        "vertical partitioning",
        f"{ASSET_UPLOADS.name}, {ASSET_FILE_VERSIONS.name}",
        "an upload's files beyond 100 KB, a version's files: in rows of their own",
    ),
    (
        "sparse index",
        f"{ASSET_UPLOADS.name}: `{UPLOADS_BY_USER.name}`, `{UPLOADS_BY_DATABASE.name}`",
        "only the first row of an upload has their keys; nothing reads the second yet",
    ),
    (
        "adjacency list",
        ASSET_LINK_EDGES.name,
        "both ends of a link in one table, read consistently",
    ),
)


_UNUSED = "not used; part of the VAMS data model"


def _table_section(table: Table) -> Iterator[str]:
    origin = "" if table.origin == "data model" else f" ({table.origin})"
    yield f"### {table.name}{origin}"
    facts = [f"Key: {_key(table.partition_key, table.sort_key)}."]
    if table.stream:
        facts.append(f"Stream: {table.stream}.")
    if table.ttl:
        facts.append(f"Expires by `{table.ttl}`.")
    yield from ("", f"{table.description} {' '.join(facts)}", "")
    yield from (f"- {pattern}" for pattern in table.access_patterns or (_UNUSED,))
    yield ""
    if table.indexes:
        yield from rows(
            ("index", "key", "projection", "origin", "access pattern"),
            (
                (
                    f"`{index.name}`" + (" (local)" if index.is_local else ""),
                    _key(index.partition_key or table.partition_key, index.sort_key),
                    index.projection,
                    index.origin,
                    "; ".join(index.access_patterns) or "not read",
                )
                for index in table.indexes
            ),
        )
        yield ""


def _subscriptions() -> Iterator[tuple[str, str]]:
    yield from ((f"stream of {s.source.name}", s.consumer) for s in STREAM_SUBSCRIPTIONS)
    yield from ((f"queue {s.source.name}", s.consumer) for s in QUEUE_SUBSCRIPTIONS)
    yield from ((f"events of {s.source.name}", s.queue.name) for s in OBJECT_SUBSCRIPTIONS)
    yield from ((f"malware scans of {s.source.name}", s.queue.name) for s in SCAN_SUBSCRIPTIONS)
    yield from ((f"stream of {name}", f"nobody: {why}") for name, why in UNCONSUMED_STREAMS.items())


def _routes() -> Iterator[str]:
    yield "Except for routes that are public or open to every user, the caller's constraints must"
    yield "first allow the route itself (object type `api`). Permission is what is needed besides:"
    yield "the entity type and the action; `route only` means that nothing else is needed."
    for domain in sorted({route.domain for route in ROUTES}):
        yield from ("", f"## {domain}", "")
        yield from rows(
            ("route", "what it does", "permission", ""),
            (
                (
                    f"`{route.key}`",
                    route.summary,
                    _permission(route),
                    _remark(route),
                )
                for route in ROUTES
                if route.domain == domain
            ),
        )


def _remark(route: Route) -> str:
    if route.public or route.open_to_users:
        return "public" if route.public else "open to every user"
    return "addition to VAMS" * route.ours


def _permission(route: Route) -> str:
    if route.public or route.open_to_users:
        return "none"
    return "route only" if route.object_type == "none" else f"{route.object_type} {route.action}"


def _errors() -> Iterator[str]:
    yield "An error reply has `message`, `code` and `requestId`; a 400 about single fields also has"
    yield "`errors`, one entry for each field. Codes are stable; messages may change."
    yield ""
    for name in ("backend.core", "backend.domains", "backend.search", "backend.operations"):
        for module in walk_packages(import_module(name).__path__, f"{name}."):
            import_module(module.name)
    declared = [kind for kind in _kinds(VitrineError) if "code" in vars(kind)]
    found = {(_status(kind), kind.code, _first_line(kind)) for kind in declared}
    listed = sorted(
        found
        | {
            (
                500,
                "InternalError",
                "Unexpected error; the logs contain details under the `requestId`.",
            )
        }
    )
    yield from rows(
        ("status", "code", "meaning"), ((str(s), f"`{c}`", text) for s, c, text in listed)
    )


def _kinds(base: type[VitrineError]) -> Iterator[type[VitrineError]]:
    """All kinds below `base` that the product defines and that reach a caller."""
    for kind in base.__subclasses__():
        if kind.__module__.startswith("backend.") and not kind.__name__.startswith("_"):
            yield kind
            yield from _kinds(kind)


def _status(kind: type[VitrineError]) -> int:
    return status_of(kind.__new__(kind))  # just its class decides


def _first_line(kind: type[VitrineError]) -> str:
    meaning = (kind.__doc__ or "").strip() or _meaning_of(kind.code)
    return meaning.splitlines()[0].replace("|", "\\|")


_MEANINGS = {
    "NotFound": "The {} does not exist, or is not visible to the caller.",
    "Exists": "The {} already exists.",
    "RevisionConflict": "The {} was changed after the caller read it; read it again.",
}


_NAMED = {"api key": "API key", "cognito user": "Cognito user", "user roles": "user's set of roles"}


def _meaning_of(code: str) -> str:
    """The sentence for a code of one of the common kinds, such as `TagExists`."""
    for ending, sentence in _MEANINGS.items():
        if code.endswith(ending):
            words = sub(r"(?<=[a-z])(?=[A-Z])", " ", code.removesuffix(ending)).lower()
            return sentence.format(_NAMED.get(words, words))
    raise ValueError(f"{code} needs a docstring that says what it means")


def _settings() -> Iterator[str]:
    yield "## Settings of a stage"
    yield ""
    yield (
        "`cdk.json` contains them by stage; `-c name=value` overrides one for a run. There, lists "
        "are comma-separated or JSON, and objects are JSON. Unknown settings, and settings without "
        "effect because another one is off, are refused."
    )
    yield ""
    yield from rows(
        ("setting", "default", "meaning"),
        ((f"`{name}`", f"`{json.dumps(value)}`", text) for name, value, text in described()),
    )
    yield from ("", "## Environment variables of functions", "")
    yield "1 means `true` and 0 means `false`; lists are comma-separated."
    yield ""
    yield from rows(
        ("setting", "default", "meaning"),
        ((f"`{s.variable}`", f"`{s.default!r}`", s.description) for s in SETTINGS),
    )
    yield ""
    yield from rows(("secret", "what for"), ((s.name, s.description) for s in SECRETS))
    for function in FUNCTIONS:
        size = f"{function.memory_mb} MB, {function.timeout_seconds} s"
        yield from ("", f"## Function {function.name}", "")
        yield f"{function.description} `{function.handler}`, {size}; search: {function.search}."
        yield ""
        yield from _uses(function)


def _uses(function: Function) -> Iterator[str]:
    uses = {
        "reads": function.reads,
        "writes": function.writes,
        "sends to": function.sends,
        "knows": function.secrets,
    }
    for verb, things in uses.items():
        if things:
            yield f"- {verb} {', '.join(thing.name for thing in things)}"


def _key(partition: KeyAttribute, sort: KeyAttribute | None) -> str:
    keys = (partition, sort)
    return ", ".join(f"`{key.name}` ({key.type})" for key in keys if key is not None)


def _code(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


if __name__ == "__main__":
    main()
