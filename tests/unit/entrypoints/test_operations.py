"""The functions of operations: all consumers of streams can be replayed, runs end in counts."""

import pytest

from backend.aws.objects import S3Objects
from backend.aws.secrets import Secrets
from backend.core.errors import UnavailableError
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.failures import failures
from backend.entrypoints.wiring.operations import replays, stream_consumers
from backend.search.maintenance.replay import LeftoverReplays
from backend.spec.functions.operations import REPLAY_FAILURES
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from tests.factories.failures import put_object

EVENT = {"source": "aws.events", "detail-type": "Scheduled Event"}


@pytest.fixture
def context(deployed: Secrets, objects: S3Objects, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setenv("SEARCH_ENDPOINT", "search.invalid")
    return Context(REPLAY_FAILURES)


def test_every_consumer_of_a_stream_is_replayed_by_its_own_code(context: Context) -> None:
    consumers = stream_consumers(context)
    assert set(consumers) == {s.consumer for s in STREAM_SUBSCRIPTIONS}
    for name, consumer in consumers.items():
        assert callable(consumer(failures(context))), name


def test_a_run_shows_what_became_of_how_many(context: Context, objects: S3Objects) -> None:
    run = replays(context)
    assert run(EVENT) == {}
    put_object(objects, "no JSON")
    assert run(EVENT) == {"failed": 1}


def test_a_run_that_meets_an_outage_leaves_the_rest_to_the_next(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outage(*_: object, **__: object) -> None:
        raise UnavailableError("S3 does not answer")

    monkeypatch.setattr(LeftoverReplays, "run", outage)
    assert replays(context)(EVENT) == {"outage": 1}
