"""Shared by all parts of a store: the table, the clock, new ids, the place of artifacts."""

import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from vitrine_mlflow import keys
from vitrine_mlflow.config import Config
from vitrine_mlflow.database import Database, OwnedDatabase
from vitrine_mlflow.expressions import Put, with_key
from vitrine_mlflow.keys import DEFAULT_WORKSPACE

# MLflow's API returns ids of experiments as 32-bit integers in some replies.
EXPERIMENT_IDS = range(100_000_000, 2**31)
_RANDOM = random.SystemRandom()


def _random_name() -> str:
    from vitrine_mlflow.mlflow_api import generate_random_name  # noqa: PLC0415 - loads MLflow

    return generate_random_name()


@dataclass(frozen=True)
class Sources:
    """The sources of times, ids and names; tests replace them."""

    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    new_hex: Callable[[], str] = lambda: uuid.uuid4().hex
    # Random rather than counted: a counter would be one item that all creations write to.
    new_experiment_id: Callable[[], str] = lambda: str(_RANDOM.choice(EXPERIMENT_IDS))
    random_name: Callable[[], str] = _random_name


class Isolation(Protocol):
    """Workspaces of requests, where they are enabled."""

    def active(self) -> str:
        """Return the workspace of the current request."""
        ...

    def artifact_root(self, default: str, workspace: str) -> str:
        """Return the root of the artifacts of a workspace's experiments."""
        ...


@dataclass(frozen=True)
class Context:
    database: Database  # all of it: only for what no request of a workspace does
    artifact_root: str
    sources: Sources = field(default_factory=Sources)
    isolation: Isolation | None = None  # without it, everything is in the default workspace

    @cached_property
    def owned_database(self) -> Database:
        """The table as the workspace of the request sees it; every part of a store uses it."""
        if self.isolation is None:
            return self.database
        return OwnedDatabase(self.database, self.isolation.active)

    @cached_property
    def config(self) -> Config:
        """The settings in the table, which all parts of a store read together."""
        return Config(self.database)

    @property
    def workspace(self) -> str:
        return DEFAULT_WORKSPACE if self.isolation is None else self.isolation.active()

    @cached_property
    def _default_workspaces(self) -> set[str]:
        return {DEFAULT_WORKSPACE}

    def record_workspace(self) -> None:
        """Add the request's workspace to those that may have resources in the table.

        Called before a resource is created.
        """
        workspace = self.workspace
        if workspace not in self._default_workspaces:
            # The list of workspaces may be in another table.
            key = keys.WORKSPACE_USED.key(workspace=workspace)
            self.database.write([Put(with_key(key, {}))])
            self._default_workspaces.add(workspace)

    def root_of(self, workspace: str) -> str:
        if self.isolation is None:
            return self.artifact_root
        return self.isolation.artifact_root(self.artifact_root, workspace)
