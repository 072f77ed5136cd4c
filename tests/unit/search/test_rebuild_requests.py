"""Rebuilds that domains request are sent at once, and again when indexes have caught up."""

from backend.core.queues import Queues
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.search.indexing.rebuild_requests import QueuedRebuildRequests
from backend.search.indexing.references import Reference, from_message
from tests.fakes.queues import MemoryQueues


def read_requests(queues: MemoryQueues) -> dict[int, set[Reference]]:
    """The requested rebuilds, by the delay of the messages."""
    rebuilds: dict[int, set[Reference]] = {}
    for _, body, delay in queues.sent:
        rebuilds.setdefault(delay, set()).update(from_message(body))
    return rebuilds


def made(queues: Queues) -> QueuedRebuildRequests:
    return QueuedRebuildRequests(queues, settle_delay_seconds=900)


def test_rebuilds_of_assets_files_and_keys_are_requested_twice() -> None:
    queues = MemoryQueues()
    made(queues).assets([AssetRef("museum", "pump"), AssetRef("museum", "coin")])
    made(queues).files("museum", "pump", ["/a.glb"])
    made(queues).keys("museum", "pump", ["elsewhere/b.glb"])
    everything = {
        AssetRef("museum", "pump"),
        AssetRef("museum", "coin"),
        FileRef("museum", "pump", "/a.glb"),
        FileKeyRef("museum", "pump", "elsewhere/b.glb"),
    }
    assert read_requests(queues) == {0: everything, 900: everything}
    assert {name for name, _, _ in queues.sent} == {"Settle"}


def test_thousands_of_files_are_requested_in_messages_that_fit() -> None:
    queues = MemoryQueues()
    paths = [f"/{'long' * 50}/{number}.glb" for number in range(3000)]
    made(queues).files("museum", "pump", paths)
    assert {delay: len(references) for delay, references in read_requests(queues).items()} == {
        0: 3000,
        900: 3000,
    }
    assert len(queues.sent) > 2


def test_nothing_is_sent_for_nothing() -> None:
    queues = MemoryQueues()
    made(queues).files("museum", "pump", [])
    assert queues.sent == []
