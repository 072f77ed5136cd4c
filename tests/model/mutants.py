"""The product with one rule broken on purpose: the model must detect each of these.

If indexes lag, building documents once more corrects many errors. So other rules are tested without
lag and without building anything once more.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from backend.core.errors import UnavailableError
from backend.domains.asset_lifecycle import rules as lifecycle_rules
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service import jobs as deletion
from backend.domains.assets import rules as asset_rules
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import AssetRepository
from backend.search.indexing.consumers import StreamConsumer
from backend.search.indexing.fan_out import FanOuts
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.spec.queues import SETTLE
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine
from tests.model import scripts
from tests.model.deployment import SETTLE_SECONDS
from tests.model.lifecycle import Lifecycle
from tests.model.running import WithoutLag


@dataclass(frozen=True)
class Mutant:
    """The broken rule, the history that shows it, and the beginning of the failure."""

    name: str
    breaks: Callable[[], AbstractContextManager[object]]
    history: Callable[[Lifecycle], None]
    machine: type[Lifecycle] = Lifecycle
    shows: str = "(stale|extra|missing): "


def nothing(*_: object, **__: object) -> None:
    """The replacement of a part that is left out."""


def no_versions() -> AbstractContextManager[object]:
    """The engine accepts every write, whatever its version."""
    init = MemorySearchEngine.__init__

    def unversioned(self: MemorySearchEngine, **given: Any) -> None:
        init(self, **given, versioned=False)

    return patch.object(MemorySearchEngine, "__init__", unversioned)


def read_before_ticket() -> AbstractContextManager[object]:
    """A rebuild reads before it takes its ticket."""
    portion = Rebuilder._portion  # pyright: ignore[reportPrivateUsage]

    def early(self: Rebuilder, references: list[Any], only: frozenset[str] | None) -> Any:
        reading = self.sources.read(references)
        ticket = self.state.issue_ticket()
        with (
            patch.object(Sources, "read", return_value=reading),
            patch.object(SearchState, "issue_ticket", return_value=ticket),
        ):
            return portion(self, references, only)

    return patch.object(Rebuilder, "_portion", early)


def no_settling() -> AbstractContextManager[object]:
    """Documents that were read from a lagging index are not built once more."""
    send = MemoryQueues.send

    def dropping(self: MemoryQueues, queue: Any, bodies: Any, *, delay_seconds: int = 0) -> None:
        if queue is not SETTLE or delay_seconds != SETTLE_SECONDS:
            send(self, queue, bodies, delay_seconds=delay_seconds)

    return patch.object(MemoryQueues, "send", dropping)


def no_fan_out() -> AbstractContextManager[object]:
    """The files of a renamed asset keep its old name."""
    return patch.object(FanOuts, "start", nothing)


def archive_without_inherited_revision() -> AbstractContextManager[object]:
    """An asset is archived without a rebuild of its files."""
    archived = lifecycle_rules.archived_form

    def silent(asset: Asset, **how: Any) -> Asset:
        kept = {"inherited_revision": asset.inherited_revision}
        return archived(asset, **how).model_copy(update=kept)

    return patch.object(lifecycle_rules, "archived_form", silent)


def reservations_kept() -> AbstractContextManager[object]:
    """A deleted asset keeps its id and its prefix."""
    return patch.object(AssetRepository, "release", nothing)


def outage_acknowledged() -> AbstractContextManager[object]:
    """A consumer acknowledges its batch despite an outage."""
    consume = StreamConsumer.consume

    def swallowing(self: StreamConsumer, event: Any) -> Any:
        try:
            return consume(self, event)
        except UnavailableError:
            return {"batchItemFailures": []}

    return patch.object(StreamConsumer, "consume", swallowing)


def one_sweep() -> AbstractContextManager[object]:
    """A deletion has no second sweep for what indexes did not contain yet."""
    return patch.multiple(deletion, MIN_SWEEPS=1, MAX_SWEEPS=1)


def rename_without_inherited_revision() -> AbstractContextManager[object]:
    """An asset is renamed without a rebuild of its files."""
    return patch.object(asset_rules, "INHERITED_BY_FILES", frozenset[str]())


def archived_pages_not_read() -> AbstractContextManager[object]:
    """A restoration ignores the record of the archived files."""
    return patch.object(LifecycleRepository, "first_page", nothing)


MUTANTS = (
    Mutant("no versions", no_versions, scripts.writer_that_is_overtaken, WithoutLag),
    Mutant(
        "sources are read before the ticket",
        read_before_ticket,
        scripts.reader_that_is_overtaken,
        WithoutLag,
    ),
    Mutant("a consumer acknowledges", outage_acknowledged, scripts.outage, WithoutLag),
    Mutant("no settling", no_settling, scripts.metadata_behind_an_index),
    Mutant("no fan-out", no_fan_out, scripts.renamed),
    Mutant("rename without inheritedRevision", rename_without_inherited_revision, scripts.renamed),
    Mutant(
        "archive without inheritedRevision",
        archive_without_inherited_revision,
        scripts.archiving_that_is_cancelled,
    ),
    Mutant("reservations kept", reservations_kept, scripts.deletion, shows="reservations: "),
    Mutant("one sweep", one_sweep, scripts.deletion_behind_an_index, shows="records: "),
    Mutant(
        "archived files not restored",
        archived_pages_not_read,
        scripts.archiving_and_back,
        shows="pump/a.glb: ObjectVersion",
    ),
)
