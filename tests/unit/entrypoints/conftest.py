"""Functions as they are deployed: their environment, their tables and secrets in memory."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
import tenacity

from backend.aws import clients
from backend.aws.clients import secrets_manager
from backend.aws.secrets import Secrets
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.tables import TABLES

REGION = "us-east-1"


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """The tables that the wiring of a function finds by their names."""
    return dynamo_tables


@pytest.fixture
def deployed(
    settings: Settings,
    tables: DynamoTables,
    monkeypatch: pytest.MonkeyPatch,
) -> Secrets:
    """All environment variables that any function has, but no search; its secrets."""
    environment = {**settings.environment}
    environment |= {f"SECRET_{secret.name}": secret.name for secret in SECRETS}
    environment |= {setting.variable: str(setting.default) for setting in SETTINGS}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for table in TABLES:  # a function's own wiring finds only tables that are there
        tables.settings.table(table)
    client = secrets_manager()
    for secret in SECRETS:
        client.create_secret(Name=secret.name, SecretString=secret.name * 10)
    return Secrets(client, Settings(environment))


@dataclass
class Callback:
    """The address that CloudFormation waits at; `statuses` are its next answers, then 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list[int])
    bodies: list[bytes] = field(default_factory=list[bytes])
    headers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler, bytes], tuple[int, bytes]]) -> Generator[str]:
    """A server on this machine that replies to each PUT with a status and a body; its address."""

    class AnsweringHandler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content = answer(self, sent)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), AnsweringHandler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def callback() -> Iterator[Callback]:
    """A server on this machine, as S3's presigned URL is one elsewhere."""
    received = Callback()

    def receive(handler: BaseHTTPRequestHandler, sent: bytes) -> tuple[int, bytes]:
        received.headers.append(dict(handler.headers))
        received.bodies.append(sent)
        return received.statuses.pop(0) if received.statuses else 200, b""

    with serving(receive) as address:
        received.url = f"{address}/answer?X-Amz-Signature=signed"
        yield received


@dataclass
class Time:
    """Tenacity's module `time`, in which only pauses take time."""

    now: float = 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(tenacity, "time", time)
    monkeypatch.setattr(tenacity.nap, "time", time)
    return time


NEEDED = {"InstancesRequired": "0", "InstancesAdvised": "56", "UnreservedAdvised": "40"}


@dataclass
class Account:
    """Lambda's answer about the account; `failures` are raised first."""

    total: int = 1000
    unreserved: int = 1000
    failures: list[Exception] = field(default_factory=list[Exception])

    def get_account_settings(self) -> dict[str, Any]:
        if self.failures:
            raise self.failures.pop(0)
        return {
            "AccountLimit": {
                "ConcurrentExecutions": self.total,
                "UnreservedConcurrentExecutions": self.unreserved,
            }
        }


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    account = Account()
    monkeypatch.setattr(clients, "lambda_account", lambda: account)
    return account
