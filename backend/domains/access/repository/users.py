"""Audit entries of changes in the user pool, which none of our tables contains."""

from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.core.wired import wired


@wired
class SignInEntries:
    tables: Tables

    def add(self, entry: Put) -> None:
        """Write the entry of a call before the call is made."""
        self.tables.write(entry)
