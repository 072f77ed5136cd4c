"""Purging databases: the request, and the steps of its job.

Only the worker imports `jobs`, because it needs most slices.
"""

from backend.domains.database_purges.service.commands import PurgeCommands

__all__ = ["PurgeCommands"]
