"""The tables of API keys, users, their roles and constraints, by access pattern.

Each module is imported separately, because every function needs only some of them.
"""
