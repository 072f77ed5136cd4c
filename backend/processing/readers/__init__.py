"""Readers by format.

Each converts the bytes of one file to a scene, or rejects it with a reason.
"""
