"""Writers of links at the same time, stopped before any of their requests, in any order.

Whatever they do, there is never a cycle, each link has both its edges, and assets count their
edges. Indexes are behind all the time: nothing is decided on them.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import VitrineError
from backend.core.transactions import Write, put_new
from backend.domains.asset_links.models import CreateLinkBody, UpdateLinkBody
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import row_of
from backend.spec.tables.assets import ASSET_LINK_EDGES, ASSET_LINKS, ASSETS
from tests.factories.assets import ADMIN
from tests.factories.links import links
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.model.turns import Turns, Worker

NAMES = ("ant", "bee", "cow", "dog")
Work = Callable[[], None]


@dataclass
class World:
    """Four assets, and writers of which one goes at a time."""

    tables: MemoryTables
    service: AssetLinkService
    turns: Turns

    def run(self, works: list[Work], schedule: Iterator[int]) -> None:
        """Run all of them alternately, in the order of the schedule, until the last has ended."""
        workers = [Worker(self.turns, work, 0.0) for work in works]
        while going := [worker for worker in workers if not worker.has_ended]:
            going[next(schedule) % len(going)].step()
        for worker in workers:
            if (error := worker.error) is not None:
                raise error

    def create(self, source: str, target: str, kind: Any, alias: str | None) -> None:
        body = CreateLinkBody(
            from_asset_database_id="museum",
            from_asset_id=source,
            to_asset_database_id="museum",
            to_asset_id=target,
            relationship_type=kind,
            asset_link_alias_id=alias if kind == "parentChild" else None,
        )
        self.service.create_link(ADMIN, body)

    def delete(self, number: int) -> None:
        if (link_id := self._picked(number)) is not None:
            self.service.delete_link(ADMIN, link_id)

    def rename(self, number: int, alias: str) -> None:
        if (link_id := self._picked(number)) is not None:
            body = UpdateLinkBody(asset_link_alias_id=alias)
            self.service.update_link(ADMIN, link_id, body)

    def archive_or_back(self, name: str) -> None:
        asset = self._asset(name)
        status = "active" if asset.is_archived else "archived"
        changed = asset.model_copy(update={"status": status, "revision": asset.revision + 1})
        self.tables.transact(self.service.assets.move_writes(ADMIN, asset, changed)[:2])

    def replace(self, name: str) -> None:
        """Delete an asset permanently, then create another with the same id."""
        asset = self._asset(name)
        self.tables.transact(self.service.assets.assets.removal_writes(asset, "job")[:1])
        while self.service.remove_links("museum", name, limit=2):
            pass
        new = asset.model_copy(
            update={
                "status": "active",
                "revision": 1,
                "child_count": 0,
                "parent_count": 0,
                "related_count": 0,
            }
        )
        self.tables.write(put_new(ASSETS, row_of(new), AssetNotFoundError("museum", name)))

    def _picked(self, number: int) -> str | None:
        ids = sorted(row["assetLinkId"] for row in self.tables.rows(ASSET_LINKS))
        return ids[number % len(ids)] if ids else None

    def _asset(self, name: str) -> Asset:
        asset = self.service.assets.find_asset("museum", name)
        if asset is None:
            raise AssetNotFoundError("museum", name)
        return asset


def world() -> World:
    turns = Turns()
    tables = MemoryTables(lagging=True, before=turns.before)
    numbers = count(1)
    made = links(tables, MemoryObjects(), assets=NAMES, new_id=lambda: f"link-{next(numbers):04}")
    return World(tables, made.service, turns)


def broken(tables: MemoryTables) -> list[str]:
    """Return the inconsistencies of the links while no request runs."""
    rows = tables.rows(ASSET_LINKS)
    parents = {
        (row["fromAssetId"], row["toAssetId"])
        for row in rows
        if row["relationshipType"] == "parentChild"
    }
    result = ["there is a cycle"] if has_cycle(parents) else []
    expected: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        is_related = row["relationshipType"] == "related"
        kinds = ("related", "related") if is_related else ("child", "parent")
        for kind, name in zip(kinds, (row["fromAssetId"], row["toAssetId"]), strict=True):
            expected.setdefault((name, kind), []).append(row["assetLinkId"])
    edges: dict[tuple[str, str], list[str]] = {}
    for item in tables.rows(ASSET_LINK_EDGES):
        name, kind = item["databaseId:assetId"].split(":")[1], item["edge"].split("#")[0]
        if kind != "revision":
            edges.setdefault((name, kind), []).append(item["assetLinkId"])
    if _sorted(edges) != _sorted(expected):
        result.append(f"edges {edges} are not those of links {expected}")
    counts = {
        (row["assetId"], kind): row[f"{kind}Count"]
        for row in tables.rows(ASSETS)
        for kind in ("child", "parent", "related")
        if row[f"{kind}Count"]
    }
    if counts != {key: len(ids) for key, ids in expected.items()}:
        result.append(f"counts {counts} are not those of links {expected}")
    return result


def _sorted(found: dict[tuple[str, str], list[str]]) -> dict[tuple[str, str], list[str]]:
    return {key: sorted(ids) for key, ids in found.items()}


def has_cycle(pairs: set[tuple[str, str]]) -> bool:
    """Whether one comes back to where one began, by parents and children."""
    left = set(NAMES)
    while free := {name for name in left if not any(c == name and p in left for p, c in pairs)}:
        left -= free
    return bool(left)


def quiet(work: Callable[..., None], *arguments: Any) -> Work:
    """Work that may be refused: what it may not be is wrong."""

    def run() -> None:
        with suppress(VitrineError):
            work(*arguments)

    return run


NAME = st.sampled_from(NAMES)
CHANGE = st.one_of(
    st.tuples(
        st.just("create"),
        NAME,
        NAME,
        st.sampled_from(("parentChild", "parentChild", "parentChild", "related")),
        st.sampled_from((None, "left")),
    ),
    st.tuples(st.just("delete"), st.integers(0, 5)),
    st.tuples(st.just("rename"), st.integers(0, 5), st.sampled_from(("", "left", "right"))),
    st.tuples(st.just("archive_or_back"), NAME),
    st.tuples(st.just("replace"), NAME),
)
ROUND = st.tuples(st.lists(CHANGE, min_size=2, max_size=4), st.lists(st.integers(0, 3)))


@given(rounds=st.lists(ROUND, min_size=1, max_size=4))
def test_no_history_of_writers_makes_a_cycle_or_a_wrong_count(rounds: list[Any]) -> None:
    made = world()
    for changes, schedule in rounds:
        works = [quiet(getattr(made, verb), *arguments) for verb, *arguments in changes]
        made.run(works, _endless(schedule))
        assert broken(made.tables) == []


def _endless(schedule: list[int]) -> Iterator[int]:
    yield from schedule
    yield from count()


def circle(made: World) -> list[Work]:
    """Three writers who together would close a circle, each alone would not."""
    pairs = (("ant", "bee"), ("bee", "cow"), ("cow", "ant"))
    return [quiet(made.create, parent, child, "parentChild", None) for parent, child in pairs]


def test_of_writers_that_would_close_a_circle_one_is_refused() -> None:
    made = world()
    made.run(circle(made), count())
    assert broken(made.tables) == []
    assert len(made.tables.rows(ASSET_LINKS)) == 2


def test_without_the_marks_the_same_writers_close_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def unmarked(*_: object) -> Iterator[Write]:
        return iter(())

    monkeypatch.setattr("backend.domains.asset_links.repository._graph_writes", unmarked)
    made = world()
    made.run(circle(made), count())
    assert broken(made.tables) == ["there is a cycle"]
