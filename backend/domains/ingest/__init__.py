"""Ingest: an asset and the upload of its files in one call."""
