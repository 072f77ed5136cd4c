"""Engines that end and are restarted: their lost state is restored, however late they start."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local import engine_room
from local.engine_room import EngineRoom
from local.engines.base import Options
from local.engines.errors import EngineError
from local.state import StateFolder


@dataclass
class _Engine:
    """One start of an engine."""

    in_time: bool = True
    exit_code: int | None = None
    endpoint: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(port=1, url="x"))

    def wait_healthy(self) -> None:
        if not self.in_time:
            self.in_time = True  # the next time that somebody asks
            raise EngineError("aws does not answer after 300 s")

    def kill(self) -> None:
        self.exit_code = -9


@dataclass
class _Kind:
    """Starts what it is given."""

    starts: list[_Engine]
    started: int = 0

    def start(self, *_: Any, **__: Any) -> _Engine:
        self.started += 1
        return self.starts.pop(0)


@dataclass
class _Site:
    room: EngineRoom
    first: _Engine
    kind: _Kind
    released: list[str] = field(default_factory=list[str])
    refusals: int = 0

    async def give_back(self, name: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise EngineError("aws cannot be restored")
        self.released.append(name)


Make = Callable[..., _Site]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def make_site(*starts: _Engine) -> _Site:
        first, kind = _Engine(), _Kind(list(starts))

        def start_all(*_: Any, **__: Any) -> dict[str, _Engine]:
            return {"aws": first}

        monkeypatch.setattr(engine_room, "ENGINES", {"aws": kind})
        monkeypatch.setattr(engine_room, "start_all", start_all)
        monkeypatch.setattr(engine_room, "_LOOK_EVERY", 0.01)
        room = EngineRoom(tools=tmp_path, state=StateFolder(tmp_path), options=Options())
        room.start_all(["aws"], lambda _: None)
        site = _Site(room, first, kind)
        room.restarted = site.give_back
        return site

    return make_site


async def _kept_until(site: _Site, fact: Callable[[], bool]) -> None:
    """Keep the engines alive until something holds, and a few looks longer."""
    keeping = asyncio.create_task(site.room.supervise())
    for _ in range(500):
        if fact():
            break
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert fact()
    assert not keeping.done()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


def test_an_engine_that_ended_gets_back_what_it_forgot_once(make: Make) -> None:
    site = make(_Engine())
    site.first.exit_code = -9
    asyncio.run(_kept_until(site, lambda: site.released == ["aws"]))
    assert site.kind.started == 1


def test_an_engine_that_ended_again_before_it_answered_is_started_again(make: Make) -> None:
    site = make(_Engine(in_time=False, exit_code=1), _Engine())
    site.first.exit_code = -9
    asyncio.run(_kept_until(site, lambda: site.released == ["aws"]))
    assert site.kind.started == 2


def test_what_an_engine_did_not_take_is_given_to_it_again(make: Make) -> None:
    site = make(_Engine())
    site.refusals = 3
    site.first.exit_code = -9
    asyncio.run(_kept_until(site, lambda: site.released == ["aws"]))
    assert site.kind.started == 1


def test_a_killed_engine_stays_away_until_it_is_started_again(make: Make) -> None:
    async def scenario(site: _Site) -> None:
        await site.room.kill("aws")
        await _kept_until(site, lambda: site.kind.started == 0)
        await site.room.start("aws")

    site = make(_Engine())
    asyncio.run(scenario(site))
    assert site.released == ["aws"]
