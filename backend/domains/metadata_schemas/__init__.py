"""Metadata schemas: which keys entities of a type are expected to have, and of which kind."""
