"""Purging databases: the request, and the steps of its job.

Only the worker imports `jobs`, because it needs most slices.
"""
