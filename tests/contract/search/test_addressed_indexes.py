"""Every request of the search port names indexes of the product.

A domain of OpenSearch Service also has indexes of the service. A request for `*` is denied there,
although OpenSearch itself accepts it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from opensearchpy import OpenSearch, Urllib3HttpConnection

from backend.aws.search_engine import OpenSearchEngine
from backend.core.ids import new_uuid
from backend.core.search_engine import DocumentRemoval, DocumentWrite, SearchEngine, Stretch
from backend.spec.search_indexes import ASSET_INDEX, BREAKERS
from tests.engines import RealEngines


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: str

    def indexes(self) -> Iterator[str]:
        """The index expressions of the path and of the body, one by one."""
        first, *_ = self.path.strip("/").split("/")
        if first.startswith("_all") or not first.startswith("_"):
            yield from first.replace("%2C", ",").split(",")
        for line in filter(None, self.body.splitlines()):
            yield from _named(json.loads(line))


def _named(part: object) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:  # pyright: ignore[reportUnknownVariableType]
            yield from _named(item)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(part, dict):
        for name, value in part.items():  # pyright: ignore[reportUnknownVariableType]
            if name in {"index", "_index"} and isinstance(value, str):
                yield value
            else:
                yield from _named(value)  # pyright: ignore[reportUnknownArgumentType]


def recorded(url: str, alias: str) -> tuple[set[str], list[Request]]:
    """Call all methods of the port on a real engine; return their names and the requests sent."""
    requests: list[Request] = []

    class Recording(Urllib3HttpConnection):
        def perform_request(self, method: str, url: str, *rest: Any, **named: Any) -> Any:
            body = named.get("body") or (rest[1] if len(rest) > 1 else None) or b""
            requests.append(Request(method, url, body.decode()))
            return super().perform_request(method, url, *rest, **named)

    engine = OpenSearchEngine(OpenSearch(url, connection_class=Recording, max_retries=0))
    index = f"{alias}-1"
    calls: dict[str, Any] = {
        "create_index": lambda: engine.create_index(
            index, mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings
        ),
        "tune_index": lambda: engine.tune_index(index, ASSET_INDEX.tuning),
        "limit_memory": lambda: engine.limit_memory(BREAKERS),
        "mapping": lambda: engine.mapping(index),
        "analysis": lambda: engine.analysis(index),
        "point_alias": lambda: engine.point_alias(alias, index),
        "bulk": lambda: engine.bulk([DocumentWrite(index, "a", 1, '{"_rectype": "asset"}')]),
        "remove": lambda: engine.remove([DocumentRemoval(index, "a", 2)]),
        "refresh": lambda: engine.refresh([index]),
        "search": lambda: engine.search([index], {}),
        "stretch": lambda: engine.stretch(index, Stretch(order=("str_assetid",), limit=1)),
        "points_in_time": engine.points_in_time,
        "drop_index": lambda: engine.drop_index(index),
    }
    for name, call in calls.items():
        if name == "drop_index":
            point = engine.open_point_in_time([index], seconds=5)
            engine.search_at(point, {}, seconds=5)
            engine.close_point_in_time(point)
        call()
    return {*calls, "open_point_in_time", "search_at", "close_point_in_time"}, requests


@pytest.mark.usefixtures("aliases")
def test_no_request_addresses_indexes_of_others(engines: RealEngines) -> None:
    alias = f"addressed-{new_uuid()[:8]}"
    called, requests = recorded(engines.url("opensearch"), alias)
    assert called == {name for name in vars(SearchEngine) if not name.startswith("_")}
    named = {index for request in requests for index in request.indexes()}
    assert named == {f"{alias}-1", f"{alias}-*"}


def test_an_expression_of_all_indexes_is_seen() -> None:
    body = '{"actions": [{"remove": {"index": "*", "alias": "assets"}}]}'
    assert list(Request("POST", "/_aliases", body).indexes()) == ["*"]
    assert list(Request("GET", "/_all/_mapping", "").indexes()) == ["_all"]
    assert list(Request("GET", "/assets-1,*/_mapping", "").indexes()) == ["assets-1", "*"]
