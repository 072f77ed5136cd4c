"""Engines of one test module, which it may kill."""

from tests.integration.local.engines.conftest import site, tools

__all__ = ["site", "tools"]
