"""Failures for administrators: list, get, replay."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock
from backend.core.errors import NotFoundError, UnavailableError
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditNotes
from backend.operations.models import ReplayBody
from backend.search.maintenance.failure_entries import (
    FailureEntries,
    FailureSummary,
    StoredFailure,
    kind_of,
    position_of,
    summary_of,
)
from backend.search.maintenance.replay import Replayed, Replayer
from backend.spec.routes import REPLAY_FAILURES

# A job is not needed, since nothing is incomplete between two entries.
# Time in which a request starts replays; the client repeats the request. One may take seconds, of
# the 24 of a request (decision 17).
BUDGET = timedelta(seconds=3)
_FAILURE = Secured("failure")
_PAGE = 50


class FailureNotFoundError(NotFoundError):
    code = "FailureNotFound"

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no failure {key}")


@dataclass(eq=False, repr=False)
class FailureService:
    entries: FailureEntries
    replayer: Replayer
    authorization: Authorization
    notes: AuditNotes
    clock: Clock

    def list_failures(
        self, caller: Identity, page: PageRequest, *, consumer: str | None = None
    ) -> Page[FailureSummary]:
        """List failures in key order, optionally those of one consumer."""
        require(self.authorization, caller, "GET", _FAILURE)
        return self.entries.page(page, consumer=consumer)

    def get_failure(self, caller: Identity, key: str) -> tuple[FailureSummary, StoredFailure]:
        """Return one failure with its stored message.

        Raises:
            FailureNotFoundError: the failure does not exist.
        """
        require(self.authorization, caller, "GET", _FAILURE)
        stored = self.entries.read(key)
        if stored is None:
            raise FailureNotFoundError(key)
        return summary_of(key, len(stored.text.encode()), stored.text), stored

    def replay_failures(
        self, caller: Identity, body: ReplayBody
    ) -> tuple[list[Replayed], str | None]:
        """Replay failures until the time of a request is used up.

        Returns the result for each failure, and the key to continue after if some remain. An outage
        after the first one ends the request as a lack of time does.

        Raises:
            UnavailableError: an outage prevents the first replay, or its audit entry.
        """
        require(self.authorization, caller, "POST", _FAILURE)
        request = body.model_dump(by_alias=True, exclude_none=True)
        of = body.consumer or ("keys" if body.keys is not None else "all")
        self.notes.record(
            caller, REPLAY_FAILURES.name, audit_entity("failures", of), request=request
        )
        if body.keys is not None:
            return self._replay(dict.fromkeys(body.keys), self.clock() + BUDGET)
        until = self.clock() + BUDGET
        position = None if body.after is None else position_of(body.after)
        page = self.entries.page(PageRequest(_PAGE, position), consumer=body.consumer)
        while not page.items and page.after is not None:  # entries of other consumers come first
            if self.clock() >= until and kind_of(page.after["key"]) is not None:
                return [], page.after["key"]
            page = self.entries.page(PageRequest(_PAGE, page.after), consumer=body.consumer)
        done, left = self._replay([item.key for item in page.items], until)
        if left is not None or page.after is None:
            return done, left
        return done, page.items[-1].key

    def _replay(self, keys: Iterable[str], until: datetime) -> tuple[list[Replayed], str | None]:
        done: list[Replayed] = []
        for key in keys:
            if done and self.clock() >= until:
                return done, done[-1].key
            try:
                done.append(self.replayer.replay(key))
            except UnavailableError:
                if not done:
                    raise
                return done, done[-1].key
        return done, None
