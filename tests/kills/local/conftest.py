"""Runtimes of the small deployment for one test, which it may kill."""

from tests.integration.local.conftest import fresh

__all__ = ["fresh"]
