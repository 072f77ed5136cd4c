"""Operations on roles and constraints, and the caller's permissions.

Each module is imported separately, because every function needs only some of them.
"""
