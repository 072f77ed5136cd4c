"""Repeated attempts, deadlines, and the newest versions of keys."""

import pytest

from backend.core.attempts import attempts
from backend.core.deadlines import Deadline, OutcomeUnknownError
from backend.core.delete_markers import markers_hiding, newest
from tests.fakes.objects import MemoryObjects


class _ConflictError(Exception):
    pass


def _failing(times: int, error: Exception) -> list[Exception | None]:
    return [*[error] * times, None]


def _run(outcomes: list[Exception | None]) -> int:
    outcome = outcomes.pop(0)
    if outcome is not None:
        raise outcome
    return len(outcomes)


def _refused(outcomes: list[Exception | None]) -> Exception:
    return LookupError(f"{len(outcomes)} left")


def test_a_conflict_is_tried_again_until_the_last_attempt_and_other_errors_are_not() -> None:
    run = attempts(3, _ConflictError)(_run)
    assert run(_failing(2, _ConflictError("it"))) == 0
    outcomes = _failing(3, _ConflictError("it"))
    with pytest.raises(_ConflictError, match=r"^it$"):
        run(outcomes)
    assert outcomes == [None]
    run = attempts(2, _ConflictError, refusal=_refused)(_run)
    assert run(_failing(1, _ConflictError())) == 0
    with pytest.raises(LookupError, match="1 left") as error:
        run(_failing(2, _ConflictError()))
    assert isinstance(error.value.__cause__, _ConflictError)
    outcomes = _failing(3, ValueError())
    with pytest.raises(ValueError, match=r"^$"):
        attempts(3, _ConflictError, refusal=_refused)(_run)(outcomes)
    assert len(outcomes) == 3


def test_work_is_refused_when_too_little_time_is_left_of_the_request() -> None:
    now = 100.0
    deadline = Deadline(lambda: now)
    deadline.check()
    deadline.begin(29)
    now += 24
    deadline.check()
    with pytest.raises(OutcomeUnknownError, match="read the current state before you repeat it"):
        deadline.check(10)
    now += 0.1
    with pytest.raises(OutcomeUnknownError):
        deadline.check()
    deadline.begin(None)
    deadline.check()
    now = 100.0
    deadline = Deadline(lambda: now)
    assert deadline.within(20) == 20
    deadline.begin(29)
    assert deadline.within(20) == 20
    now += 20
    assert deadline.within(20) == 7
    now += 4.1
    with pytest.raises(OutcomeUnknownError):
        deadline.within(20)


KEYS = ["a/1", "a/2 +ä", "a/3", "a/5"]


def put(objects: MemoryObjects, key: str) -> str:
    return objects.put("b", key, b"x", content_type="text/plain", metadata={}).version_id


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects()


def test_the_newest_version_and_the_one_below_are_reported_of_each_key(
    objects: MemoryObjects,
) -> None:
    first = [put(objects, key) for key in ("a/0", *KEYS, "a/6")]
    second = put(objects, "a/3")
    objects.delete("b", "a/5")
    put(objects, "a/4")
    result = {item.version.key: item for item in newest(objects, "b", "a/", KEYS)}
    assert list(result) == KEYS
    assert (result["a/1"].version.version_id, result["a/1"].below) == (first[1], None)
    assert result["a/3"].version.version_id == second
    below = result["a/3"].below
    assert below is not None
    assert below.version_id == first[3]
    (hidden,) = markers_hiding(objects, "b", "a/", KEYS)
    assert (hidden.version.key, hidden.below and hidden.below.version_id) == ("a/5", first[4])


def test_histories_of_any_length_are_passed_over_and_no_keys_take_no_request(
    objects: MemoryObjects,
) -> None:
    requests: list[str] = []
    objects.before = requests.append
    assert newest(objects, "b", "a/", []) == []
    assert requests == []
    last = {key: [put(objects, key) for _ in range(100)][-1] for key in KEYS}
    requests: list[str] = []
    objects.before = requests.append
    result = newest(objects, "b", "a/", KEYS)
    assert {item.version.key: item.version.version_id for item in result} == last
    assert len(requests) == len(KEYS)


def test_a_version_below_that_is_on_the_next_page_is_reported(
    objects: MemoryObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.core.delete_markers._LISTED", 1)
    monkeypatch.setattr("backend.core.delete_markers._LEAST_LISTED", 1)
    version = put(objects, "a/1")
    objects.delete("b", "a/1")
    (hidden,) = markers_hiding(objects, "b", "a/", ["a/1"])
    assert hidden.below is not None
    assert hidden.below.version_id == version
