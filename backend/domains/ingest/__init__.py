"""Ingest: creates an asset and uploads its files with the same route."""
