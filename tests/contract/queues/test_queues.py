"""The contract of the port of queues, on all supported engines.

Standard queues keep no order and may deliver twice, which the suite allows; none of these engines
does so by itself. (The consumers' own tests deliver twice and out of order.)
"""

from collections.abc import Callable
from typing import Any

from backend.spec.queues import SETTLE
from tests.contract.queues.conftest import Mailbox

PATIENCE_SECONDS = 60


def bodies(mailbox: Mailbox) -> list[Any]:
    return [item.body for item in mailbox.receive()]


def arrived(mailbox: Mailbox, count: int, after: Callable[[], object]) -> tuple[list[Any], float]:
    """The bodies that arrive after a call, and the time until the first of them."""
    began = mailbox.now()
    after()
    result: list[Any] = []
    first = 0.0
    while len(result) < count:
        assert mailbox.now() < began + PATIENCE_SECONDS
        mailbox.wait(0.05)
        came = bodies(mailbox)
        if came and not result:
            first = mailbox.now() - began
        result += came
    return result, first


def test_bodies_arrive_as_they_were_sent(mailbox: Mailbox) -> None:
    sent: list[object] = [{"a": [1, 2.5, None, True]}, ["ä€😀\n\x01"], "text", "a\ud800b"]
    mailbox.queues.send(SETTLE, sent)
    assert sorted(map(repr, bodies(mailbox))) == sorted(map(repr, sent))


def test_nothing_sent_is_nothing(mailbox: Mailbox) -> None:
    mailbox.queues.send(SETTLE, [])
    assert bodies(mailbox) == []


def test_more_messages_than_a_request_takes_all_arrive(mailbox: Mailbox) -> None:
    mailbox.queues.send(SETTLE, [{"n": n} for n in range(25)])
    assert sorted(body["n"] for body in bodies(mailbox)) == list(range(25))


def test_large_bodies_go_in_several_requests(mailbox: Mailbox) -> None:
    mailbox.queues.send(SETTLE, [{"n": n, "x": "x" * 200_000} for n in range(4)])
    assert sorted(body["n"] for body in bodies(mailbox)) == list(range(4))


def test_a_delayed_message_comes_after_its_delay(mailbox: Mailbox) -> None:
    def send() -> None:
        mailbox.queues.send(SETTLE, ["later"], delay_seconds=1)

    result, seconds = arrived(mailbox, 1, send)
    assert (result, seconds >= 1) == (["later"], True)


def test_a_received_message_is_hidden_until_it_is_postponed_to_now(mailbox: Mailbox) -> None:
    mailbox.queues.send(SETTLE, ["one"])
    (received,) = mailbox.receive()
    assert mailbox.receive() == []
    mailbox.queues.postpone(SETTLE, [received.receipt], seconds=0)
    (again,) = mailbox.receive()
    assert again.body == "one"


def test_a_postponed_message_arrives_after_its_new_delay(mailbox: Mailbox) -> None:
    mailbox.queues.send(SETTLE, list(range(12)))
    receipts = [item.receipt for item in mailbox.receive()]
    assert len(receipts) == 12

    def postpone() -> None:
        mailbox.queues.postpone(SETTLE, receipts, seconds=1)

    result, seconds = arrived(mailbox, 12, postpone)
    assert (sorted(result), seconds >= 1) == (list(range(12)), True)


def test_receipts_that_are_no_longer_good_are_left_out(mailbox: Mailbox) -> None:
    mailbox.queues.send(SETTLE, ["one"])
    (received,) = mailbox.receive()
    mailbox.queues.postpone(SETTLE, ["no receipt", received.receipt], seconds=0)
    assert bodies(mailbox) == ["one"]
