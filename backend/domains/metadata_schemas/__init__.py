"""Metadata schemas: the expected metadata keys of entities, and their types."""
