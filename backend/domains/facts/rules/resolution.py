"""Resolves references within an asset, and finds circular ones. Pure."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from posixpath import dirname, normpath
from urllib.parse import unquote

from backend.domains.facts.models import FileReferences, Reference, ReferenceState
from backend.values import frozen

_INSIDE: frozenset[ReferenceState] = frozenset({"found", "missing", "otherCase"})
"""States of references within the asset. Other states are returned as they are stored."""

Edges = Mapping[str, frozenset[str]]
"""The files that each file refers to."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of an asset's files; `is_whole` unless there were too many to list."""

    known: frozenset[str]
    is_whole: bool = True

    def by_composed_name(self) -> dict[str, str]:
        """Return the paths by their name in one Unicode form: macOS writes the other one."""
        return {_compose_name(path): path for path in sorted(self.known, reverse=True)}

    def in_any_case(self) -> dict[str, str]:
        return {_compose_name(path).lower(): path for path in sorted(self.known, reverse=True)}


@frozen
class Resolved:
    """A reference, its current state, and the file that it resolves to."""

    reference: Reference
    state: ReferenceState
    path: str | None = None


def candidate_paths(file_path: str, reference: Reference) -> list[str]:
    """Return the paths to which a reference may lead, the most likely first.

    A reference that was found is stored with its path in the asset; a missing one as the file has
    it, relative to the file's folder and perhaps encoded as a URL.
    """
    if reference.state not in _INSIDE:
        return []
    written = reference.path.replace("\\", "/")
    paths = [] if reference.state == "missing" else [f"/{written}"]
    paths += [f"{dirname(file_path)}/{text}" for text in (written, unquote(written))]
    # A path that leaves the asset at any step does not resolve: normpath would stop at its root.
    depths = {"": 0, ".": 0, "..": -1}
    inside = (
        path
        for path in dict.fromkeys(paths)
        if min(accumulate(depths.get(step, 1) for step in path.split("/"))) >= 0
    )
    return [normpath("/" + path.lstrip("/")) for path in inside]


def resolve_references(references: FileReferences, paths: Paths) -> list[Resolved]:
    """Return the references of a file as they resolve now."""
    names = (paths.by_composed_name(), paths.in_any_case())
    return [
        _resolve_reference(references.path, reference, paths, *names)
        for reference in references.stored.references
    ]


def possible_targets(references: FileReferences) -> set[str]:
    """Return all paths to which a file may refer, existing or not."""
    return {
        path
        for reference in references.stored.references
        for path in candidate_paths(references.path, reference)
    }


def circular_edges(edges: Edges) -> set[tuple[str, str]]:
    """Return the edges (file, referenced file) that are part of a cycle."""
    part_of = {path: number for number, part in enumerate(_components(edges)) for path in part}
    return {
        (path, other)
        for path, others in edges.items()
        for other in others
        if other == path or part_of.get(other) == part_of[path]
    }


def _resolve_reference(
    file_path: str,
    reference: Reference,
    paths: Paths,
    composed: Mapping[str, str],
    in_any_case: Mapping[str, str],
) -> Resolved:
    wanted = candidate_paths(file_path, reference)
    if not wanted:
        return Resolved(reference, reference.state)
    for path in wanted:
        same = path if path in paths.known else composed.get(_compose_name(path))
        if same is not None:
            state = "otherCase" if reference.state == "otherCase" else "found"
            return Resolved(reference, state, same)
    for path in wanted:
        other = in_any_case.get(_compose_name(path).lower())
        if other is not None:
            return Resolved(reference, "otherCase", other)
    if paths.is_whole:
        return Resolved(reference, "missing")
    return Resolved(reference, reference.state)


def _compose_name(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _components(edges: Edges) -> list[set[str]]:
    """Return the strongly connected components (Kosaraju), without recursion: files are hostile."""
    backwards: dict[str, set[str]] = {}
    for path, others in edges.items():
        for other in others & edges.keys():
            backwards.setdefault(other, set()).add(path)
    components: list[set[str]] = []
    seen: set[str] = set()
    for root in reversed(_order_files(edges)):
        if root in seen:
            continue
        part, waiting = set[str](), [root]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                part.add(path)
                waiting += backwards.get(path, ())
        components.append(part)
    return components


def _order_files(edges: Edges) -> Sequence[str]:
    """Return all files in the order in which a depth-first walk leaves them."""
    order: list[str] = []
    seen: set[str] = set()
    for root in edges:
        if root in seen:
            continue
        seen.add(root)
        walk: list[tuple[str, Iterator[str]]] = [(root, _iterate_sorted(edges[root]))]
        while walk:
            path, others = walk[-1]
            following = next(
                (other for other in others if other in edges and other not in seen), None
            )
            if following is None:
                order.append(path)
                walk.pop()
            else:
                seen.add(following)
                walk.append((following, _iterate_sorted(edges[following])))
    return order


def _iterate_sorted(paths: Iterable[str]) -> Iterator[str]:
    return iter(sorted(paths))
