"""The adversary's world on real engines: DynamoDB with its streams, S3 and OpenSearch.

Queues are in memory, because the adversary controls their time; so are S3's events about its
objects. Global indexes do not lag on the local engine.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

import httpx

from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.core.ids import new_uuid
from backend.core.objects import Objects
from backend.core.search_engine import JsonObject, SearchEngine
from backend.core.tables import Tables
from backend.search.indexing.state import Pointer, SearchState
from backend.spec.buckets import BUCKETS
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from tests.engines import RealEngines
from tests.fakes.search_engine import OF_A_WRITE
from tests.integration.conftest import search_engine
from tests.integration.tables import TableSet
from tests.model.deployment import Ports, in_memory_settings, is_wanted
from tests.model.world import World

_LISTENED_TO = {
    subscription.source.name: subscription.source for subscription in STREAM_SUBSCRIPTIONS
}


class Watched:
    """A port; `before` is called before every request, `after` with the request after it."""

    def __init__(
        self,
        port: object,
        before: Callable[[str], None],
        after: Callable[[str, tuple[Any, ...]], None] = lambda name, given: None,
    ) -> None:
        self._port, self._before, self._after = port, before, after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._port, name)

        def watched(*given: Any, **named: Any) -> Any:
            self._before(name)
            result = call(*given, **named)
            self._after(name, given)
            return result

        return watched


_WITH_EVENTS = {"put", "complete_multipart", "delete", "delete_version"}


def _touched(name: str, given: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The objects (bucket and key) that a request to S3 created or removed."""
    if name in _WITH_EVENTS:
        return [(given[0], given[1])]
    if name == "copy":
        return [given[1]]
    if name == "delete_many":
        return [(given[0], key) for key, _ in given[1]]
    return []


class EngineWorld(World):
    """The product on running engines; tables are emptied before each history."""

    def __init__(self, engines: RealEngines, table_set: TableSet) -> None:
        self._engines, self._table_set = engines, table_set
        self._name = new_uuid()[:8]
        super().__init__(lag=False)

    def made_ports(self) -> Ports:
        self._table_set.clear()
        s3, tables = self._engines.s3, self._table_set.tables
        environment = dict(in_memory_settings().environment)
        for bucket in BUCKETS:
            physical = f"{self._name}-{bucket.name.lower()}"
            environment[f"BUCKET_{bucket.name}"] = physical
            s3.create_bucket(Bucket=physical)
            if bucket.versioned:
                versioning: Any = {"Status": "Enabled"}
                s3.put_bucket_versioning(Bucket=physical, VersioningConfiguration=versioning)
        engine = search_engine(self._engines.url("opensearch"))
        self._client = engine.client
        self._names = (f"assets-{self._name}", f"files-{self._name}")
        assets, files = self._names
        state = SearchState(tables, self.time.clock)
        state.begin(Pointer(assets, (assets,), files, (files,)))
        before = self.turns.before
        return Ports(
            cast("Tables", Watched(tables, before)),
            cast("Objects", Watched(S3Objects(s3), before, self._report)),
            self.queues,
            cast("SearchEngine", Watched(engine, before, self._answer)),
            Settings(environment),
            self.time.clock,
        )

    def _report(self, name: str, given: tuple[Any, ...]) -> None:
        """Send S3's events to EventBridge: which objects were created or removed."""
        for bucket, key in _touched(name, given):
            self.object_changed(bucket, key)

    def _answer(self, name: str, given: tuple[Any, ...]) -> None:
        """A worker may also be stopped between a bulk and its reply."""
        if name == "bulk":
            self.turns.before("answer")

    @property
    def bucket(self) -> str:
        return f"{self._name}-assetbucket"

    def send(self, url: str, body: bytes) -> str:
        reply = httpx.put(url, content=body)
        reply.raise_for_status()
        return reply.headers["ETag"]

    def pull(self) -> None:
        for name in sorted(_LISTENED_TO):
            for record in self._table_set.stream(_LISTENED_TO[name]).take():
                for subscription in STREAM_SUBSCRIPTIONS:
                    if subscription.source.name == name and is_wanted(record, subscription.pattern):
                        self.streams.setdefault(subscription.consumer, []).append(record)

    def documents(self) -> dict[str, JsonObject]:
        self._client.indices.refresh(index=",".join(self._names))
        query: JsonObject = {"bool": {"must_not": [{"term": {"deleted": True}}]}}
        reply = self._client.search(
            index=",".join(self._names), body={"query": query, "size": 1000}
        )
        return {
            hit["_id"]: {k: v for k, v in hit["_source"].items() if k not in OF_A_WRITE}
            for hit in reply["hits"]["hits"]
        }

    def let_indexes_see(self, until: int) -> None:
        """The indexes never lag here."""

    def let_an_index_see(self, number: int) -> None:
        """The indexes never lag here."""

    def behind(self) -> Iterable[Any]:
        return ()

    def close(self) -> None:
        super().close()
        self._client.indices.delete(index=",".join(self._names))
