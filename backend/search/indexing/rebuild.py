"""The only writer of the search indexes: take a ticket, read, project, write.

Why the order matters: every change is followed by a rebuild whose ticket is taken after the change
was made. Of all rebuilds of a document, the one with the highest ticket wins, in whatever order
they write, because the ticket is the document's version. It read after it took its ticket, so it
read every change that led to any of the others. Clocks, locks and the order of events are not used.

Two problems remain, and are solved here. Metadata can only be read through an eventually consistent
index, so documents whose metadata has changed are rebuilt once more when the index has caught up
(`settle`). Rebuilds for other reasons need none: if one reads too early, the rebuild that settles
the change of metadata has a later ticket. And
a deleted document would lose its version, so documents are never deleted: if the source no longer
exists, a tombstone is written, which queries exclude.
"""

from collections.abc import Collection, Iterable, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from backend.core.errors import ConflictError
from backend.core.queues import Queues
from backend.core.search_engine import DocumentRef, DocumentWrite
from backend.search.indexing.bulk import BulkWriter, Outcome, write_of
from backend.search.indexing.failures import Failures, count_metric
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.projections import (
    Document,
    project,
    reference_of,
    stub,
    wanted_geo_keys,
)
from backend.search.indexing.references import Reference, by_asset, to_messages
from backend.search.indexing.sources import Reading, Sources
from backend.search.indexing.state import SearchState, Ticket
from backend.spec.metrics import SEARCH_TICKETS_BEHIND
from backend.spec.queues import SETTLE
from backend.values import frozen

# References that are read under one ticket. Two such groups are in memory at a time.
REFERENCES_A_TICKET = 1000


class StoredVersionAheadError(ConflictError):
    """A stored document version is higher than the last one issued: the counter was reset.

    Continuing to write would lose changes silently. The operator who restores SearchState sets `n`
    above all stored versions; until then writers stop.
    """

    code = "StoredVersionAhead"

    def __init__(self, stored: int, last_ticket: int) -> None:
        super().__init__(
            f"A document has version {stored}, but the last version ticket is "
            f"{last_ticket}: set n of the SearchState item above all stored versions"
        )


@dataclass(slots=True)
class Rebuilt:
    """The result of a rebuild: documents that were written, were outdated, and were rejected."""

    written: int = 0
    overtaken: int = 0
    refused: int = 0

    def add(self, outcome: Outcome) -> None:
        self.written += outcome.written
        self.overtaken += outcome.overtaken
        self.refused += len(outcome.refused)


@frozen
class _Portion:
    """The documents written under one ticket, by physical index and id."""

    ticket: Ticket
    reading: Reading
    writes: list[DocumentWrite] = field(default_factory=list[DocumentWrite])
    documents: dict[DocumentRef, Document] = field(default_factory=dict[DocumentRef, Document])

    def add(self, document: Document, names: Set[str]) -> None:
        """Add a document to the writes for those of these indexes that have its kind."""
        for name in self.ticket.pointer.targets(document.index):
            if name in names:
                self.writes.append(self.write(document, name))
                self.documents[DocumentRef(name, document.id)] = document

    def write(self, document: Document, index_name: str) -> DocumentWrite:
        """Return the write of a document under the portion's ticket."""
        return write_of(document, index_name, self.ticket.number, tombstone_at=self.ticket.taken_at)


@dataclass(eq=False, repr=False)
class Rebuilder:
    """Builds documents from their sources; the module docstring explains the order."""

    state: SearchState
    sources: Sources
    geo_keys: GeoKeys
    writer: BulkWriter
    failures: Failures
    queues: Queues
    settle_delay_seconds: int

    def rebuild(
        self,
        references: Iterable[Reference],
        *,
        settles: Collection[Reference] | None = None,
        only: frozenset[str] | None = None,
    ) -> Rebuilt:
        """Build the documents of the references; all of them are written when this returns.

        The documents of `settles` are built again after the delay, which is longer than the lag:
        those whose metadata or attributes have changed, whether they exist or not; without it,
        all that were read through an index. `only` restricts the physical indexes to write to.

        Raises:
            UnavailableError: a table, bucket, queue or the engine failed; call again with the same
                references, even if some were written.
            StoredVersionAheadError: the ticket counter was reset.
        """
        done = Rebuilt()
        before: Future[None] = Future()
        before.set_result(None)
        # While one portion is written, the next is read and projected. Each has a ticket of its
        # own, taken before it is read, so the overlap is safe.
        with ThreadPoolExecutor(1) as writing:
            ordered = by_asset(set(references))
            for start in range(0, len(ordered), REFERENCES_A_TICKET):
                some = ordered[start : start + REFERENCES_A_TICKET]
                portion = self._portion(some, only)
                before.result()
                later = portion.reading.lagging if settles is None else {*settles} & {*some}
                before = writing.submit(self._finish, portion, done, later)
            before.result()
        return done

    def _portion(self, references: list[Reference], only: frozenset[str] | None) -> _Portion:
        """Take a ticket, read, and project."""
        # In this order: a ticket that is taken after reading could hide a change between both.
        ticket = self.state.issue_ticket()
        portion = _Portion(ticket, self.sources.read(references))
        wanted = wanted_geo_keys(portion.reading.sources)
        allowed = self.geo_keys.add_keys(wanted) if wanted else frozenset[str]()
        names = {name for name in ticket.pointer.names if only is None or name in only}
        for version in sorted({ticket.mappings[name] for name in names}):
            alike = {name for name in names if ticket.mappings[name] == version}
            for source in portion.reading.sources:
                portion.add(project(source, allowed, version), alike)
        return portion

    def _finish(self, portion: _Portion, done: Rebuilt, settles: Set[Reference]) -> None:
        """Write; request the settling only after all documents are written."""
        reading = portion.reading
        if portion.writes:
            outcome = self.writer.write(portion.writes)
            highest = outcome.highest_stored
            if highest > portion.ticket.number and highest > (last := self.state.last_ticket()):
                count_metric(SEARCH_TICKETS_BEHIND, self.failures.consumer)
                # Lower tickets would be refused as outdated, and the changes would be lost without
                # an error.
                raise StoredVersionAheadError(highest, last)
            done.add(outcome)
            # Rejected documents are stored as failures, and as stubs so that they can be found.
            stubs: list[DocumentWrite] = []
            for write, reason in outcome.refused:
                document = portion.documents[DocumentRef(write.index, write.id)]
                self._store_failure(write, document, reason)
                stubs.append(portion.write(stub(document), write.index))
            for write, reason in self.writer.write(stubs).refused if stubs else ():
                document = portion.documents[DocumentRef(write.index, write.id)]
                fact = f"the stub was refused too: {reason}"
                self._store_failure(write, document, fact, suffix="/stub")
        for unreadable in reading.unreadable:
            name = f"{unreadable.asset.database_id}:{unreadable.asset.asset_id}"
            self.failures.store(name, None, unreadable.reason, references=unreadable.references)
        if settles:
            messages = list(to_messages(settles))
            self.queues.send(SETTLE, messages, delay_seconds=self.settle_delay_seconds)

    def _store_failure(
        self, write: DocumentWrite, document: Document, reason: str, *, suffix: str = ""
    ) -> None:
        name = f"{write.index}/{write.id}{suffix}"
        self.failures.store(name, write.body, reason, references=(reference_of(document),))
