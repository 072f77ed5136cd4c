"""Operations on API keys, roles, users and constraints, and what they grant a caller.

Each is imported from its own module: every function loads some of them, and none loads all.
"""
