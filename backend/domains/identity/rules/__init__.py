"""Decisions on credentials and users that need no I/O.

Each module is imported separately, because every function needs only some of them.
"""
