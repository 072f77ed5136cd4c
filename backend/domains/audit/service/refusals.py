"""Counts refusals, and writes entries of a sample, which shows who attempted what.

The entry is a separate write after the decision: a refused request has no transaction. If the entry
cannot be written, the reply is unchanged, the refusal is counted as not recorded, and no entry is
attempted for a while.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from backend.core.clock import Clock, epoch_seconds, iso
from backend.core.denials import Denial
from backend.core.errors import UnavailableError
from backend.core.ids import NewId
from backend.domains.audit import rules
from backend.domains.audit.models import Denied, Entry, denial_entity
from backend.domains.audit.repository import AuditRepository, put

# Entries of one user in a minute, per process. A refused caller may repeat requests without end,
# and each entry costs two write units; the next one has the number left out (decision 15).
ENTRIES_OF_USER = 10
# Entries of all users in a minute, per process. Many users together must not fill the table either.
ENTRIES_OF_ALL = 100
# Users whose omitted entries are counted, so that a process needs bounded memory.
USERS = 1000
# Time without new entries after the table did not respond: each attempt may take two seconds of a
# request.
PAUSE = timedelta(seconds=60)


class Counter(Protocol):
    """Counts every refusal, and those that should have been recorded and were not."""

    def denied(self, denial: Denial) -> None: ...
    def not_entered(self, denial: Denial, reason: str) -> None: ...


class Sampler:
    """Decides which refusals are recorded, in one process. Each user has a limit per minute."""

    def __init__(self) -> None:
        self._minute = 0
        self._entered: dict[str, int] = {}
        self._left_out: dict[str, int] = {}

    def admit(self, user_id: str, at: datetime) -> int | None:
        """Return None to leave it out, else the number left out since the user's last entry."""
        minute = epoch_seconds(at) // 60
        if minute != self._minute:
            self._minute, self._entered = minute, {}
        mine = self._entered.get(user_id, 0)
        if mine >= ENTRIES_OF_USER or sum(self._entered.values()) >= ENTRIES_OF_ALL:
            self.leave_out(user_id)
            return None
        self._entered[user_id] = mine + 1
        return self._left_out.pop(user_id, 0)

    def leave_out(self, user_id: str, number: int = 1) -> None:
        """Count refusals without an entry, for the user's next one."""
        before = self._left_out.pop(user_id, 0)
        while len(self._left_out) >= USERS:
            del self._left_out[next(iter(self._left_out))]  # the user who was refused longest ago
        self._left_out[user_id] = before + number


class RefusalTrail:
    """Counts and records refusals; `audit` uses a client with short time-outs."""

    def __init__(
        self,
        audit: AuditRepository,
        counter: Counter,
        *,
        days: Callable[[], int],
        clock: Clock,
        suffix: NewId,
    ) -> None:
        self._audit = audit
        self._counter = counter
        self._days = days
        self._clock = clock
        self._suffix = suffix
        self._sampler = Sampler()
        self._paused_until: datetime | None = None

    def record(self, denial: Denial) -> None:
        """Count a refusal, and record it unless there were many (see the port)."""
        self._counter.denied(denial)
        now = self._clock()
        user_id = denial.caller.user_id
        left_out = self._sampler.admit(user_id, now)
        if left_out is None:
            return
        if self._paused_until is not None and now < self._paused_until:
            self._sampler.leave_out(user_id, left_out + 1)
            self._counter.not_entered(denial, "the table did not answer lately")
            return
        try:
            self._audit.add(put(self._entry(denial, left_out, now)))
        except UnavailableError as error:
            self._paused_until = now + PAUSE
            self._sampler.leave_out(user_id, left_out + 1)
            self._counter.not_entered(denial, error.message)

    def _entry(self, denial: Denial, left_out: int, at: datetime) -> Entry:
        return Entry(
            entity=denial_entity(denial.route, denial.path),
            at=iso(at) + rules.SEPARATOR + self._suffix(),
            user_id=denial.caller.user_id,
            operation=denial.route.name,
            changes={},
            denied=Denied(
                refusal=denial.refusal,
                route=denial.route.key,
                action=denial.action,
                object_type=denial.object_type,
                path=rules.shown_path(denial.path),
                left_out=left_out,
            ),
            expires_at=epoch_seconds(at + timedelta(days=self._days())),
        )
