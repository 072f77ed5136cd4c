"""Registered models, their versions, tags and aliases."""
