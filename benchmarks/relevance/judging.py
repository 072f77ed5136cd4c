"""How queries are judged: the grade of each asset and file, by what is true of the asset.

3: what was meant. 2: as good as meant, or part of it. 1: about it. 0: anything else.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from benchmarks.relevance.corpus import Thing

Grade = Callable[[Thing, str | None], int]
"""The grade of an asset (path None), or of one of its files."""
MEANT = 3


class Query(NamedTuple):
    """A request to `POST /search` and the grades of what it may find."""

    kind: str
    body: Mapping[str, Any]
    grade: Grade

    @property
    def text(self) -> str:
        return str(self.body.get("query", ""))

    @property
    def is_navigational(self) -> bool:
        """Whether one thing is looked for, whose id or name is known."""
        return self.kind in {"exact id", "exact name", "asset against file"}


def judged(query: Query, things: Iterable[Thing]) -> dict[str, int]:
    """Return the ids of all documents with a grade above 0."""
    found: dict[str, int] = {}
    for thing in things:
        if grade := query.grade(thing, None):
            found[thing.id] = grade
        for path in thing.paths:
            if grade := query.grade(thing, path):
                found[thing.id_of(path)] = grade
    return found


def numbered(*numbers: int) -> Grade:
    """These assets are meant; each of their files is one grade less."""
    return where(lambda thing: thing.number in numbers)


def called(name: str, *, product: str = "", variant: str = "") -> Grade:
    """Assets of this name are meant. The same thing under a name written otherwise is as good."""

    def grade(thing: Thing, path: str | None) -> int:
        if path is None and thing.name == name:
            return 3
        is_same = bool(product) and thing.product == product and thing.variant == variant
        if thing.name == name or is_same:
            return 2 if path is None else 1
        return 0

    return grade


def products(*meant: str, also: Iterable[str] = ()) -> Grade:
    """Assets that are such products are meant; `also` are as good as meant.

    Files are one grade less. Assets whose description names such a product are about it.
    """
    others = frozenset(also)

    def grade(thing: Thing, path: str | None) -> int:
        less = path is not None
        if thing.product in meant:
            return 3 - less
        if thing.product in others:
            return 2 - less
        return int(path is None and thing.mentions in {*meant, *others})

    return grade


def where(meets: Callable[[Thing], bool], *, product: str = "", of_files: int = 2) -> Grade:
    """Assets that meet a condition are meant. Other assets of the product are about it.

    `of_files` is the grade of their files: 1 where the query names metadata that only the asset
    has, and 0 where it demands it.
    """

    def grade(thing: Thing, path: str | None) -> int:
        if meets(thing):
            return 3 if path is None else of_files
        return int(path is None and bool(product) and thing.product == product)

    return grade


def demanded(meets: Callable[[Thing], bool]) -> Grade:
    """Assets that meet a condition on metadata, which none of their files has."""
    return where(meets, of_files=0)


def files(meets: Callable[[Thing, str], bool], *, others: int = 1) -> Grade:
    """Such files are meant; their assets are about it."""

    def grade(thing: Thing, path: str | None) -> int:
        if path is None:
            return others if any(meets(thing, one) for one in thing.paths) else 0
        return 3 if meets(thing, path) else 0

    return grade


def file_named(name: str) -> Grade:
    """Files of this name, in any case, are meant; their assets are about it."""
    wanted = name.lower()
    return files(lambda _, path: path.rpartition("/")[2].lower() == wanted)


def files_with(part: str) -> Grade:
    """Files with this text in their name, in any case, are meant; their assets are about it."""
    wanted = part.lower()
    return files(lambda _, path: wanted in path.lower())
