"""Readers by format: each turns the bytes of one file into a scene, or refuses it with a reason."""
