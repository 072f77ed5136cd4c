"""The ports of one function; only this module and `clients` choose implementations.

Services are functions of a `Context` in the other modules of this package, one for each slice.
"""
# ruff: noqa: PLC0415 - few functions use the ports that are imported where they are created

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from backend.aws import clients
from backend.aws.objects import S3Objects
from backend.aws.secrets import Secrets
from backend.aws.settings import Settings, load
from backend.aws.tables import DynamoTables
from backend.core.authorization import Authorization, SystemOnly, SystemOr
from backend.core.clock import Clock, utc_now
from backend.core.denials import Watch, WatchedAuthorization
from backend.core.page_tokens import PageTokens
from backend.core.reads import CurrentRequest
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.audit.repository import AuditArchive
from backend.domains.audit.service.commands import AuditService
from backend.spec.buckets import AUDIT_ARCHIVE_BUCKET
from backend.spec.functions import Function
from backend.spec.secrets import API_KEY_PEPPER, PAGE_TOKEN_KEY
from backend.spec.settings import (
    AUDIT_DAYS,
    DEFAULT_USER_ROLE,
    MAX_URL_SECONDS,
    PRESIGNED_URL_SECONDS,
)
from backend.spec.tables.model import Table

if TYPE_CHECKING:
    from backend.aws.queues import SqsQueues
    from backend.aws.runs import StepFunctionsRuns
    from backend.core.search_engine import SearchEngine

S = TypeVar("S")


class Context:
    """The ports of one function, each created when it is first used.

    `parts` are ports and services by name that are used as given.
    """

    def __init__(self, function: Function, clock: Clock = utc_now, **parts: Any) -> None:
        self.function = function
        self.clock = clock
        vars(self).update(parts)

    def once(self, key: str, make: Callable[["Context"], S]) -> S:
        """Return the part with this name, which `make` builds if there is none yet."""
        parts = vars(self)
        if key not in parts:
            parts[key] = make(self)
        return parts[key]

    def over(self, table: Table, make: Callable[["Context"], S]) -> S:
        """Return the service over a table, created only in functions that may use it."""
        late = table not in self.function.tables
        return clients.at_first_use(lambda: make(self)) if late else make(self)

    @cached_property
    def settings(self) -> Settings:
        return load(self.function)

    @cached_property
    def tables(self) -> DynamoTables:
        return DynamoTables(clients.at_first_use(clients.dynamodb), self.settings)

    @cached_property
    def objects(self) -> S3Objects:
        return S3Objects(clients.at_first_use(clients.s3), lambda: self.request.id)

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(clients.at_first_use(clients.secrets_manager), self.settings)

    @cached_property
    def queues(self) -> "SqsQueues":
        from backend.aws.queues import SqsQueues

        return SqsQueues(clients.at_first_use(clients.sqs), self.settings)

    @cached_property
    def runs(self) -> "StepFunctionsRuns":
        from backend.aws.runs import StepFunctionsRuns

        return StepFunctionsRuns(clients.at_first_use(clients.step_functions), self.settings)

    @cached_property
    def search_engine(self) -> "SearchEngine | None":
        """Return the search cluster; None if search is not deployed."""
        from backend.aws.search_engine import connect

        return connect(self.settings) if self.settings.search_is_deployed else None

    @cached_property
    def authorization(self) -> Authorization:
        if self.function.acts_for == "itself":
            return SystemOnly()
        if self.function.acts_for == "both":
            return SystemOr(self.rules)
        return WatchedAuthorization(self.rules, self.watch)

    @cached_property
    def rules(self) -> PolicyAuthorization:
        return PolicyAuthorization(self.policies, self.clock)

    @cached_property
    def policies(self) -> PolicyRepository:
        knows = DEFAULT_USER_ROLE in self.function.settings
        role = self.settings.text(DEFAULT_USER_ROLE) if knows else ""
        return PolicyRepository(self.tables, role)

    @cached_property
    def watch(self) -> Watch:
        """Return the watch over refusals of the current request."""
        return Watch()

    @cached_property
    def request(self) -> CurrentRequest:
        """Return the current request; outside a request it has no id."""
        return CurrentRequest()

    @cached_property
    def page_tokens(self) -> PageTokens:
        return PageTokens(lambda: self.secrets.value(PAGE_TOKEN_KEY).encode())

    @cached_property
    def audit(self) -> AuditService:
        """Return the audit log; only functions declared as `audited` may use it."""
        return AuditService(
            self.audit_archive, lambda: self.settings.number(AUDIT_DAYS), self.clock
        )

    @cached_property
    def audit_archive(self) -> AuditArchive:
        return AuditArchive(self.objects, lambda: self.settings.bucket(AUDIT_ARCHIVE_BUCKET))

    @property
    def url_seconds(self) -> int:
        """Return how long presigned URLs are valid."""
        return min(self.settings.number(PRESIGNED_URL_SECONDS), MAX_URL_SECONDS)

    def pepper(self) -> bytes:
        """Return the secret with which the hashes of API keys are computed."""
        return self.secrets.value(API_KEY_PEPPER).encode()


def once(make: Callable[[Context], S]) -> Callable[[Context], S]:
    """Build the result of a function once for each context. Its name is the part's name."""
    return lambda context: context.once(make.__name__, make)
