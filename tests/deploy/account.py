"""A stand-in of an AWS account, and the commands that are run on it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from local.engines.ports import LOOPBACK, free_port
from tests.cloudformation.building import Place
from tests.deploy import console, guide

ROOT = guide.ROOT
START_SECONDS = 300
COMMAND_SECONDS = 1_800  # for a command that hangs, also on a busy machine
NO_TERMINAL = guide.option("--require-approval never")


@dataclass(frozen=True)
class Account:
    """The stand-in at an address, and the folder of the CDK command's templates."""

    url: str
    assembly: Path
    place: Place = field(default_factory=Place)

    @property
    def _environment(self) -> Mapping[str, str]:
        """Credentials that no other service accepts, and only the stand-in's address."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            "AWS_ENDPOINT_URL": self.url,
            # The CDK command stores the account of a key in the home folder.
            "AWS_ACCESS_KEY_ID": f"stand-in-{self.place.account}",
            "AWS_SECRET_ACCESS_KEY": "stand-in",
            "AWS_REGION": self.place.region,
            "AWS_DEFAULT_REGION": self.place.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CI": "true",
        }

    def make(self, command: str, *options: str, fails: bool = False, folder: Path = ROOT) -> str:
        """Run a command of `make` of the page, with options for the CDK command."""
        value = " ".join((*options, "--output", shlex.quote(str(self.assembly))))
        done = subprocess.run(
            [*shlex.split(command), f"ARGS={value}"],
            check=False,
            cwd=folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_SECONDS,
        )
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout

    def aws(self, command: str, **values: str) -> Any:
        """Run a command of the AWS CLI; words in capitals are replaced by values."""
        for name, value in values.items():
            command = command.replace(name, value)
        return console.run(command, self.url, self.place.region)

    def bootstrap(self) -> str:
        """Prepare the account."""
        return self.make(guide.line("make bootstrap"))

    def deploy(self, *options: str, fails: bool = False, folder: Path = ROOT) -> str:
        """Deploy all stacks."""
        command = guide.exactly(f"make deploy STAGE={guide.STAGE}")
        return self.make(command, NO_TERMINAL, *options, fails=fails, folder=folder)

    def statuses(self) -> dict[str, str]:
        """The status of each stack of the product, in the order of creation."""
        query = "aws cloudformation describe-stacks --query Stacks[].[StackName,StackStatus]"
        return dict(self.aws(query))

    def events(self, stack: str) -> list[dict[str, Any]]:
        """The events of a stack, the last one first."""
        return self.aws(
            f"aws cloudformation describe-stack-events --stack-name {stack} --query StackEvents"
        )

    @contextmanager
    def failing(self, logical_id: str, reason: str) -> Generator[None]:
        """Let a resource fail."""
        address = f"{self.url}/stand-in/failing/{logical_id}"
        httpx.put(address, content=reason).raise_for_status()
        try:
            yield
        finally:
            httpx.delete(address).raise_for_status()


@contextmanager
def account(folder: Path, *options: str, place: Place | None = None) -> Generator[Account]:
    """Start a stand-in without stacks."""
    place = place or Place()
    port = free_port()
    environment = {
        **os.environ,
        "MOTO_ACCOUNT_ID": place.account,
        "AWS_DEFAULT_REGION": place.region,
        "PYTHONPATH": str(ROOT),
    }
    module = (sys.executable, "-P", "-m", "tests.cloudformation")
    command = [*module, LOOPBACK, str(port), place.account, place.region, *options]
    with (folder / "stand-in.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        url = f"http://{LOOPBACK}:{port}"
        _wait_for(url, process)
        yield Account(url, folder / "assembly", place)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(START_SECONDS)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(url):
        assert process.poll() is None, "the stand-in ended while it started"
        assert time.monotonic() < deadline, "the stand-in does not answer"
        time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/moto-api/data.json").is_success
    except httpx.TransportError:
        return False
