"""Exports: an asset, or the tree below it, with files, metadata and links, page by page."""
