"""Bucket sync: what others write straight into a bucket becomes assets and files."""
