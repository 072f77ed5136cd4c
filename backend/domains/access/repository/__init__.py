"""The tables of roles, assignments and constraints, by access pattern.

Each module is imported separately, because every function needs only some of them.
"""
