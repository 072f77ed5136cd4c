"""The client's tests use a server in memory, and no AWS."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from vitrine import RetryPolicy, Vitrine

from tests.unit.client.fake_server import API, KEY, FakeServer
from tests.unit.client.shell import Shell


@dataclass(frozen=True)
class World:
    """A client with its server in memory, a folder on the disk, and the client's pauses."""

    client: Vitrine
    server: FakeServer
    folder: Path
    pauses: list[float]


@pytest.fixture(autouse=True)
def aws_in_process() -> None:
    """Replaces the AWS of the other unit tests, which would only take time here."""


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def pauses() -> list[float]:
    """The seconds of each pause of the client."""
    return []


@pytest.fixture
def client(server: FakeServer, pauses: list[float]) -> Iterator[Vitrine]:
    with Vitrine(
        API,
        KEY,
        retry=RetryPolicy(attempts=3, jitter=lambda _, most: most),
        api_transport=server.api,
        storage_transport=server.storage,
        sleep=pauses.append,
    ) as vitrine:
        yield vitrine


@pytest.fixture
def world(client: Vitrine, server: FakeServer, tmp_path: Path, pauses: list[float]) -> World:
    return World(client, server, tmp_path, pauses)


@pytest.fixture
def shell(server: FakeServer, tmp_path: Path) -> Shell:
    return Shell(server, tmp_path)
