"""The entry point of the SDK: one object with a resource for each family of routes."""

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import httpx

from vitrine.resources.administration import Profiles, Roles, Sessions, SignIns
from vitrine.resources.assets import Assets, Downloads, Files
from vitrine.resources.audit import Audit
from vitrine.resources.buckets import Buckets
from vitrine.resources.comments import Comments
from vitrine.resources.configuration import Configuration
from vitrine.resources.constraints import Constraints, Templates
from vitrine.resources.executions import Executions
from vitrine.resources.explanations import Explanations
from vitrine.resources.exports import Exports
from vitrine.resources.facts import Facts
from vitrine.resources.ingest import Ingest
from vitrine.resources.jobs import Jobs
from vitrine.resources.links import Links
from vitrine.resources.metadata import MetadataRecords
from vitrine.resources.operations import Failures, Queues
from vitrine.resources.pipelines import Pipelines
from vitrine.resources.registry import (
    ApiKeys,
    Databases,
    OwnApiKeys,
    Tags,
    TagTypes,
    Versions,
)
from vitrine.resources.schemas import MetadataSchemas
from vitrine.resources.search import Search
from vitrine.resources.search_indexes import SearchIndexes
from vitrine.resources.streams import Streams
from vitrine.resources.subscriptions import Subscriptions
from vitrine.resources.uploads import Uploads
from vitrine.resources.versions import AssetVersions
from vitrine.resources.workflows import Workflows
from vitrine.retry import Pauses, RetryPolicy
from vitrine.storage import Storage
from vitrine.transport import Content, Query, Transport


class Resources:
    """A resource for each family of routes."""

    def __init__(self, transport: Transport, storage: Storage) -> None:
        self.api_keys = ApiKeys(transport)
        self.assets = Assets(transport)
        self.audit = Audit(transport)
        self.buckets = Buckets(transport)
        self.comments = Comments(transport)
        self.configuration = Configuration(transport)
        self.constraints = Constraints(transport)
        self.executions = Executions(transport)
        self.explanations = Explanations(transport)
        self.databases = Databases(transport)
        self.downloads = Downloads(transport)
        self.exports = Exports(transport, storage)
        self.facts = Facts(transport)
        self.failures = Failures(transport)
        self.files = Files(transport)
        self.ingest = Ingest(transport)
        self.jobs = Jobs(transport)
        self.links = Links(transport)
        self.metadata = MetadataRecords(transport)
        self.metadata_schemas = MetadataSchemas(transport)
        self.own_api_keys = OwnApiKeys(transport)
        self.pipelines = Pipelines(transport)
        self.profiles = Profiles(transport)
        self.queues = Queues(transport)
        self.roles = Roles(transport)
        self.search = Search(transport)
        self.search_indexes = SearchIndexes(transport)
        self.sessions = Sessions(transport)
        self.sign_ins = SignIns(transport)
        self.subscriptions = Subscriptions(transport)
        self.streams = Streams(transport, storage)
        self.templates = Templates(transport)
        self.tag_types = TagTypes(transport)
        self.tags = Tags(transport)
        self.uploads = Uploads(transport)
        self.version = Versions(transport)
        self.versions = AssetVersions(transport)
        self.workflows = Workflows(transport)


class Vitrine(Resources):
    """A connection to one deployment; safe to share between threads, closed when left.

    >>> with Vitrine("https://api.example.org", "vams_…") as vitrine:
    ...     for database in vitrine.databases.list():
    ...         print(database.database_id)

    `pauses.say` is called with a line about requests that are repeated for more than ten seconds.
    """

    def __init__(
        self,
        api_url: str,
        api_key: str | None = None,
        *,
        retry: RetryPolicy | None = None,
        api_transport: httpx.BaseTransport | None = None,
        storage_transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.pauses = pauses = Pauses(sleep)
        transport = Transport(api_url, api_key, http=api_transport, retry=retry, pauses=pauses)
        self._transport = transport
        self.api_url = transport.api_url
        self.retry = transport.retry
        self.sleep = sleep
        self.storage = Storage(http=storage_transport, retry=retry, pauses=pauses)
        super().__init__(transport, self.storage)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Content | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request to a path of the API and return the reply, which may be a redirect.

        Raises:
            ApiError: the server rejected the request.
        """
        # A lost reply of a conditional write would be refused as a conflict with itself.
        conditional = headers is not None and "if-match" in {name.lower() for name in headers}
        return self._transport.send(
            method,
            path,
            query=query,
            body=body,
            headers=headers,
            repeatable=False if conditional else None,
            redirects=True,
        )

    def close(self) -> None:
        self._transport.close()
        self.storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
