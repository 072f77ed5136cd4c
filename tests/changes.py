"""Selects the parts and files that continuous integration runs for a change.

A part whose inputs differ from those with which it last passed is due. Continuous integration runs
of the due short parts what `AREAS` says for the changed files; the others are reported.
"""

from collections.abc import Iterable, Mapping

from tests.parts import ALWAYS, LONG, SHORT, Part, inputs
from tests.proofs import Proof, changed_files, file_blobs, inputs_digest, is_under

_ALL = tuple(SHORT)


def _journeys(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/journeys/test_{name}.py" for name in names)


def _attacks(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/journeys/attacks/test_{name}.py" for name in names)


_EXECUTIONS = ("contract", *_journeys("executions"))
_FILES = ("contract", "tests/integration/files", *_journeys("file_changes", "uploads"))
_SLICES: Mapping[str, tuple[str, ...]] = {
    "access": ("contract", "tests/integration/databases", *_journeys("permissions")),
    "asset_lifecycle": ("contract", "tests/integration/files", *_journeys("lifecycle")),
    "asset_links": ("contract", *_journeys("links")),
    "asset_versions": ("contract", *_journeys("versions")),
    "assets": ("contract", *_journeys("lifecycle", "administration"), *_attacks("reading")),
    "audit": (
        *("contract", "tests/integration/audit"),
        *(*_journeys("administration"), *_attacks("reading")),
    ),
    "bucket_sync": ("contract", *_journeys("bucket_sync")),
    "buckets": ("contract", *_journeys("bucket_sync")),
    "comments": ("contract", *_journeys("links")),
    "configuration": ("contract", *_journeys("administration")),
    "database_purges": ("contract", *_journeys("database_purges")),
    "databases": ("contract", "tests/integration/databases", *_journeys("database_purges")),
    "downloads": _FILES,
    "executions": _EXECUTIONS,
    "exports": ("contract", *_attacks("reading")),
    "facts": ("contract", *_journeys("facts", "jobs")),
    "files": _FILES,
    "identity": ("contract", "tests/journeys/alone", *_attacks("users")),
    "ingest": ("contract", *_journeys("jobs")),
    "jobs": ("contract", "tests/integration/jobs", *_journeys("jobs")),
    "metadata": ("contract", *_journeys("metadata")),
    "metadata_schemas": ("contract", *_journeys("metadata")),
    "outgoing_events": ("contract", "tests/kills"),
    "outputs": _EXECUTIONS,
    "pipelines": _EXECUTIONS,
    "quarantine": ("contract", *_attacks("quarantine")),
    "subscriptions": ("contract", *_journeys("administration"), *_attacks("users")),
    "tags": ("contract", *_attacks("names")),
    "uploads": _FILES,
    "workflows": _EXECUTIONS,
}
_SEARCHING = _journeys("search")
AREAS: Mapping[str, tuple[str, ...]] = {
    # What most of the product stands on: everything short.
    **dict.fromkeys(("app.py", "web_page.py", "cdk.json", "backend", "infra", "local"), _ALL),
    **dict.fromkeys(("Makefile", "pyproject.toml", "requirements.txt"), _ALL),
    **{f"backend/domains/{name}": runs for name, runs in _SLICES.items()},
    "backend/operations": ("contract", *_journeys("administration", "poison")),
    "backend/processing": ("contract", "processing", *_journeys("facts", "previews")),
    "backend/search": (
        *("contract", "tests/integration/search", "tests/integration/indexing"),
        *(*_SEARCHING, "tests/journeys/test_permissions.py"),
    ),
    "benchmarks": ("costs",),
    "client": ("docs", *_journeys("uploads", "stock_clients")),
    "docs": ("docs",),
    "samples": ("docs", "processing"),
    "tracking": ("tracking",),
    "web": (),  # `make test` has its components, and the part `page` its smoke walk
    **{f"{page}.md": ("docs",) for page in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")},
    # Tests that changed run themselves; what they share runs the parts that are near it.
    "tests": (),
    "tests/journeys/runtime.py": ("journeys",),
    "tests/engines.py": ("integration",),
}
"""Parts and files of tests that run when a file changes, by its longest prefix."""


def due_parts(record: Mapping[str, Proof]) -> list[str]:
    """Return the parts whose inputs differ from those with which they last passed."""
    blobs = file_blobs()
    return [
        name
        for name in (*SHORT, *LONG)
        if name not in record or record[name].digest != inputs_digest(inputs(name), blobs)
    ]


def parts_to_run(record: Mapping[str, Proof]) -> dict[str, Part]:
    """Return the short parts that run now, reduced to what the changed files are about."""
    parts = {name: SHORT[name] for name in ALWAYS}
    for name in due_parts(record):
        if name not in SHORT:
            continue
        changed = changed_files(record[name].commit) if name in record else None
        if changed is None:  # it never passed, or its commit is not in this clone
            parts[name] = SHORT[name]
        elif part := reduced(name, (path for path in changed if is_under(path, inputs(name)))):
            parts[name] = part
    return {name: parts[name] for name in SHORT if name in parts}


def reduced(name: str, changed: Iterable[str]) -> Part | None:
    """Return what of a part runs for changed files: all, some of its files, or nothing."""
    part = SHORT[name]
    wanted = {run for path in changed for run in _runs_of(path)}
    if name in wanted:
        return part
    runs = tuple(
        pytest_run._replace(paths=paths)
        for pytest_run in part.runs
        if (
            paths := tuple(
                sorted(
                    path
                    for path in wanted
                    if is_under(path, pytest_run.paths) and not is_under(path, pytest_run.without)
                )
            )
        )
    )
    return part._replace(runs=runs, beside=(), command=()) if runs else None


def _runs_of(path: str) -> tuple[str, ...]:
    """Return what runs for a changed file. A changed test file runs itself."""
    area = max((area for area in AREAS if is_under(path, (area,))), key=len, default="")
    is_test = path.startswith("tests/") and "/test_" in path
    return (*AREAS.get(area, ()), path) if is_test else AREAS.get(area, ())
