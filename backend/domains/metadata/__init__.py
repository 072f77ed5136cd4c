"""Metadata of assets and files, attributes of files: typed values under keys."""
