"""Accounts in which the stage `prod` is deployed, by the commands of the page on deploying."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.cloudformation.building import Place
from tests.deploy.account import Account, account
from tests.journeys.runtime import Runtime

ELSEWHERE = Place("111122223333", "eu-central-1")
"""Another account and region than those of the local runtime."""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An account in which everything is deployed."""
    with account(tmp_path_factory.mktemp("account"), place=ELSEWHERE) as found:
        found.bootstrap()
        found.deploy()
        yield found


class Running(NamedTuple):
    """An account, and the runtime that runs what is deployed there."""

    account: Account
    runtime: Runtime


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An account in which everything is deployed and runs on engines."""
    folder = tmp_path_factory.mktemp("running")
    with account(folder, str(folder / "state")) as found:
        found.bootstrap()
        found.deploy()
        runtime = Runtime(folder / "state")
        yield Running(found, runtime)
        runtime.connections.close()
