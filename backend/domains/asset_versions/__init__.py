"""Versions of assets: snapshots of their files, metadata and attributes under a number."""
