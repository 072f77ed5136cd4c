"""The stage `prod` of an older commit is upgraded to this one, on the stand-in.

The older commit had mapping version 4 of the search indexes, functions whose names CloudFormation
generated, and no stack of alarms: its upgrade replaces resources and moves exports.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cloudformation.building import Place
from tests.deploy import guide
from tests.deploy.account import Account, account
from tests.infra.released import DATA_TYPES

BEFORE = "0de5538cb4f8c866601e615a87405a7e2ba4a6fa^"
"""The parent of the commit that raised the mapping version to 5."""
FOREIGN = Place("111122223333", "eu-central-1")


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembly of the older commit, written by its own code with today's packages."""
    folder = tmp_path_factory.mktemp("older")
    archive = subprocess.run(
        ["git", "archive", BEFORE], cwd=guide.ROOT, capture_output=True, check=False
    )
    assert archive.returncode == 0, "the history is missing: run `git fetch --unshallow`"
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    (folder / ".venv").symlink_to(guide.ROOT / ".venv")  # has the command that builds layers
    context = json.dumps({"stage": guide.STAGE})
    environment = {**os.environ, "CDK_CONTEXT_JSON": context, "CDK_OUTDIR": str(folder / "out")}
    subprocess.run([sys.executable, "app.py"], cwd=folder, env=environment, check=True)
    return folder / "out"


def _kinds(found: Account, status: str) -> Counter[str]:
    """The types of the resources that ever had a status."""
    events: list[dict[str, Any]] = [e for stack in found.statuses() for e in found.events(stack)]
    return Counter(e["ResourceType"] for e in events if e["ResourceStatus"] == status)


def test_a_deployment_of_an_older_commit_is_upgraded_and_loses_no_data(
    older: Path, tmp_path: Path
) -> None:
    with account(tmp_path, place=FOREIGN) as found:
        found.bootstrap()
        found.deploy("--app", str(older))
        assert set(found.statuses().values()) == {"CREATE_COMPLETE"}
        found.deploy()
        assert set(found.statuses().values()) <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
        assert not _kinds(found, "DELETE_COMPLETE").keys() & DATA_TYPES
        assert not _kinds(found, "DELETE_SKIPPED").keys() & DATA_TYPES
