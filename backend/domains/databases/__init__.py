"""Databases: the collections that assets belong to."""
