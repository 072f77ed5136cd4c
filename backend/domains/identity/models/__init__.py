"""Stored API keys and users, and the bodies and replies of their routes.

Each module is imported separately, because every function needs only some of them.
"""
