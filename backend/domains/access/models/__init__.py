"""API keys, users and roles as stored, and the bodies and replies of their routes.

Each is imported from its own module: every function loads some of them, and none loads all.
"""
