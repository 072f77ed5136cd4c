"""Databases for tests that purge none."""

from backend.domains.databases.service import Purges


def no_purges() -> Purges:
    """For routers of tests that send no request to purge a database."""
    raise AssertionError("no purge is expected")
