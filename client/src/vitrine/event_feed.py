"""Receives the events of a local runtime, from a queue that speaks the protocol of SQS."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx
from pydantic import BaseModel, Field, ValidationError

from vitrine.errors import ProtocolError, UnreachableError
from vitrine.wire import Wire

WAIT_SECONDS: Final = 10
_BATCH: Final = 10  # messages of a request at most
_HIDDEN_SECONDS: Final = 30
_REMEMBERED: Final = 10_000  # events of which repetitions are left out
_JSON: Final = "application/x-amz-json-1.0"


class EventDetail(Wire):
    """The fields of all events; others depend on the type (docs/reference/events.md)."""

    id: str
    number: int
    at: str
    actor: str
    database_id: str
    asset_id: str
    file_path: str = ""


class AssetEvent(Wire):
    """An event as it was published."""

    type: str = Field(alias="detail-type")
    detail: EventDetail


class _Message(BaseModel):
    body: str = Field(alias="Body")
    receipt: str = Field(alias="ReceiptHandle")


class _Messages(BaseModel):
    messages: list[_Message] = Field(alias="Messages", default=[])


def receive_events(
    url: str, *, follow: bool, http: httpx.BaseTransport | None = None
) -> Iterator[AssetEvent]:
    """Yield events and remove each from the queue; wait for further ones with `follow`.

    Repetitions of the last 10,000 events are only removed.

    Raises:
        UnreachableError: the queue does not respond.
        ProtocolError: its response is not one of a queue with events.
    """
    # The address of the engine has a path, which nobody else on this machine knows.
    address = url.rsplit("/", 2)[0] + "/"

    def request(client: httpx.Client, action: str, body: Mapping[str, Any]) -> bytes:
        target = {"X-Amz-Target": f"AmazonSQS.{action}", "Content-Type": _JSON}
        try:
            reply = client.post(address, headers=target, json={"QueueUrl": url, **body})
            reply.raise_for_status()
        except httpx.TransportError as error:
            raise UnreachableError(f"{address} does not respond: {error}") from error
        except httpx.HTTPStatusError as error:
            raise ProtocolError(f"{address} refused {action}: {error.response.text}") from error
        return reply.content

    waiting = {
        "MaxNumberOfMessages": _BATCH,
        "WaitTimeSeconds": WAIT_SECONDS if follow else 0,
        "VisibilityTimeout": _HIDDEN_SECONDS,
    }
    yielded = OrderedDict[str, None]()
    with httpx.Client(transport=http, timeout=WAIT_SECONDS + 30.0) as client:
        while True:
            content = request(client, "ReceiveMessage", waiting)
            try:
                messages = _Messages.model_validate_json(content).messages
                events = [AssetEvent.model_validate_json(message.body) for message in messages]
            except ValidationError as error:
                raise ProtocolError(f"{address} has what is no event: {error}") from error
            if not messages and not follow:
                return
            for message, event in zip(messages, events, strict=True):
                if event.detail.id not in yielded:
                    yield event
                    yielded[event.detail.id] = None
                    if len(yielded) > _REMEMBERED:
                        yielded.popitem(last=False)
                request(client, "DeleteMessage", {"ReceiptHandle": message.receipt})
