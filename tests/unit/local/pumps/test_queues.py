"""Messages of a queue: hidden for seconds only, until the journal knows who must release them."""

import asyncio
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError

from local.clients import Clients
from local.function_process import InvocationResult
from local.functions import Functions
from local.plan import Queue, QueueMapping
from local.pumps import queues
from local.pumps.activity import Activity
from local.pumps.journal import Journal
from local.pumps.queues import QueuePump

ARN = "arn:aws:sqs:us-east-1:000000000000:work"
RECEIPT = "receipt-1"
UNCLAIMED_SECONDS = 15
_GONE = EndpointConnectionError(endpoint_url="http://127.0.0.1/work")


class _Journal(Journal):
    """Tells when the message is settled, which is the last thing that is done with it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.settled = threading.Event()

    def settle(self, queue: str, receipts: list[str]) -> None:
        super().settle(queue, receipts)
        if RECEIPT in receipts:
            self.settled.set()


@dataclass
class _Sqs:
    """One message, and what the pump asks of it, with what the journal knows at that time."""

    journal: _Journal
    refuses: bool = False
    undeletable: int = 0  # so many deletes are refused
    unreachable: bool = False  # from when a second message is asked for
    asked: list[tuple[str, Any, list[str]]] = field(
        default_factory=list[tuple[str, Any, list[str]]]
    )
    deleted: threading.Event = field(default_factory=threading.Event)
    hidden: threading.Event = field(default_factory=threading.Event)
    waited_for: threading.Event = field(default_factory=threading.Event)

    def _note(self, what: str, fact: Any) -> None:
        self.asked.append((what, fact, self.journal.received(ARN)))

    def receive_message(self, **asked: Any) -> dict[str, Any]:
        self._note("receive", asked["VisibilityTimeout"])
        if len([each for each in self.asked if each[0] == "receive"]) > 1:
            self.waited_for.set()
            self.deleted.wait(0.2)
            if self.unreachable:
                raise _GONE
            return {}
        return {"Messages": [{"MessageId": "1", "ReceiptHandle": RECEIPT, "Body": "{}"}]}

    def change_message_visibility_batch(self, *, QueueUrl: str, Entries: Any) -> dict[str, Any]:  # noqa: N803
        del QueueUrl
        self._note("claim", [(e["ReceiptHandle"], e["VisibilityTimeout"]) for e in Entries])
        self.hidden.set()
        return {"Failed": [{"Id": "0", "Code": "x"}]} if self.refuses else {}

    def change_message_visibility(self, **asked: Any) -> None:
        self._note("release", asked["VisibilityTimeout"])
        if self.unreachable:
            raise _GONE

    def delete_message_batch(self, **_: Any) -> dict[str, Any]:
        self._note("delete", None)
        if self.undeletable:
            self.undeletable -= 1
            return {"Failed": [{"Id": "0", "Code": "ReceiptHandleIsInvalid"}]}
        self.deleted.set()
        return {}


class _Taking:
    """The function of the mapping, which takes everything."""

    async def invoke(self, _reference: str, _event: Mapping[str, Any]) -> InvocationResult:
        return InvocationResult(b"{}")


@pytest.fixture
def journal(tmp_path: Path) -> Generator[_Journal]:
    journal = _Journal(tmp_path / "pumps.sqlite")
    yield journal
    journal.close()


def _pump(
    sqs: _Sqs,
    attributes: Mapping[str, str],
    *,
    batch: int = 1,
    window: int = 0,
    activity: Activity | None = None,
) -> QueuePump:
    return QueuePump(
        QueueMapping("m", "f", batch, window, (), True, ARN, None),
        Queue("work", ARN, "http://127.0.0.1/work", attributes, None),
        clients=cast("Clients", type("_Clients", (), {"sqs": sqs})),
        functions=cast("Functions", _Taking()),
        journal=sqs.journal,
        activity=activity or Activity(),
    )


async def _deliver_one(
    sqs: _Sqs, attributes: Mapping[str, str], *, batch: int = 1, window: int = 0
) -> None:
    running = asyncio.create_task(_pump(sqs, attributes, batch=batch, window=window).run())
    assert await asyncio.to_thread(sqs.journal.settled.wait, 10)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def _asked(sqs: _Sqs, what: str) -> tuple[Any, list[str]]:
    return next((fact, known) for name, fact, known in sqs.asked if name == what)


def test_a_message_is_hidden_for_seconds_until_the_journal_knows_it(journal: _Journal) -> None:
    sqs = _Sqs(journal)
    asyncio.run(_deliver_one(sqs, {"VisibilityTimeout": "720"}))
    assert _asked(sqs, "receive") == (UNCLAIMED_SECONDS, [])
    assert _asked(sqs, "claim") == ([(RECEIPT, 720)], [RECEIPT])
    assert [name for name, _, _ in sqs.asked][:3] == ["receive", "claim", "delete"]
    assert journal.received(ARN) == []


def test_a_queue_that_says_nothing_hides_as_long_as_sqs_does(journal: _Journal) -> None:
    sqs = _Sqs(journal)
    asyncio.run(_deliver_one(sqs, {}))
    assert _asked(sqs, "claim")[0] == [(RECEIPT, 30)]


def test_a_message_that_cannot_be_claimed_is_worked_off_with_a_warning(
    journal: _Journal, caplog: pytest.LogCaptureFixture
) -> None:
    sqs = _Sqs(journal, refuses=True)
    asyncio.run(_deliver_one(sqs, {}))
    assert "a message is not claimed" in caplog.text


def test_what_a_killed_runtime_had_claimed_is_visible_again_at_once(journal: _Journal) -> None:
    journal.receive(ARN, ["left-over"])
    sqs = _Sqs(journal)
    asyncio.run(_deliver_one(sqs, {}))
    assert sqs.asked[0][:2] == ("release", 0)
    assert "left-over" not in _asked(sqs, "claim")[1]


def test_a_delete_that_is_refused_is_tried_again(
    journal: _Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "pause_after", _shortly)
    sqs = _Sqs(journal, undeletable=3)
    asyncio.run(_deliver_one(sqs, {"VisibilityTimeout": "720"}))
    assert sqs.deleted.is_set()
    assert _counted(sqs, "delete") == 4
    assert _counted(sqs, "release") == 0


def test_a_message_that_is_never_deleted_is_given_back_at_last(
    journal: _Journal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(queues, "pause_after", _shortly)
    sqs = _Sqs(journal, undeletable=1_000_000)
    asyncio.run(_deliver_one(sqs, {"VisibilityTimeout": "720"}))
    assert _counted(sqs, "delete") == 6
    assert _asked(sqs, "release")[0] == 0
    assert "1 messages are not deleted" in caplog.text


def test_what_came_before_an_outage_is_delivered(journal: _Journal) -> None:
    sqs = _Sqs(journal, unreachable=True)
    asyncio.run(_deliver_one(sqs, {}, batch=10, window=60))
    assert sqs.deleted.is_set()


def test_who_asks_whether_all_is_drained_does_not_wait_for_the_window(journal: _Journal) -> None:
    async def scenario() -> None:
        sqs, activity = _Sqs(journal), Activity()
        pump = _pump(sqs, {}, batch=10, window=3600, activity=activity)
        running = asyncio.create_task(pump.run())
        assert await asyncio.to_thread(sqs.waited_for.wait, 10)
        assert not await asyncio.to_thread(journal.settled.wait, 1)
        activity.hurry()
        assert await asyncio.to_thread(journal.settled.wait, 10)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(scenario())


def test_a_stop_ends_a_pump_whose_engine_ends_with_it(journal: _Journal) -> None:
    async def scenario() -> None:
        sqs = _Sqs(journal, unreachable=True)
        running = asyncio.create_task(_pump(sqs, {}, batch=10, window=60).run())
        assert await asyncio.to_thread(sqs.waited_for.wait, 10)
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=5)
        assert done
        assert running.cancelled()
        assert journal.received(ARN) == [RECEIPT], "the next start must release it"

    asyncio.run(scenario())


def _shortly(_failures: int) -> float:
    return 0.01


def _counted(sqs: _Sqs, what: str) -> int:
    return sum(1 for name, _, _ in sqs.asked if name == what)
