"""What can be done with API keys, roles, users and constraints, and what they tell of a caller.

Each is imported from its own module: every function loads some of them, and none loads all.
"""
