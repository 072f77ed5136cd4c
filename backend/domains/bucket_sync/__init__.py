"""Bucket sync: objects that other programs write into a bucket become assets and files."""
