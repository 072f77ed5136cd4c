"""The environment of the running function, which only this module reads.

Infrastructure sets one variable for each resource in a function's declaration. Reading another one
is a programming error and fails at cold start.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backend.spec.buckets import Bucket
from backend.spec.functions import Function
from backend.spec.queues import Queue
from backend.spec.secrets import Secret
from backend.spec.settings import EVENTS, OIDC_ISSUER, OIDC_USER_PREFIX, Setting
from backend.spec.tables.model import Table
from backend.spec.topics import Topic


class MissingSettingError(Exception):
    """The environment lacks a variable that the function's declaration requires."""


@dataclass(eq=False, repr=False)
class Settings:
    """The physical names behind the declarations, for one function."""

    environment: Mapping[str, str]

    def table(self, table: Table) -> str:
        return self._get(f"TABLE_{table.name}")

    def bucket(self, bucket: Bucket) -> str:
        return self._get(f"BUCKET_{bucket.name}")

    def queue(self, queue: Queue) -> str:
        return self._get(f"QUEUE_{queue.name}")

    def deploys(self, queue: Queue) -> bool:
        """Return whether the deployment has a queue."""
        return not queue.with_events or self.text(EVENTS) in queue.with_events

    @property
    def event_bus(self) -> str | None:
        """Return the name of the bus for events; None if a queue takes its place."""
        return self._get("EVENT_BUS") if self.text(EVENTS) == "bus" else None

    def topic(self, topic: Topic) -> str:
        return self._get(f"TOPIC_{topic.name}")

    def secret(self, secret: Secret) -> str:
        return self._get(f"SECRET_{secret.name}")

    def function(self, function: Function) -> str | None:
        """Return the physical name of a function that this one calls, None if it has none."""
        return self.environment.get(f"FUNCTION_{function.name}")

    def text(self, setting: Setting) -> str:
        return self._get(setting.variable)

    def number(self, setting: Setting) -> int:
        return int(self._get(setting.variable))

    @property
    def state_machine(self) -> str:
        """Return the ARN of the state machine that runs executions."""
        return self._get("EXECUTIONS_STATE_MACHINE_ARN")

    @property
    def allowed_pipelines(self) -> frozenset[str]:
        """Return the ARNs of other functions, queues and buses that executions may call."""
        return frozenset(filter(None, self._get("EXECUTIONS_ALLOWED_ARNS").split(",")))

    @property
    def region(self) -> str:
        return self._get("AWS_REGION")

    @property
    def is_isolated(self) -> bool:
        """Return whether the function runs in Lambda's isolation, or in the box of its tests."""
        in_lambda = self.environment.get("LAMBDA_TASK_ROOT") == "/var/task"
        return in_lambda or "VITRINE_BOX" in self.environment

    @property
    def library_path(self) -> dict[str, str]:
        """Return the library path of Lambda's Python, for child processes."""
        name = "LD_LIBRARY_PATH"
        return {name: self.environment[name]} if name in self.environment else {}

    @property
    def search_url(self) -> str:
        """Return the URL of OpenSearch.

        As in an AWS SDK, `AWS_ENDPOINT_URL_OPENSEARCH` overrides it.
        """
        override = self.environment.get("AWS_ENDPOINT_URL_OPENSEARCH")
        return override or "https://" + self._get("SEARCH_ENDPOINT")

    @property
    def search_is_deployed(self) -> bool:
        return bool(self.environment.get("SEARCH_ENDPOINT"))

    @property
    def user_pool_id(self) -> str | None:
        """Return the id of the Cognito user pool, if the deployment has one."""
        return self.environment.get("USER_POOL_ID") or None

    @property
    def user_pool_client_id(self) -> str | None:
        """Return the id of the application with which users sign in to the pool."""
        return self.environment.get("USER_POOL_CLIENT_ID") or None

    @property
    def user_pool_issuer(self) -> str | None:
        """Return the issuer that the tokens of the pool name."""
        pool_id = self.user_pool_id
        return pool_id and f"https://cognito-idp.{self.region}.amazonaws.com/{pool_id}"

    @property
    def user_pool_keys_url(self) -> str:
        """Return the URL of the pool's keys.

        As in an AWS SDK, `AWS_ENDPOINT_URL_…` overrides it.
        """
        override = self.environment.get("AWS_ENDPOINT_URL_COGNITO_KEYS")
        issuer = f"{override}/{self.user_pool_id}" if override else self.user_pool_issuer
        return f"{issuer}/.well-known/jwks.json"

    @property
    def provider_prefix(self) -> str:
        """Return the prefix of user ids of the identity provider; empty without a provider."""
        return self.text(OIDC_USER_PREFIX) if self.text(OIDC_ISSUER) else ""

    def _get(self, name: str) -> str:
        try:
            return self.environment[name]
        except KeyError:
            raise MissingSettingError(f"the environment lacks {name}") from None


def running(functions: Iterable[Function]) -> Function:
    """Return which of the functions with the same handler this process runs.

    Lambda gives its physical name, which ends in that of the declaration.
    """
    name = os.environ["AWS_LAMBDA_FUNCTION_NAME"].rpartition("-")[2]  # noqa: TID251
    return next(function for function in functions if function.name == name)


def load(function: Function, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a function, if they are complete.

    Raises:
        MissingSettingError: the environment lacks a variable that the declaration requires.
    """
    settings = Settings(os.environ if environment is None else environment)  # noqa: TID251
    for table in function.tables:
        settings.table(table)
    for bucket in function.buckets:
        settings.bucket(bucket)
    for queue in (*function.sends, *function.receives, *function.redrives):
        if settings.deploys(queue):
            settings.queue(queue)
    if function.publishes_events:
        _ = settings.event_bus
    for topic in function.topics:
        settings.topic(topic)
    for secret in function.secrets:
        settings.secret(secret)
    for setting in function.settings:
        settings.text(setting)
    if function.runs:
        _ = settings.state_machine, settings.allowed_pipelines
    return settings
