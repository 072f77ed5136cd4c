"""Stored roles and constraints, and the bodies and replies of their routes.

Each module is imported separately, because every function needs only some of them.
"""
