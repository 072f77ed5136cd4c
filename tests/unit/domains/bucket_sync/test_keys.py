"""Keys in S3's events on EventBridge: unchanged, without an encoding."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.deliveries import InvalidEventError
from backend.core.names import MAX_KEY_BYTES, check_asset_id
from backend.core.objects import ObjectRef
from backend.domains.bucket_sync import rules
from backend.domains.bucket_sync.models import Folder, Skip
from backend.domains.buckets.models import AssetBucket
from backend.spec.key_layouts import RESERVED_FOLDERS
from tests.factories.bucket_sync import BUCKET, SyncWorld, message

CHARACTERS = st.characters(exclude_categories=["Cs"])
KEYS = st.text(CHARACTERS, min_size=1).filter(lambda key: len(key.encode()) <= MAX_KEY_BYTES)
TRICKY = st.sampled_from(["+", " ", "%20", "%2F", "%", "&amp;", "é", "😀", "ß", "a+b c", "\\u0041"])
NAMES = st.lists(TRICKY | st.text(CHARACTERS, min_size=1, max_size=9), min_size=1, max_size=4).map(
    "".join
)
BASES = st.sampled_from(["/", "scans/", "a b/c+d/"])


def bucket(base: str) -> AssetBucket:
    return AssetBucket(bucket_id="one", bucket_name=BUCKET, base_assets_prefix=base)


def message_of(key: str, *, escaped: bool) -> dict[str, Any]:
    sent = message(key)
    body = json.loads(sent["body"])
    return {**sent, "body": json.dumps(body, ensure_ascii=escaped)}


@given(key=KEYS, escaped=st.booleans())
def test_a_key_is_taken_as_it_was_written(key: str, escaped: bool) -> None:
    assert rules.named_object(message_of(key, escaped=escaped)) == ObjectRef(BUCKET, key)


@given(name=NAMES, rest=st.text(CHARACTERS, max_size=20), base=BASES)
def test_the_first_component_below_the_base_is_the_asset_letter_by_letter(
    name: str, rest: str, base: str
) -> None:
    name = name.replace("/", "-")
    key = f"{bucket(base).key_prefix}{name}/{rest}"
    place = rules.place_of(ObjectRef(BUCKET, key), [bucket(base)])
    if name in RESERVED_FOLDERS:
        assert isinstance(place, Skip)
        return
    assert isinstance(place, Folder)
    assert place.name == name
    assert key.startswith(place.prefix)
    assert 4 <= len(rules.description_of(place)) <= rules.ABOUT_CHARS


@given(key=KEYS, base=BASES)
def test_every_key_is_placed_or_has_a_reason(key: str, base: str) -> None:
    place = rules.place_of(ObjectRef(BUCKET, key), [bucket(base)])
    if isinstance(place, Folder):
        assert key.startswith(place.prefix)
    else:
        assert place.reason
        assert place.example.key == key


@given(name=NAMES)
def test_every_good_id_becomes_an_asset_and_every_bad_one_a_failure(name: str) -> None:
    name = name.replace("/", "-")
    world = SyncWorld()
    world.put(f"{name}/no-dot")
    world.deliver_events(f"{name}/no-dot")
    try:
        check_asset_id(name)
    except ValueError:
        assert world.asset(name) is None
        assert len(world.kept) == 1
    else:
        asset = world.asset(name)
        assert asset is not None
        assert asset.asset_location.key == f"{name}/"
        assert asset.asset_name == name


@pytest.mark.parametrize(
    "path",
    [
        "no-dot",
        "a b/c+d %20 é.txt",
        "deep/" * 100 + "x",
        "folder marker/",
        "x" * (MAX_KEY_BYTES - len("pump/")),
        "é" * 509 + "x",
        "a.previewFile.png",
    ],
)
def test_whatever_the_path_the_asset_is_made(path: str) -> None:
    assert len(f"pump/{path}".encode()) <= MAX_KEY_BYTES
    world = SyncWorld()
    world.put(f"pump/{path}")
    world.deliver_events(f"pump/{path}")
    assert world.asset("pump") is not None
    assert world.kept == []


@pytest.mark.parametrize(
    "body",
    ["", "[]", "null", "{}", '{"detail": {"bucket": {"name": "b"}, "object": {"key": ""}}}'],
)
def test_a_message_without_an_object_is_reported(body: str) -> None:
    with pytest.raises(InvalidEventError):
        rules.named_object({"body": body})


def test_the_object_that_guardduty_puts_to_try_a_bucket_needs_no_operator() -> None:
    named = ObjectRef(BUCKET, "malware-protection-resource-validation-object")
    place = rules.place_of(named, [bucket("/")])
    assert isinstance(place, Skip)
    assert place.is_expected
