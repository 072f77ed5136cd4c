"""Rules of API keys: which are valid, and how a key is recognised."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.ids import new_secret
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.rules.keys import (
    check_valid,
    hash_key,
    is_expired,
    is_recent_use,
    key_in,
    with_prefix,
)
from backend.domains.identity.rules.refusals import Reason, RefusedError

KEY = "vams_" + "k" * 64
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def stored(**changes: str) -> ApiKey:
    values = {
        "api_key_id": "id",
        "api_key_name": "name",
        "api_key_hash": "hash",
        "description": "text",
        "user_id": "admin",
    }
    return ApiKey.model_validate({**values, **changes})


@pytest.mark.parametrize("header", [KEY, f"Bearer {KEY}", f"bearer {KEY}", f"  Bearer   {KEY} "])
def test_a_key_is_found_with_and_without_bearer(header: str) -> None:
    assert key_in(header) == KEY


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "vams_",
        "vams_short",
        KEY[5:],
        KEY.upper(),
        f"Basic {KEY}",
        f"{KEY},{KEY}",
        f"{KEY} {KEY}",
        f"Bearer Bearer {KEY}",
        KEY + "\u0000",
        KEY + "é",
        KEY + "\ud800",
        KEY + "x" * 300,
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
        "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2ln",
    ],
)
def test_what_is_no_key_is_none(header: str) -> None:
    assert key_in(header) is None


@given(st.text())
def test_no_header_breaks_the_recognition(header: str) -> None:
    assert key_in(header) is None


def test_generated_keys_are_recognised_and_differ() -> None:
    keys = {"vams_" + new_secret() for _ in range(50)}
    assert len(keys) == 50
    assert all(key_in(key) == key for key in keys)


def test_a_prefix_is_put_once() -> None:
    assert with_prefix("abc") == "vams_abc"
    assert with_prefix(with_prefix("abc")) == "vams_abc"


def test_a_hash_depends_on_key_and_pepper() -> None:
    assert hash_key(b"pepper", KEY) == hash_key(b"pepper", KEY)
    assert len({hash_key(b"pepper", KEY), hash_key(b"salt", KEY), hash_key(b"pepper", "x")}) == 3
    assert KEY not in hash_key(b"pepper", KEY)


@pytest.mark.parametrize(
    ("expires_at", "last_valid"),
    [
        ("2026-03-01", datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 11, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00:00", datetime(2026, 3, 1, 11, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01T12:00:00+02:00", datetime(2026, 3, 1, 9, 59, 59, 999999, tzinfo=UTC)),
        ("2026-03-01 12:00:00.5Z", datetime(2026, 3, 1, 12, 0, 0, 499999, tzinfo=UTC)),
    ],
)
def test_a_key_is_valid_up_to_its_expiry_and_not_beyond(
    expires_at: str, last_valid: datetime
) -> None:
    assert not is_expired(expires_at, last_valid)
    assert is_expired(expires_at, last_valid + timedelta(microseconds=1))


def test_a_date_ends_in_utc_wherever_the_clock_is() -> None:
    east = timezone(timedelta(hours=14))
    assert not is_expired("2026-03-01", datetime(2026, 3, 2, 13, 59, tzinfo=east))
    assert is_expired("2026-03-01", datetime(2026, 3, 2, 14, 0, tzinfo=east))


def test_a_key_without_an_expiry_remains_valid() -> None:
    assert not is_expired("", datetime.max.replace(tzinfo=UTC))


@pytest.mark.parametrize("expires_at", ["9999-12-31", "9999-12-31T23:59:59-14:00"])
def test_the_last_dates_of_the_calendar_hold(expires_at: str) -> None:
    assert not is_expired(expires_at, NOON)


@pytest.mark.parametrize("expires_at", ["soon", "0001-01-01", "0001-01-01T00:00:00+14:00", "∞"])
def test_an_expiry_that_is_past_or_unreadable_closes_the_key(expires_at: str) -> None:
    assert is_expired(expires_at, NOON)


def test_a_valid_key_is_opened_by_its_hash_only() -> None:
    check_valid(stored(), "hash", NOON)
    with pytest.raises(RefusedError) as refused:
        check_valid(stored(), "other", NOON)
    assert (refused.value.reason, dict(refused.value.facts)) == (Reason.KEY_UNKNOWN, {})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_active": "false"}, Reason.KEY_DISABLED),
        ({"is_active": ""}, Reason.KEY_DISABLED),
        ({"is_active": "yes"}, Reason.KEY_DISABLED),
        ({"expires_at": "2026-02-28"}, Reason.KEY_EXPIRED),
    ],
)
def test_a_disabled_or_expired_key_is_opened_by_nothing(
    changes: dict[str, str], reason: Reason
) -> None:
    with pytest.raises(RefusedError) as refused:
        check_valid(stored(**changes), "hash", NOON)
    assert (refused.value.reason, dict(refused.value.facts)) == (reason, {"apiKeyId": "id"})


def test_a_use_covers_an_hour() -> None:
    assert is_recent_use("2026-03-01T11:00:00.000001Z", NOON)
    assert not is_recent_use("2026-03-01T11:00:00.000000Z", NOON)
    for unknown in (None, "", "lately", "2026-03-01T11:59:59"):
        assert not is_recent_use(unknown, NOON)


def test_neither_key_nor_hash_shows_in_the_text_form_of_a_row() -> None:
    assert "hash" not in repr(stored()).replace("api_key_hash", "")
