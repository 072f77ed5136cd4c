"""Audit entries of changes in the user pool, which none of our tables contains."""

from dataclasses import dataclass

from backend.core.tables import Tables
from backend.core.transactions import Put


@dataclass(eq=False, repr=False)
class SignInEntries:
    tables: Tables

    def add(self, entry: Put) -> None:
        """Write the entry of a call before the call is made."""
        self.tables.write(entry)
