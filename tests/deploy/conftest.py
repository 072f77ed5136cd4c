"""Accounts in which the stage `prod` is deployed, by the commands of the page on deploying."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.cloudformation.building import Place
from tests.deploy.account import Account, account
from tests.journeys.runtime import Runtime

ELSEWHERE = Place("111122223333", "eu-central-1")
"""An account and region other than those of the local runtime."""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An account in which all stacks are deployed."""
    with account(tmp_path_factory.mktemp("account"), place=ELSEWHERE) as result:
        result.bootstrap()
        result.deploy()
        yield result


class Running(NamedTuple):
    """An account, and the runtime of its deployed stacks."""

    account: Account
    runtime: Runtime


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An account in which all stacks are deployed and run on engines."""
    folder = tmp_path_factory.mktemp("running")
    with account(folder, str(folder / "state")) as result:
        result.bootstrap()
        result.deploy()
        runtime = Runtime(folder / "state")
        yield Running(result, runtime)
        runtime.connections.close()
