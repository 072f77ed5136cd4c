"""The tables of API keys, users, their roles and constraints, by access pattern.

Each is imported from its own module: every function loads some of them, and none loads all.
"""
