"""Notifications that are only recorded."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from backend.core.errors import VitrineError


@dataclass
class RememberedNotifications:
    """`fails` is raised instead, each error once."""

    addresses: list[str] = field(default_factory=list[str])
    sent: list[tuple[frozenset[str], str, str]] = field(
        default_factory=list[tuple[frozenset[str], str, str]]
    )
    fails: list[VitrineError] = field(default_factory=list[VitrineError])

    def add_address(self, email: str) -> None:
        self._fail()
        self.addresses.append(email)

    def send(self, emails: Iterable[str], *, subject: str, text: str) -> None:
        self._fail()
        self.sent.append((frozenset(emails), subject, text))

    def _fail(self) -> None:
        if self.fails:
            raise self.fails.pop(0)
