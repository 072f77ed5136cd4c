"""Pages that permissions filter, and their tokens, which belong to one caller."""

import base64
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens
from backend.core.paging import (
    MAX_BYTES_PER_PAGE,
    MAX_ROWS_PER_PAGE,
    Page,
    PageRequest,
    Position,
    fill,
    json_bytes,
)
from backend.domains.databases.models import Database
from backend.http.call import Call
from backend.spec import routes


class Numbers:
    """A list of numbers, read by pages; records the requested page sizes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.requested: list[int] = []

    def fetch(self, request: PageRequest) -> Page[int]:
        self.requested.append(request.limit)
        start = 0 if request.after is None else int(request.after["n"]) + 1
        stop = min(start + request.limit, self.count)
        return Page(tuple(range(start, stop)), {"n": stop - 1} if stop < self.count else None)

    def page(
        self,
        limit: int,
        visible: Callable[[int], bool],
        after: Position | None = None,
        seconds: Callable[[], float] = lambda: 0.0,
    ) -> Page[int]:
        request = PageRequest(limit, after)
        return fill(
            self.fetch,
            request,
            visible=visible,
            position_of=lambda number: {"n": number},
            seconds=seconds,
        )


@pytest.mark.parametrize("limit", [1, 2, 7, 100, 5000])
@pytest.mark.parametrize("one_in", [1, 3, 50])
def test_pages_are_full_and_leave_nothing_out(limit: int, one_in: int) -> None:
    numbers = Numbers(1000)
    result: list[int] = []
    after: Position | None = None
    while True:
        page = numbers.page(limit, lambda number: number % one_in == 0, after)
        result += page.items
        if page.after is None:
            break
        assert len(page.items) == limit
        after = page.after
    assert result == list(range(0, 1000, one_in))


@pytest.mark.parametrize("hidden", [0, 1, 2 * MAX_ROWS_PER_PAGE])
@pytest.mark.parametrize("limit", [1, 3, 4])
def test_the_end_of_a_page_does_not_depend_on_hidden_rows_behind_it(
    limit: int, hidden: int
) -> None:
    visible = 3
    page = Numbers(visible + hidden).page(limit, lambda number: number < visible)
    if limit <= visible:
        assert page == Page(tuple(range(limit)), {"n": limit - 1})
    elif hidden <= MAX_ROWS_PER_PAGE:
        assert page == Page((0, 1, 2))


def test_no_row_is_read_in_vain() -> None:
    numbers = Numbers(3)
    page = numbers.page(3, lambda _: True)
    assert numbers.page(3, lambda _: True, page.after) == Page(())
    assert numbers.requested == [3, 3]
    numbers = Numbers(1000)
    assert len(numbers.page(10, lambda _: True).items) == 10
    assert numbers.requested == [10]
    numbers = Numbers(4000)
    assert numbers.page(1, lambda number: number == 3999).items == (3999,)
    assert len(numbers.requested) < 20
    assert max(numbers.requested) == 500


def test_a_page_ends_after_so_many_rows_seconds_or_bytes_and_continues_there() -> None:
    numbers = Numbers(3 * MAX_ROWS_PER_PAGE)
    page = numbers.page(10, lambda _: False)
    assert page.items == ()
    assert page.after is not None
    assert MAX_ROWS_PER_PAGE <= page.after["n"] + 1 < MAX_ROWS_PER_PAGE + 500
    numbers = Numbers(1000)
    clock = iter((0.0, 0.9, 1.9, 2.0))
    page = numbers.page(10, lambda number: number == 5, seconds=lambda: next(clock))
    assert page == Page((5,), {"n": 69})
    assert numbers.requested == [10, 20, 40]
    numbers = Numbers(1000)
    page = fill(
        numbers.fetch,
        PageRequest(10),
        visible=lambda number: number % 5 == 0,
        position_of=lambda number: {"n": number},
        size_of=lambda number: MAX_BYTES_PER_PAGE // 3 + number,
    )
    assert page == Page((0, 5, 10), {"n": 10})


def test_models_are_measured_by_default() -> None:
    large = Database(
        database_id="museum",
        description="ä" * (MAX_BYTES_PER_PAGE // 6),
        date_created="2026-03-01",
        default_bucket_id="bucket",
    )
    assert json_bytes(large) > MAX_BYTES_PER_PAGE // 3
    assert json_bytes(7) == 0
    page = fill(
        lambda request: Page((large,) * request.limit),
        PageRequest(10),
        visible=lambda _: True,
        position_of=lambda _: {"n": 1},
    )
    assert len(page.items) == 3


TOKENS = PageTokens(lambda: b"key")
HIDDEN = {"databaseId": "hidden-database", "assetId": "hidden asset, of some länge" * 9}


def raw(token: str) -> bytes:
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


@pytest.mark.parametrize("position", [{}, {"n": 1}, HIDDEN])
def test_a_token_contains_for_its_issuer_where_a_page_ended(position: dict[str, object]) -> None:
    token = TOKENS.issue(position, scope="assets of ann")
    assert TOKENS.read(token, scope="assets of ann") == position
    assert TOKENS.issue(position, scope="assets of ann") == token


def test_tokens_have_one_length_and_reveal_nothing_to_others() -> None:
    # A page that permissions filter may end at a row that the caller may not know.
    seen = raw(TOKENS.issue(HIDDEN, scope="assets of ann"))
    for item in (b"hidden", b"databaseId", b"assetId", b'{"'):
        assert item not in seen
    others = raw(TOKENS.issue(HIDDEN, scope="assets of bob"))
    assert sum(a == b for a, b in zip(seen, others, strict=True)) < len(seen) / 8
    # A page that a limit cuts ends at a hidden row.
    ids = ("a", "a" * 255, "資" * 255)
    places = [{"databaseId": "d" * 63, "assetId": asset_id} for asset_id in ids]
    call = Call(
        routes.LIST_ASSETS, Identity("ann"), {}, {}, {}, TOKENS, lambda _, __: nullcontext()
    )
    assert {len(call.next_token(place) or "") for place in ({}, *places)} == {1728}
    token = "DZ4DL2IRyDS0RfZtoumiEg2XJ0JXHZM4WWJ6myzmhpuoQxior6zZvw"
    assert TOKENS.read(token, scope="assets of ann") == {"assetId": "länge"}


def test_a_token_of_another_list_key_or_spelling_is_refused() -> None:
    token = TOKENS.issue(HIDDEN, scope="assets of ann")
    other_key = PageTokens(lambda: b"another key").issue(HIDDEN, scope="assets of ann")
    turned = bytearray(raw(token))
    turned[20] ^= 1
    changed = base64.urlsafe_b64encode(bytes(turned)).decode().rstrip("=")
    for forged in (other_key, changed, token[:-4], token[:8], "", "ä", token + "!"):
        with pytest.raises(InvalidInputError, match="is not a page token"):
            TOKENS.read(forged, scope="assets of ann")
    with pytest.raises(InvalidInputError, match="is not a page token"):
        TOKENS.read(token, scope="assets of bob")
