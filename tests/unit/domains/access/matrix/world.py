"""The whole product in memory under its real rules, with a user for each role of the matrix.

Every request goes through the handler of its domain. Changes of a request are rolled back, so that
each request finds the same objects.
"""

import json
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, cast

from backend.aws import clients
from backend.aws.guarded_objects import S3GuardedObjects
from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.service import ConfigurationService
from backend.entrypoints.wiring.audit import audit_notes
from backend.entrypoints.wiring.bootstrap import administrator_rules
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.identity import user_pool
from backend.http.app import Handler, HttpApp
from backend.http.router import Router
from backend.operations.queues import QueueService
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.state import SearchState
from backend.search.maintenance.failure_entries import FailureEntries
from backend.spec.functions import Function
from backend.spec.functions.operations import ADMIN_API, BOOTSTRAP, SEARCH_INDEXES_API
from backend.spec.routes import Action, Route
from tests.factories.administration import stored_role
from tests.factories.failures import BUCKET as FAILURES
from tests.factories.http import (
    Context as LambdaContext,
)
from tests.factories.http import (
    RecordedDenials,
    RecordedReads,
    Response,
    body_of,
    check_reply,
    http_event,
)
from tests.factories.search import rebuilder
from tests.fakes.dead_letters import MemoryDeadLetters
from tests.fakes.queues import MemoryQueues
from tests.fakes.user_pool import MemoryUserPool
from tests.unit.domains.access.matrix.roles import Role
from tests.unit.domains.access.matrix.searching import FilteringEngine
from tests.unit.domains.access.matrix.states import State
from tests.unit.domains.audit.product import Product, lonely_entries, router_of

Build = Callable[..., Router]


class _Rules:
    """The product's own rules, for a product that is created before them.

    While `required` is a list, the permissions that requests require are added to it.
    """

    rules: PolicyAuthorization
    required: list[tuple[Action, Secured]] | None = None

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return self.rules.may_use(caller, route, path)

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        if self.required is not None:
            self.required.append((action, target))
        return self.rules.may(caller, action, target)


@dataclass(frozen=True)
class Question:
    """A request, and the text in a list's reply that shows the object.

    With `has_session` it is sent with the session of its user.
    """

    parameters: Mapping[str, str]
    query: Mapping[str, str] | None = None
    body: Any = None
    shows: str | None = None
    headers: Mapping[str, str] | None = None
    has_session: bool = False


class Outcome(NamedTuple):
    """The effects of a request: transactions, required permissions, and audit entries.

    `lonely` are the operations of entries that were written in a separate transaction.
    """

    answer: Response
    writes: int
    required: list[tuple[Action, Secured]]
    entries: list[dict[str, Any]]
    lonely: list[str]


class Both(NamedTuple):
    """A request, and its outcomes for a user without rights to objects and for an administrator."""

    question: Question
    refused: Outcome
    done: Outcome


BothOf = Callable[[Any], Both]


def session_id(user_id: str) -> str:
    """Return the id of the session that each user has."""
    return f"session-{user_id}"


class World:
    """`changed` is true if the last request changed anything, before it was rolled back.

    Ids that the product generated are stored by state, those of keys by user.
    """

    def __init__(self) -> None:
        self.links: dict[State, str] = {}
        self.schemas: dict[State, str] = {}
        self.keys: dict[str, str] = {}
        self.executions: dict[State, str] = {}
        self.running: dict[State, str] = {}
        self.large: dict[str, str] = {}
        self.failure = ""
        rules = self._authorization = _Rules()
        self.product = Product(rules)
        context = self.product.context
        self.rules = rules.rules = context.rules
        self.tables, self.objects = self.product.tables, self.product.objects
        self.engine = FilteringEngine()
        self.dead_letters = MemoryDeadLetters()
        self.queues = cast("MemoryQueues", context.queues)
        self.pool = cast("MemoryUserPool", user_pool(context))
        shared = ("settings", "tables", "objects", "queues", "secrets", "authorization")
        self._parts: dict[str, Any] = {name: vars(context)[name] for name in shared}
        self._parts["search_engine"] = self.engine
        self.denials = RecordedDenials()
        self._app = HttpApp(
            context.authorization,
            context.page_tokens,
            watch=context.watch,
            denials=self.denials,
            request=context.request,
            reads=RecordedReads(),
        )
        vars(context)["search_engine"] = self.engine
        self._handlers: dict[str, tuple[Handler, Router]] = {}
        self._routers = self._routers_beside()
        self.changed = False
        stored_role(self.tables, "admin")
        administrator_rules(self._context(BOOTSTRAP)).create_missing()
        ensure_indexes(self.engine, SearchState(self.tables, self.product.clock))

    def _context(self, function: Function, **parts: Any) -> Context:
        return Context(function, self.product.clock, **self._parts, **parts)

    def _routers_beside(self) -> dict[str, Callable[[], Router]]:
        """The routers of domains whose functions have other ports."""
        context, clock = self.product.context, self.product.clock
        indexes = self._context(SEARCH_INDEXES_API)
        indexing = rebuilder(self.tables, self.objects, self.queues, self.engine, clock=clock)
        guarded = S3GuardedObjects(clients.at_first_use(clients.s3))  # which no test calls
        entries = FailureEntries(self.objects, guarded, FAILURES)
        operations = self._context(ADMIN_API, entries=entries, rebuilder=indexing)
        queues = QueueService(self.dead_letters, context.authorization, audit_notes(context))
        features = FeatureRepository(self.tables)
        configuration = ConfigurationService(features, "us-east-1", "", lambda: {"openapi": "3"})
        return {
            "search_indexes": lambda: router_of(indexes, "search_indexes"),
            "operations": lambda: router_of(operations, "operations"),
            "queues": lambda: _build("backend.operations.queue_routes")(queues),
            "configuration": lambda: _build("backend.domains.configuration.routes")(configuration),
        }

    def _handler(self, domain: str) -> tuple[Handler, Router]:
        if domain not in self._handlers:
            context = self.product.context
            beside = self._routers.get(domain)
            router = beside() if beside is not None else router_of(context, domain)
            self._handlers[domain] = self._app.handler(router), router
        return self._handlers[domain]

    def send_as(self, route: Route, role: Role, question: Question) -> Response:
        """Send a request of a user who has the role, and roll back its changes."""
        with self.rolled_back():
            return self.send(route, question, user_id=role.user_id, mfa=role.has_mfa)

    def send(
        self, route: Route, question: Question, *, user_id: str = "admin", mfa: bool = False
    ) -> Response:
        """One request, as the gateway hands it to the function."""
        parameters = dict(question.parameters)
        path = re.sub(r"\{([\w:]+)\+?\}", lambda name: parameters[name[1]], route.path)
        event = http_event(
            route.method,
            path,
            user_id=user_id,
            parameters=parameters,
            query=dict(question.query or {}),
            api_key_id=session_id(user_id) if question.has_session else None,
            body=None if question.body is None else json.dumps(question.body),
            headers={"host": "api.example.org", **(question.headers or {})},
            route=route.key,
        )
        event["requestContext"]["authorizer"]["lambda"]["mfa"] = "true" if mfa else "false"
        handler, router = self._handler(route.domain)
        reply = handler(event, cast("Any", LambdaContext()))
        answer = Response(reply["statusCode"], body_of(reply), dict(reply.get("headers") or {}))
        check_reply(router.bindings[route], answer)
        return answer

    def outcome(self, route: Route, question: Question, user_id: str = "admin") -> "Outcome":
        """One request, with all that it leaves behind, before it is rolled back."""
        product, together = self.product, self.tables.together
        product.changes.clear()
        before, began = product.entries, len(together)
        self._authorization.required = []
        try:
            with self.rolled_back():
                answer = self.send(route, question, user_id=user_id)
                writes = len(together) - began
                product.follow()
                entries = [entry for entry in product.entries if entry not in before]
        finally:
            required, self._authorization.required = self._authorization.required, None
        return Outcome(answer, writes, required, entries, lonely_entries(together[began:]))

    def done(
        self,
        route: Route,
        parameters: Mapping[str, str] | None = None,
        body: Any = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the reply to an administrator's request, which must succeed."""
        answer = self.send(route, Question(parameters or {}, query, body))
        assert answer.status == 200, (route.key, parameters, answer.body)
        return answer.body

    @contextmanager
    def rolled_back(self) -> Generator[None]:
        """Undo what is done within, and note in `changed` whether anything was."""
        pool, queues = self.pool, self.queues
        rows = _copied(self.tables.items)
        buckets, uploads = _copied(self.objects.buckets), dict(self.objects.uploads)
        users, messages = dict(pool.users), list(queues.messages)
        moving = set(self.dead_letters.moving)
        try:
            yield
        finally:
            self.changed = (
                rows != _copied(self.tables.items)
                or buckets != _copied(self.objects.buckets)
                or uploads != self.objects.uploads
                or users != pool.users
                or messages != queues.messages
                or moving != self.dead_letters.moving
            )
            if self.changed:
                self.tables.items, self.objects.buckets, self.objects.uploads = (
                    rows,
                    buckets,
                    uploads,
                )
                pool.users, queues.messages, self.dead_letters.moving = users, messages, moving


def _copied(of: Mapping[str, Mapping[Any, Any]]) -> dict[str, dict[Any, Any]]:
    return {name: dict(inner) for name, inner in of.items() if inner}


def _build(module: str) -> Build:
    return cast("Build", import_module(module).build_router)
