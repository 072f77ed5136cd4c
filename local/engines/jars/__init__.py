"""Jars from a Maven repository: pinned, verified, stored once.

`<engine>.lock` has the list of each engine.
"""
