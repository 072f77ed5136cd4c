"""Puts the ports of AWS behind the services; the only chooser of implementations.

Slices are imported where they are wired: a function loads only the domains that it serves.
"""
# ruff: noqa: PLC0415

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from backend.aws import clients
from backend.aws.objects import S3Objects
from backend.aws.secrets import Secrets
from backend.aws.settings import Settings, load
from backend.aws.tables import DynamoTables
from backend.core.authorization import AdministratorOnly, Authorization
from backend.core.clock import Clock, utc_now
from backend.core.page_tokens import PageTokens
from backend.domains.access.roles import UserRoles
from backend.http.app import HttpApp
from backend.spec.functions import Function
from backend.spec.secrets import PAGE_TOKEN_KEY

if TYPE_CHECKING:
    from backend.core.search_engine import SearchEngine
    from backend.domains.assets.service import AssetService
    from backend.domains.buckets.service import BucketService
    from backend.domains.databases.service import DatabaseService
    from backend.search.service import SearchService


@dataclass(frozen=True)
class Wiring:
    """What one function is made of; a part is built when it is first asked for."""

    function: Function
    clock: Clock = utc_now

    @cached_property
    def settings(self) -> Settings:
        return load(self.function)

    @cached_property
    def tables(self) -> DynamoTables:
        return DynamoTables(clients.dynamodb(), self.settings)

    @cached_property
    def objects(self) -> S3Objects:
        return S3Objects(clients.s3())

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(clients.secrets_manager(), self.settings)

    @cached_property
    def authorization(self) -> Authorization:
        return AdministratorOnly(UserRoles(self.tables))

    @cached_property
    def app(self) -> HttpApp:
        tokens = PageTokens(lambda: self.secrets.value(PAGE_TOKEN_KEY).encode())
        return HttpApp(self.authorization, tokens)

    @cached_property
    def search_engine(self) -> "SearchEngine | None":
        """The search cluster; None where search is not deployed."""
        from backend.aws.search_engine import connect

        return connect(self.settings) if self.settings.search_is_deployed else None

    @cached_property
    def buckets(self) -> "BucketService":
        from backend.domains.buckets.repository import BucketRepository
        from backend.domains.buckets.service import BucketService

        return BucketService(BucketRepository(self.tables), self.authorization)

    @cached_property
    def databases(self) -> "DatabaseService":
        from backend.domains.databases.repository import DatabaseRepository
        from backend.domains.databases.service import DatabaseService

        repository = DatabaseRepository(self.tables)
        return DatabaseService(repository, self.buckets, self.authorization, self.clock)

    @cached_property
    def assets(self) -> "AssetService":
        from backend.domains.assets.repository import AssetRepository
        from backend.domains.assets.service import AssetService

        return AssetService(
            assets=AssetRepository(self.tables),
            databases=self.databases,
            buckets=self.buckets,
            tags=self.tags,
            objects=self.objects,
            authorization=self.authorization,
            clock=self.clock,
        )

    @cached_property
    def search(self) -> "SearchService":
        from backend.search.service import SearchService
        from backend.search.state import SearchState

        state = SearchState(self.tables, self.clock)
        return SearchService(self.search_engine, state, self.authorization)
