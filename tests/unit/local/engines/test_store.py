"""Fetching jars: only what the lock says comes into use. The repository is made up."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from local.engines import EngineError
from local.engines.jars import store as store_module
from local.engines.jars.locked import Artifact, Locked
from local.engines.jars.store import REPOSITORY_VARIABLE, fetch_all

BODY = b"the bytes of a jar" * 1000
JAR = Artifact("org.example", "lib", "1.0", None, "jar")
ENTRY = Locked(JAR, hashlib.sha256(BODY).hexdigest())

Response = Callable[[httpx.Request], httpx.Response]


class Broken(httpx.SyncByteStream):
    """A body whose connection breaks in the middle."""

    def __iter__(self) -> Iterator[bytes]:
        yield BODY[: len(BODY) // 2]
        raise httpx.ReadError("connection reset")


@pytest.fixture(autouse=True)
def a_mirror_and_no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPOSITORY_VARIABLE, "https://mirror.example/maven/")
    monkeypatch.setattr(store_module, "_PAUSE_SECONDS", 0.0)


def fetch(store: Path, answer: Response) -> list[int]:
    sizes: list[int] = []
    fetch_all([ENTRY], store, fetched=sizes.append, transport=httpx.MockTransport(answer))
    return sizes


def files(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def test_a_jar_comes_from_the_mirror_into_the_store(tmp_path: Path) -> None:
    requests: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(str(request.url))
        return httpx.Response(200, content=BODY)

    assert fetch(tmp_path, answer) == [len(BODY)]
    assert requests == ["https://mirror.example/maven/org/example/lib/1.0/lib-1.0.jar"]
    assert (tmp_path / JAR.path).read_bytes() == BODY


def test_what_is_in_the_store_is_not_fetched_again(tmp_path: Path) -> None:
    fetch(tmp_path, lambda _: httpx.Response(200, content=BODY))
    assert fetch(tmp_path, lambda _: httpx.Response(500)) == []


def test_another_content_than_locked_is_named_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"org\.example:lib:1\.0 .* it is not used"):
        fetch(tmp_path, lambda _: httpx.Response(200, content=b"evil"))
    assert files(tmp_path) == []


def test_a_partial_download_is_started_again_and_never_kept(tmp_path: Path) -> None:
    answers = iter([httpx.Response(200, stream=Broken()), httpx.Response(200, content=BODY)])
    fetch(tmp_path, lambda _: next(answers))
    assert (tmp_path / JAR.path).read_bytes() == BODY
    assert files(tmp_path) == [str(JAR.path)]


def test_a_connection_that_keeps_breaking_ends_in_an_error_with_the_coordinate(
    tmp_path: Path,
) -> None:
    with pytest.raises(EngineError, match=r"cannot fetch org\.example:lib:1\.0: .*reset"):
        fetch(tmp_path, lambda _: httpx.Response(200, stream=Broken()))
    assert files(tmp_path) == []


def test_a_jar_that_the_repository_lacks_is_an_error_at_once(tmp_path: Path) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(404)

    with pytest.raises(EngineError, match=r"org\.example:lib:1\.0: .* answers 404"):
        fetch(tmp_path, answer)
    assert len(requests) == 1
