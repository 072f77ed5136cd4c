"""Searches: queries, their filters and words, hits, facets and suggestions."""
