"""Requests and replies of the SDK: credentials, errors, retries, pages, revisions."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vitrine import (
    ApiError,
    ConfigurationError,
    ConflictError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    ProtocolError,
    RangeError,
    RateLimitedError,
    RetryPolicy,
    RevisionConflictError,
    SearchQuery,
    ServerError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnreachableError,
    Vitrine,
    facets,
)
from vitrine.retry import Pauses, retry_after_seconds
from vitrine.transport import Transport, authorization_of, path_of

from tests.unit.client.conftest import World
from tests.unit.client.fake_files import Document
from tests.unit.client.fake_server import API, BUCKET, KEY, FakeServer


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidInputError),
        (401, UnauthenticatedError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (409, ConflictError),
        (410, GoneError),
        (412, RevisionConflictError),
        (413, TooLargeError),
        (416, RangeError),
        (418, ApiError),
        (501, ServerError),
    ],
)
def test_each_status_has_its_exception_with_all_fields_of_the_body(
    client: Vitrine, server: FakeServer, status: int, kind: type[ApiError]
) -> None:
    body = {
        "message": "that went wrong",
        "code": "SomeCode",
        "requestId": "req-7",
        "errors": [{"field": "files.0", "message": "is bad"}],
    }
    server.fail("GET", "/database/x", httpx.Response(status, json=body))
    with pytest.raises(kind) as raised:
        client.databases.get("x")
    error = raised.value
    assert type(error) is kind
    assert (error.status, error.code, error.request_id) == (status, "SomeCode", "req-7")
    assert [(fact.field, fact.message) for fact in error.errors] == [("files.0", "is bad")]
    assert str(error) == "that went wrong; files.0: is bad"


def test_an_error_that_is_no_json_is_reported_by_its_status(world: World) -> None:
    world.server.fail("GET", "/database/x", httpx.Response(404, text="<html>"))
    with pytest.raises(NotFoundError, match="404 Not Found"):
        world.client.databases.get("x")
    denied = httpx.Response(403, json={"message": "Forbidden"})  # as a gateway denies a key
    world.server.fail("GET", "/database/x", denied)
    with pytest.raises(PermissionDeniedError, match=r"Forbidden: .* expired or disabled"):
        world.client.databases.get("x")


def test_a_temporarily_refused_request_is_sent_again_after_the_named_time(world: World) -> None:
    busy = httpx.Response(429, json={"message": "slow"}, headers={"Retry-After": "7"})
    down = httpx.Response(503, json={"message": "down", "code": "Unavailable"})
    world.server.fail("POST", "/database", busy, down)
    world.client.databases.create("cars", description="Cars", default_bucket_id=BUCKET)
    assert world.pauses == [7.0, 0.5]


def test_a_request_that_is_repeated_for_ten_seconds_is_named_every_ten_seconds(
    server: FakeServer,
) -> None:
    now, lines = [0.0], list[str]()

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pauses = Pauses(sleep, lines.append, lambda: now[0])
    patient = RetryPolicy(attempts=30, jitter=lambda _, most: 4.0)
    transport = Transport(API, KEY, http=server.api, retry=patient, pauses=pauses)
    busy = httpx.Response(503, json={"message": "down", "code": "Unavailable"})
    done = httpx.Response(200, json={})
    server.fail("GET", "/health", busy, busy, done)
    transport.send("GET", "/health")
    assert lines == [], "it took less than ten seconds"
    server.fail("GET", "/health", *[busy] * 7, done)
    transport.send("GET", "/health")
    fact = "the server is busy (status 503): trying again"
    assert lines == [f"{fact}, for 8 s so far", f"{fact}, for 20 s so far"]


@pytest.mark.parametrize(
    "body",
    [
        {"message": "Service Unavailable"},  # of the gateway, also after a time-out
        {"message": "stopped", "code": "OutcomeUnknown"},
    ],
)
def test_a_creation_that_may_have_been_carried_out_is_not_repeated_but_a_read_is(
    client: Vitrine, server: FakeServer, body: dict[str, str]
) -> None:
    server.fail("POST", "/database", httpx.Response(503, json=body))
    with pytest.raises(UnavailableError, match=r"Service Unavailable: the server did not|stopped"):
        client.databases.create("cars", description="Cars", default_bucket_id=BUCKET)
    assert server.calls("POST", "/database") == 1
    server.fail("GET", "/buckets", httpx.Response(503, json=body))
    assert [bucket.bucket_id for bucket in client.buckets.list()] == [BUCKET]


@pytest.mark.parametrize(("status", "kind"), [(429, RateLimitedError), (503, UnavailableError)])
def test_the_attempts_are_bounded(world: World, status: int, kind: type[ApiError]) -> None:
    answer = {"message": "no"}
    world.server.fail("GET", "/buckets", *(httpx.Response(status, json=answer) for _ in range(9)))
    with pytest.raises(kind):
        list(world.client.buckets.list())
    assert world.server.calls("GET", "/buckets") == 3
    with pytest.raises(NotFoundError):
        world.client.databases.get("missing")
    assert world.server.calls("GET", "/database/missing") == 1


def test_a_broken_connection_repeats_what_was_not_sent_or_only_read(world: World) -> None:
    world.server.fail("GET", "/buckets", httpx.ReadError("reset"), httpx.ReadTimeout("late"))
    assert [bucket.bucket_id for bucket in world.client.buckets.list()] == [BUCKET]
    world.server.fail("POST", "/database", httpx.ReadError("reset"), httpx.ConnectError("refused"))
    with pytest.raises(UnreachableError, match=r"api\.test does not respond: reset"):
        world.client.databases.create("cars", description="Cars", default_bucket_id=BUCKET)
    assert world.server.calls("POST", "/database") == 1
    world.client.databases.create("cars", description="Cars", default_bucket_id=BUCKET)
    assert "cars" in world.server.databases


def test_a_write_under_a_revision_is_not_repeated_after_a_broken_connection(world: World) -> None:
    world.client.assets.create("cars", "one", description="An asset", asset_id="one")
    asset = world.client.assets.get("cars", "one")
    world.server.fail("PUT", "/assets/one", httpx.ReadError("reset"), after=True)
    with pytest.raises(UnreachableError):
        world.client.assets.update("cars", "one", description="changed", revision=asset.revision)
    assert world.client.assets.get("cars", "one").description == "changed"


def test_a_stale_revision_is_a_conflict(client: Vitrine) -> None:
    client.assets.create("cars", "one", description="An asset", asset_id="one")
    stale = client.assets.get("cars", "one").revision
    client.assets.update("cars", "one", description="first", revision=stale)
    with pytest.raises(RevisionConflictError) as raised:
        client.assets.update("cars", "one", description="second", revision=stale)
    assert raised.value.code == "RevisionConflict"


def test_a_listing_runs_over_all_pages(client: Vitrine, server: FakeServer) -> None:
    for number in range(5):
        client.databases.create(f"db-{number}", description="A base", default_bucket_id=BUCKET)
    ids = [entry.database_id for entry in client.databases.list(page_size=2)]
    assert ids == [f"db-{number}" for number in range(5)]
    assert server.calls("GET", "^/database$") == 3


def test_a_reply_of_another_form_is_reported_with_its_field(world: World) -> None:
    page: Document = {"Items": [], "NextToken": "again"}
    world.server.fail("GET", "/buckets", *(httpx.Response(200, json=page) for _ in range(2)))
    with pytest.raises(ProtocolError, match="same page token twice"):
        list(world.client.buckets.list())
    for body in ("[]", "{}", '{"Items": [{"bucketName": 3}]}', "<html>"):
        world.server.fail("GET", "/buckets", httpx.Response(200, text=body))
        with pytest.raises(ProtocolError, match="no valid list `Items`"):
            list(world.client.buckets.list())
    world.server.fail("GET", "/api/version", httpx.Response(200, json={"version": [1]}))
    with pytest.raises(ProtocolError, match=r"GET /api/version: .*version"):
        world.client.version.get()


def test_keys_go_bare_and_tokens_as_bearer_and_the_back_off_doubles() -> None:
    assert authorization_of("vams_abc") == "vams_abc"
    assert authorization_of("eyJ.x.y") == "Bearer eyJ.x.y"
    assert authorization_of("Bearer eyJ.x.y") == "Bearer eyJ.x.y"
    policy = RetryPolicy(jitter=lambda _, most: most)
    delays = [policy.delay(attempt) for attempt in range(1, 8)]
    assert delays == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    assert policy.delay(1, retry_after=3600) == 90.0


@pytest.mark.parametrize(
    ("address", "key", "reason"),
    [
        *(
            (address, KEY, r"not a valid URL|must start with")
            for address in (
                "api.test",
                "file:///etc/passwd",
                "",
                "http://a\0",
                "http://",
                "https://:80",
            )
        ),
        *(
            (API, key, "characters")
            for key in ("vams_a\r\nHost: evil", "vams_ä", "two words", "\0")
        ),
    ],
)
def test_what_is_no_address_or_would_break_the_header_is_refused(
    address: str, key: str, reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        Vitrine(address, key)


@given(st.text(min_size=1))
def test_an_id_can_never_become_two_segments_or_a_query(segment: str) -> None:
    path = path_of("database", segment, "assets") if segment.isprintable() else "/d/x/a"
    assert path.count("/") == 3
    assert "?" not in path
    assert "#" not in path


def test_a_full_search_filters_by_quoted_values_and_counts_facets(world: World) -> None:
    query = SearchQuery(query="wheel", database_id='ca"rs', tags=["red", "big car"])
    result = world.client.search.full(query, size=1)
    [(_, body)] = world.server.bodies
    assert body["filters"] == [
        {"query_string": {"query": 'str_databaseid:"ca\\"rs"'}},
        {"query_string": {"query": 'list_tags.keyword:"red" OR list_tags.keyword:"big car"'}},
    ]
    [(name, rows)] = facets(result).items()
    assert (name, [(row.key, row.doc_count) for row in rows]) == ("str_fileext", [("glb", 0)])


def test_a_retry_after_is_seconds_or_a_date() -> None:
    for text, seconds in {"3": 3.0, "0.5": 0.5, "soon": None, "": None}.items():
        assert retry_after_seconds(httpx.Response(429, headers={"Retry-After": text})) == seconds
    response = httpx.Response(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    seconds = retry_after_seconds(response)
    assert seconds is not None
    assert seconds < 0
    assert RetryPolicy().delay(1, seconds) == 0.0
