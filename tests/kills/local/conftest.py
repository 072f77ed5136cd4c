"""Runtimes of the small deployment of a test's own, which it may kill."""

from tests.integration.local.conftest import fresh

__all__ = ["fresh"]
