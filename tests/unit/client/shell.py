"""Runs the command in this process against the server in memory."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue
from typer.main import get_command
from typer.testing import CliRunner
from vitrine import RetryPolicy
from vitrine.cli.app import app
from vitrine.cli.session import Wiring
from vitrine.transfer.watching import Changes

from tests.unit.client.fake_server import API, KEY, FakeServer

ADMIN = "http://admin.test"
# Built once: `CliRunner.invoke` would build all commands again for each run.
COMMAND = get_command(app)


class Shell:
    """Runs the command against the server in memory."""

    def __init__(self, server: FakeServer, folder: Path) -> None:
        self.folder = folder
        self.endpoint = folder / "endpoint.json"
        self.endpoint.write_text(json.dumps({"api": API, "adminApiKey": KEY, "admin": ADMIN}))
        self.login = folder / "config" / "login.json"
        self.environment = {"VITRINE_ENDPOINT": str(self.endpoint)}
        self.server = server
        self.code = 0
        self.out = self.err = ""
        self.pauses = 0
        self.browse: Callable[[str], bool] = lambda _: False
        self.changes: Callable[[Path], Changes] = lambda _: []

    def run(self, *arguments: str, typed: str = "") -> str:
        wiring = Wiring(
            environment=self.environment,
            login_path=self.login,
            journal_folder=self.folder / "journal",
            sync_folder=self.folder / "sync",
            api_transport=self.server.api,
            storage_transport=self.server.storage,
            admin_transport=self.server.admin,
            retry=RetryPolicy(attempts=2),
            sleep=self._pause,
            browse=self.browse,
            watch=self.changes,
        )
        with CliRunner().isolation(typed) as (out, err, _):
            with pytest.raises(SystemExit) as ended:
                COMMAND.main(list(arguments), prog_name="vitrine", obj=wiring)
            sys.stdout.flush()
            sys.stderr.flush()
            self.code = int(ended.value.code or 0)
            self.out, self.err = out.getvalue().decode(), err.getvalue().decode()
        return self.out

    def _pause(self, _: float) -> None:
        self.pauses += 1
        assert self.pauses < 1000, "the command waits for ever"

    def json(self, *arguments: str) -> dict[str, JsonValue]:
        return json.loads(self.run(*arguments, "--json"))
