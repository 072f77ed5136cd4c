"""What access decides without reading anything.

Each is imported from its own module: every function loads some of them, and none loads all.
"""
