"""Purging databases: the request, and the steps of its job.

`jobs` is for the worker alone, which imports it itself: it needs most slices.
"""

from backend.domains.database_purges.service.commands import PurgeCommands

__all__ = ["PurgeCommands"]
