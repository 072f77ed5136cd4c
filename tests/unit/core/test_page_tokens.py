"""Page tokens belong to one caller, and do not reveal where a page ended."""

import base64

import pytest

from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens
from backend.http.call import Call
from backend.spec import routes

TOKENS = PageTokens(lambda: b"key")
HIDDEN = {"databaseId": "hidden-database", "assetId": "hidden asset, of some länge" * 9}


def raw(token: str) -> bytes:
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


@pytest.mark.parametrize("position", [{}, {"n": 1}, HIDDEN])
def test_a_token_contains_for_its_issuer_where_a_page_ended(position: dict[str, object]) -> None:
    token = TOKENS.issue(position, scope="assets of ann")
    assert TOKENS.read(token, scope="assets of ann") == position
    assert TOKENS.issue(position, scope="assets of ann") == token


def test_where_a_page_ended_is_not_revealed_to_others() -> None:
    """A page that permissions filter may end at a row that the caller may not know."""
    seen = raw(TOKENS.issue(HIDDEN, scope="assets of ann"))
    for found in (b"hidden", b"databaseId", b"assetId", b'{"'):
        assert found not in seen
    others = raw(TOKENS.issue(HIDDEN, scope="assets of bob"))
    assert sum(a == b for a, b in zip(seen, others, strict=True)) < len(seen) / 8


def test_tokens_of_lists_have_one_length() -> None:
    """A page that a limit cuts ends at a hidden row."""
    ids = ("a", "a" * 255, "資" * 255)
    places = [{"databaseId": "d" * 63, "assetId": asset_id} for asset_id in ids]
    call = Call(routes.LIST_ASSETS, Identity("ann"), {}, {}, {}, TOKENS)
    assert {len(call.next_token(place) or "") for place in ({}, *places)} == {1728}


def test_a_token_of_an_earlier_release_is_read() -> None:
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
