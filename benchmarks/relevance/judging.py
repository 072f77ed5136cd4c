"""The judgement of queries: the grade of each asset and file, by the properties of the asset.

3: the searched one. 2: as good as that, or a part of it. 1: related. 0: anything else.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.relevance.corpus import Thing

Grade = Callable[[Thing, str | None], int]
"""The grade of an asset (path None), or of one of its files."""
Condition = tuple[str, str, Any]
"""A field, a comparison and a value."""
MEANT = 3
_QUERIES = Path(__file__).with_name("queries.json")


class Query(NamedTuple):
    """A request to `POST /search` and the grades of its possible hits."""

    kind: str
    body: Mapping[str, Any]
    grade: Grade

    @property
    def text(self) -> str:
        return str(self.body.get("query", ""))

    @property
    def is_navigational(self) -> bool:
        """Whether the query searches for a single thing, whose id or name is known."""
        return self.kind in {"exact id", "exact name", "asset against file"}


def grade_things(query: Query, things: Iterable[Thing]) -> dict[str, int]:
    """Return the ids of all documents with a grade above 0."""
    grades: dict[str, int] = {}
    for thing in things:
        if grade := query.grade(thing, None):
            grades[thing.id] = grade
        for path in thing.paths:
            if grade := query.grade(thing, path):
                grades[thing.id_of(path)] = grade
    return grades


def queries() -> tuple[Query, ...]:
    """Return the judged queries of `queries.json`.

    They were committed before any query was tuned: never change a query or a judgement together
    with the code that they measure.
    """
    kinds: dict[str, list[dict[str, Any]]] = json.loads(_QUERIES.read_text(encoding="utf-8"))
    return tuple(
        Query(kind, row["body"], grade_of(row["grade"]))
        for kind, rows in kinds.items()
        for row in rows
    )


def grade_of(stored: Mapping[str, Any]) -> Grade:
    """Return the grade that an entry of `queries.json` describes by its first key."""
    kind, (grade, *_) = next(iter(stored)), stored.values()
    others = {name: value for name, value in stored.items() if name != kind}
    return _GRADES[kind](grade, **others)


def grade_by_name(name: str, *, product: str = "", variant: str = "") -> Grade:
    """Grade assets of this name 3, and those with another spelling of the name 2."""

    def grade(thing: Thing, path: str | None) -> int:
        if path is None and thing.name == name:
            return 3
        is_same = bool(product) and thing.product == product and thing.variant == variant
        if thing.name == name or is_same:
            return 2 if path is None else 1
        return 0

    return grade


def products(meant: Sequence[str], *, also: Sequence[str] = ()) -> Grade:
    """Grade assets of these products 3, and those of `also` 2.

    Files have one grade less. Assets whose description mentions such a product have grade 1.
    """

    def grade(thing: Thing, path: str | None) -> int:
        less = path is not None
        if thing.product in meant:
            return 3 - less
        if thing.product in also:
            return 2 - less
        return int(path is None and thing.mentions in {*meant, *also})

    return grade


def where(conditions: Sequence[Condition], *, product: str = "", of_files: int = 2) -> Grade:
    """Grade assets that meet all conditions 3, and other assets of the product 1.

    `of_files` is the grade of their files: 1 if the query names metadata that only the asset has,
    and 0 if it requires this metadata.
    """

    def grade(thing: Thing, path: str | None) -> int:
        if _meets(thing, conditions):
            return 3 if path is None else of_files
        return int(path is None and bool(product) and thing.product == product)

    return grade


def files(conditions: Sequence[Condition]) -> Grade:
    """Grade files that meet all conditions 3, and their assets 1.

    `path` and `file_name` are compared in lower case.
    """

    def grade(thing: Thing, path: str | None) -> int:
        if path is None:
            return int(any(_meets(thing, conditions, path.lower()) for path in thing.paths))
        return 3 if _meets(thing, conditions, path.lower()) else 0

    return grade


_GRADES: Mapping[str, Callable[..., Grade]] = {
    "called": grade_by_name,
    "products": products,
    "where": where,
    "files": files,
}


def _meets(thing: Thing, conditions: Iterable[Condition], path: str = "") -> bool:
    of_file = {"path": path, "file_name": path.rpartition("/")[2]}
    return all(
        _holds(of_file[name] if name in of_file else getattr(thing, name), kind, wanted)
        for name, kind, wanted in conditions
    )


def _holds(value: Any, kind: str, wanted: Any) -> bool:
    match kind:
        case "is":
            return value == wanted
        case "begins":
            return value.startswith(wanted)
        case "ends":
            return value.endswith(wanted)
        case "contains":
            return wanted in value
        case "below":
            return value < wanted
        case "between":
            return wanted[0] <= value <= wanted[1]
        case _:
            raise ValueError(f"unknown condition: {kind}")
