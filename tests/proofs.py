"""Which parts of the tests have passed with the files as they are now.

`tests/proved.json` has the commit at which each part of `make prove` last passed, and a digest of
its inputs at that commit. A part whose digest differs now is due. `make prove` writes the record
after a whole part has passed on a clean tree; continuous integration only reads it.
"""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from local.iam.report import read_record

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "proved.json"
USED_GRANTS = ROOT / "tests" / "grants" / "used"
"""The grants that each part used when it passed: `<part>.jsonl`."""
# Written by `make prove`: neither inputs of a part nor changes of a tree.
_WRITTEN = ("tests/proved.json", "tests/grants/used/")


class Proof(NamedTuple):
    """When a part passed: the commit, a digest of its inputs there, and the seconds it took."""

    commit: str
    digest: str
    seconds: int


def file_blobs() -> dict[str, str]:
    """Return the blob id of each file of the working tree that is not ignored, by its path."""
    entries = _git("ls-files", "-z", "--stage").split("\0")
    blobs = {
        path: entry.split()[1]
        for entry, _, path in (row.partition("\t") for row in entries)
        if path
    }
    changed = _git("ls-files", "-z", "--modified", "--others", "--exclude-standard").split("\0")
    present = [path for path in changed if (ROOT / path).is_file()]
    ids = _git("hash-object", "--stdin-paths", sent="\n".join(present)).split()
    deleted = {path for path in changed if path} - set(present)
    merged = blobs | dict(zip(present, ids, strict=True))
    return {
        path: blob
        for path, blob in merged.items()
        if path not in deleted and not path.startswith(_WRITTEN)
    }


def is_under(path: str, places: Iterable[str]) -> bool:
    """Return whether a path is one of these files, or in one of these folders."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def inputs_digest(inputs: Sequence[str], blobs: Mapping[str, str]) -> str:
    """Return a digest of the paths and contents of a part's inputs."""
    lines = (f"{path} {blobs[path]}\n" for path in sorted(blobs) if is_under(path, inputs))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]


def read_proofs(path: Path = RECORD) -> dict[str, Proof]:
    """Return the recorded proofs; none if there is no record, or if it cannot be read."""
    try:
        record = cast("object", json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):  # of a record of nested lists
        return {}
    rows = cast("dict[str, object]", record) if isinstance(record, dict) else {}
    return {part: proof for part, row in rows.items() if (proof := _read_proof(row))}


def _read_proof(row: object) -> Proof | None:
    match row:
        case {"commit": str(commit), "digest": str(digest), "seconds": int(seconds)}:
            return Proof(commit, digest, seconds)
        case _:
            return None  # malformed: the part is due


def write_proofs(proofs: Mapping[str, Proof], path: Path = RECORD) -> None:
    """Write the record, sorted by part."""
    rows = {part: proofs[part]._asdict() for part in sorted(proofs)}
    path.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def is_clean() -> bool:
    """Return whether all files are committed, except those that `make prove` writes."""
    rows = _git("status", "--porcelain", "-z", "--untracked-files=all").split("\0")
    return not [row for row in rows if row and not row[3:].startswith(_WRITTEN)]


def head_commit() -> str:
    """Return the id of the current commit."""
    return _git("rev-parse", "HEAD").strip()


def changed_files(commit: str) -> set[str] | None:
    """Return the paths that differ from a commit, or None if the commit is not in this clone."""
    names = subprocess.run(
        ["git", "diff", "--name-only", "--no-renames", "-z", commit, "--"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if names.returncode != 0:
        return None
    untracked = _git("ls-files", "-z", "--others", "--exclude-standard")
    return {path for path in f"{names.stdout}{untracked}".split("\0") if path}


def keep_used_grants(part: str, recorded: Path) -> None:
    """Keep the grants that a part used."""
    if not recorded.exists():
        return
    lines = sorted(
        json.dumps({"role": role, "asked": action, "used": list(grant)})
        for role, usage in read_record(recorded).items()
        for grant, actions in usage.used.items()
        for action in actions
    )
    USED_GRANTS.mkdir(exist_ok=True)
    (USED_GRANTS / f"{part}.jsonl").write_text("".join(f"{line}\n" for line in lines))


def _git(*arguments: str, sent: str = "") -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, input=sent, capture_output=True, text=True, check=True
    ).stdout
