"""Databases for tests that purge none."""

from backend.domains.databases.service import Purges


def no_purges() -> Purges:
    """For routers of tests in which no request purges a database."""
    raise AssertionError("no purge is expected")
