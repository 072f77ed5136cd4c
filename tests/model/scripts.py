"""Written histories of the model: each shows the purpose of one rule of the product."""

from tests.model.lifecycle import Lifecycle
from tests.model.values import VALUES
from tests.model.world import Delivery


def started_delivery(state: Lifecycle, consumer: str, *, at: str) -> Delivery:
    """Deliver to a consumer, and stop it before a request of this kind."""
    waiting = [name for name, records in state.world.streams.items() if records]
    state.world.deliver(waiting.index(consumer), size=10)
    delivery = state.world.underway[-1]
    while delivery.worker.at != at:
        delivery.worker.step()
        assert not delivery.worker.has_ended, f"{consumer} makes no request {at!r}"
    return delivery


def described(state: Lifecycle, description: str) -> None:
    state.edit_asset(0, None, description, None, True)


def renamed(state: Lifecycle) -> None:
    """The files of an asset inherit its name."""
    state.edit_asset(0, "Another name", None, None, True)


def writer_that_is_overtaken(state: Lifecycle) -> None:
    """A worker has read, the asset changes and is indexed, and then the worker writes."""
    described(state, "As it was")
    started_delivery(state, "IndexChanges", at="bulk")
    described(state, "As it is")


def reader_that_is_overtaken(state: Lifecycle) -> None:
    """The asset changes, and is indexed, while a worker is about to take its ticket."""
    described(state, "As it was")
    started_delivery(state, "IndexChanges", at="ticket")
    described(state, "As it is")


def writer_that_comes_after_a_deletion(state: Lifecycle) -> None:
    """A worker has read, the asset is deleted, and then the worker writes."""
    described(state, "As it was")
    started_delivery(state, "IndexChanges", at="bulk")
    state.delete(0, None)


def outage(state: Lifecycle) -> None:
    """A consumer meets an outage at its first request."""
    described(state, "As it is")
    started_delivery(state, "IndexChanges", at="ticket")
    state.fail(len(state.world.underway) - 1)


def metadata_behind_an_index(state: Lifecycle) -> None:
    """Metadata is indexed before the index that it is read from contains it."""
    state.set_metadata(0, 0, {"material": VALUES[0]}, False)


def deletion_behind_an_index(state: Lifecycle) -> None:
    """An asset is deleted before the index contains its last metadata."""
    state.set_metadata(0, 0, {"material": VALUES[0]}, False)
    state.delete(0, None)


def deletion(state: Lifecycle) -> None:
    """The id and the prefix of a deleted asset are free again."""
    state.delete(0, None)


def archiving_that_is_cancelled(state: Lifecycle) -> None:
    """The asset is archived before any of its files is hidden, and remains so."""
    asset = state.model.active()[0]
    dies = 1
    while not asset.is_archived:  # until its transaction is the last request
        state.archive(0, dies)
        dies += 1
    state.cancel_job(0, True)


def archiving_and_back(state: Lifecycle) -> None:
    """The files that archiving hid are visible again."""
    state.archive(0, None)
    state.world.drain()
    state.unarchive(0, None)


ALL = (
    writer_that_is_overtaken,
    reader_that_is_overtaken,
    writer_that_comes_after_a_deletion,
    outage,
    metadata_behind_an_index,
    deletion_behind_an_index,
    deletion,
    renamed,
    archiving_that_is_cancelled,
    archiving_and_back,
)
