"""The functions of operations: all consumers of streams can be replayed, runs end in counts."""

from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.aws.secrets import Secrets
from backend.core.errors import UnavailableError
from backend.entrypoints.operations import OperationsWiring
from backend.search.maintenance.replay import LeftoverReplays
from backend.spec.functions.operations import REPLAY_FAILURES
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from tests.factories.failures import put_object
from tests.factories.http import Context

EVENT = {"source": "aws.events", "detail-type": "Scheduled Event"}


@pytest.fixture
def wiring(deployed: Secrets, objects: S3Objects, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SEARCH_ENDPOINT", "search.invalid")
    return OperationsWiring(REPLAY_FAILURES)


def test_every_consumer_of_a_stream_is_replayed_by_its_own_code(wiring: OperationsWiring) -> None:
    assert set(wiring.stream_consumers) == {s.consumer for s in STREAM_SUBSCRIPTIONS}
    for name, consumer in wiring.stream_consumers.items():
        assert callable(consumer(wiring.failures)), name


def test_a_run_shows_what_became_of_how_many(wiring: OperationsWiring, objects: S3Objects) -> None:
    handler = wiring.replays_handler
    assert handler(EVENT, Context()) == {}
    put_object(objects, "no JSON")
    assert handler(EVENT, Context()) == {"failed": 1}


def test_a_run_that_meets_an_outage_leaves_the_rest_to_the_next(
    wiring: OperationsWiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outage(*_: object, **__: object) -> None:
        raise UnavailableError("S3 does not answer")

    monkeypatch.setattr(LeftoverReplays, "run", outage)
    assert wiring.replays_handler(EVENT, Context()) == {"outage": 1}
