"""Entries of what is done to sign-ins, which no table of ours holds."""

from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.core.wired import wired


@wired
class SignInEntries:
    tables: Tables

    def add(self, entry: Put) -> None:
        """Write the entry of a call that is made next."""
        self.tables.write(entry)
