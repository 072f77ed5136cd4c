"""The tables of API keys and users, by access pattern.

Each module is imported separately, because every function needs only some of them.
"""
