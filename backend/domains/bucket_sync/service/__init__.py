"""Follows objects that other programs write into buckets: by events, or by an import."""
