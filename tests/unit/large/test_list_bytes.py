"""Every paginated route, with many rows of the largest size that the product takes.

A function may answer 6 MB. API Gateway gets a reply as text within JSON, so quotes and backslashes
count twice. Each page must fit, and the pages together hold every row once. Routes are those that
take `startingToken` in the OpenAPI document: a new one without rows in its case fails.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from backend.core.paging import Page, PageRequest
from backend.core.transactions import Item
from backend.entrypoints.openapi import openapi
from backend.http.openapi import document_path
from backend.spec.routes import ROUTES, Route
from tests.factories.files import gallery
from tests.routes import CASES
from tests.routes.facts import token_of
from tests.routes.model import Case, Rows, Target
from tests.routes.rows import copy
from tests.unit.domains.access.matrix.world import Question, World
from tests.unit.domains.files.changes import memory
from tests.unit.domains.files.test_listing_requests import put, requests_of

Json = dict[str, Any]
LISTS = {case: case.rows for case in CASES if case.rows is not None}
LAMBDA_BYTES = 6_000_000
DYNAMODB_PAGE = 1024 * 1024
"""Bytes after which DynamoDB ends a page of a query or scan."""


def limited(read: Callable[..., Page[Item]]) -> Callable[..., Page[Item]]:
    """Pages that end after a megabyte, as those of DynamoDB do."""

    def limit(what: Any, page: PageRequest) -> Page[Item]:
        result = read(what, page)
        size = 0
        for number, item in enumerate(result.items, start=1):
            size += len(json.dumps(item, default=str, ensure_ascii=False))
            if size > DYNAMODB_PAGE and number < len(result.items):
                return read(what, page._replace(limit=number))
        return result

    return limit


def paginated() -> set[Route]:
    """Routes with the parameter `startingToken`."""
    paths = openapi()["paths"]
    return {
        route
        for route in ROUTES
        for item in paths[document_path(route)][route.method.lower()].get("parameters", ())
        if item["name"] == "startingToken"
    }


def test_every_paginated_route_has_rows() -> None:
    assert {route.key for route in paginated()} == {case.route.key for case in LISTS}


@pytest.mark.parametrize(
    ("case", "listing"), [pytest.param(*item, id=item[0].route.key) for item in LISTS.items()]
)
def test_every_page_fits_a_reply_and_no_row_is_lost_or_returned_twice(
    case: Case, listing: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World()
    marker = listing.make(world)  # one row, or all where there is no marker
    if marker:
        copy(world, marker, listing.number)
    for name in ("query", "scan"):
        monkeypatch.setattr(world.tables, name, limited(getattr(world.tables, name)))
    result, sizes = pages_of(world, case, listing)
    ids = [row[listing.key] for row in result if not marker or marker[:-5] in row[listing.key]]
    assert max(sizes) < LAMBDA_BYTES
    assert len(ids) == len(set(ids)) == listing.number


def pages_of(world: World, case: Case, listing: Rows) -> tuple[list[Json], list[int]]:
    """All rows, and of each page the bytes that a function answers."""
    first = case.request(Target(world, listing.state))
    result: list[Json] = []
    sizes: list[int] = []
    token: str | None = ""
    while token is not None:
        query = {**(first.query or {}), **listing.more}
        query |= {"startingToken": token} if token else {}
        answer = world.send(case.route, Question(first.parameters, query))
        assert answer.status == 200, answer.body
        text = json.dumps(answer.body, separators=(",", ":"), ensure_ascii=False)
        sizes.append(len(json.dumps(text, ensure_ascii=False).encode()))
        result += listing.rows(answer.body)
        token = token_of(answer.body)
    return result, sizes


def test_old_versions_of_a_file_are_not_all_read() -> None:
    museum = gallery(*memory())
    for _ in range(2500):
        museum.put("/a.glb", b"x")
    latest = put(museum, "/a.glb", "/b.glb")
    assert len(requests_of(museum)) <= 1 + 2
    rows = museum.list_files().body["items"]
    assert {row["relativePath"]: row["versionId"] for row in rows} == latest
