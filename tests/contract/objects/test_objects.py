"""The contract of the port of objects, on all supported stores."""

import pytest

from backend.core.errors import NotFoundError
from backend.core.objects import ObjectHead, ObjectRef, ObjectRefusedError, ObjectVersion, Part
from tests.contract.objects.conftest import NOT_MOTO, Store

MIB = 1024 * 1024


def put(store: Store, key: str, body: bytes = b"abc") -> str:
    written = store.objects.put(
        store.bucket, key, body, content_type="text/plain", metadata={"vitrine-sha256": "x="}
    )
    return written.version_id


def start(store: Store, key: str) -> str:
    return store.objects.create_multipart(
        store.bucket, key, content_type="model/gltf-binary", metadata={"vitrine-upload": "y1"}
    )


def send(store: Store, key: str, upload_id: str, number: int, body: bytes) -> Part:
    url = store.objects.presign_part(
        store.bucket, key, upload_id=upload_id, number=number, expires=60
    )
    return Part(number, store.send(url, body).strip('"'), len(body))


def test_a_head_shows_size_type_and_metadata(store: Store) -> None:
    version_id = put(store, "a/b.txt")
    head = store.objects.head(store.bucket, "a/b.txt")
    assert isinstance(head, ObjectHead)
    assert (head.version.version_id, head.version.size) == (version_id, 3)
    assert (head.content_type, head.metadata["vitrine-sha256"]) == ("text/plain", "x=")
    assert head.version.is_latest


def test_a_head_of_what_never_was_returns_nothing(store: Store) -> None:
    assert store.objects.head(store.bucket, "a/none.txt") is None


def test_a_head_shows_a_delete_marker_and_old_versions_stay(store: Store) -> None:
    version_id = put(store, "a/b.txt")
    store.objects.delete(store.bucket, "a/b.txt")
    marker = store.objects.head(store.bucket, "a/b.txt")
    assert isinstance(marker, ObjectVersion)
    assert (marker.is_delete_marker, marker.key) == (True, "a/b.txt")
    assert marker.version_id not in {"", version_id}
    old = store.objects.head(store.bucket, "a/b.txt", version_id=version_id)
    assert isinstance(old, ObjectHead)


def test_a_head_of_an_unknown_version_returns_nothing(store: Store) -> None:
    put(store, "a/b.txt")
    other = put(store, "a/c.txt")
    assert store.objects.head(store.bucket, "a/b.txt", version_id=other) is None


def test_a_head_of_what_is_no_version_id_returns_nothing(store: Store) -> None:
    put(store, "a/b.txt")
    assert store.objects.head(store.bucket, "a/b.txt", version_id="no-such-version") is None


def test_a_head_of_a_marker_by_its_version_shows_the_marker(store: Store) -> None:
    put(store, "a/b.txt")
    store.objects.delete(store.bucket, "a/b.txt")
    latest = store.objects.list_versions(store.bucket, "a/b.txt").versions[0]
    head = store.objects.head(store.bucket, "a/b.txt", version_id=latest.version_id)
    assert isinstance(head, ObjectVersion)
    assert head.is_delete_marker


def test_a_removed_version_is_deleted_permanently(store: Store) -> None:
    version_id = put(store, "a/b.txt")
    store.objects.delete_version(store.bucket, "a/b.txt", version_id=version_id)
    assert store.objects.head(store.bucket, "a/b.txt") is None
    assert store.objects.list_versions(store.bucket, "a/").versions == ()


def test_a_listing_is_in_key_order_and_leaves_deleted_ones_out(store: Store) -> None:
    keys = ["a/b/c.txt", "a/b-d.txt", "a/b.txt", "a/ä.txt", "a/Z.txt", "a/gone.txt", "b/x.txt"]
    for key in keys:
        put(store, key)
    store.objects.delete(store.bucket, "a/gone.txt")
    result = store.objects.list_objects(store.bucket, "a/")
    assert [item.key for item in result.objects] == [
        "a/Z.txt",
        "a/b-d.txt",
        "a/b.txt",
        "a/b/c.txt",
        "a/ä.txt",
    ]
    assert result.next_key is None


def test_pages_of_a_listing_leave_nothing_out(store: Store) -> None:
    keys = [f"a/{number:02}.txt" for number in range(7)]
    for key in keys:
        put(store, key)
    result: list[str] = []
    after = None
    while True:
        page = store.objects.list_objects(store.bucket, "a/", limit=3, after=after)
        result += [item.key for item in page.objects]
        after = page.next_key
        if after is None:
            break
    assert result == keys


def test_versions_are_listed_by_key_and_newest_first(store: Store) -> None:
    first, second = put(store, "a/b.txt"), put(store, "a/b.txt", b"second")
    store.objects.delete(store.bucket, "a/b.txt")
    third = put(store, "a/c.txt")
    listed = store.objects.list_versions(store.bucket, "a/").versions
    assert [(item.key, item.is_delete_marker, item.is_latest) for item in listed] == [
        ("a/b.txt", True, True),
        ("a/b.txt", False, False),
        ("a/b.txt", False, False),
        ("a/c.txt", False, True),
    ]
    assert listed[3].version_id == third
    assert {listed[1].version_id, listed[2].version_id} == {first, second}


def test_pages_of_versions_hold_each_version_once(store: Store) -> None:
    made = [put(store, f"a/{number}.txt") for number in range(4) for _ in range(2)]
    result: list[str] = []
    key, version = None, None
    while True:
        page = store.objects.list_versions(
            store.bucket, "a/", limit=3, after_key=key, after_version_id=version
        )
        result += [item.version_id for item in page.versions]
        key, version = page.next_key, page.next_version_id
        if key is None:
            break
    assert sorted(result) == sorted(made)


def test_a_listing_of_versions_can_begin_after_a_key(store: Store) -> None:
    for name in ("1", "1", "2"):
        put(store, f"a/{name}.txt")
    page = store.objects.list_versions(store.bucket, "a/", after_key="a/1.txt")
    assert [version.key for version in page.versions] == ["a/2.txt"]


def test_the_start_of_an_object_is_read(store: Store) -> None:
    put(store, "a/long.txt", b"0123456789")
    put(store, "a/empty.txt", b"")
    assert store.objects.read_start(store.bucket, "a/long.txt", length=4) == b"0123"
    assert store.objects.read_start(store.bucket, "a/long.txt", length=400) == b"0123456789"
    assert store.objects.read_start(store.bucket, "a/empty.txt", length=4) == b""
    with pytest.raises(NotFoundError):
        store.objects.read_start(store.bucket, "a/none.txt", length=4)


def test_an_object_is_read_in_pieces(store: Store) -> None:
    body = b"0123456789" * 300_000
    put(store, "a/long.bin", body)
    pieces = list(store.objects.read_chunks(store.bucket, "a/long.bin"))
    assert b"".join(pieces) == body
    assert len(pieces) > 1


def test_a_multipart_upload_becomes_an_object(store: Store) -> None:
    key = "temp-uploads/y1/part of ä.glb"
    upload_id = start(store, key)
    parts = [
        send(store, key, upload_id, 1, b"a" * (5 * MIB)),
        send(store, key, upload_id, 2, b"tail"),
    ]
    assert store.objects.list_parts(store.bucket, key, upload_id) == parts
    written = store.objects.complete_multipart(store.bucket, key, upload_id, parts)
    head = store.objects.head(store.bucket, key)
    assert isinstance(head, ObjectHead)
    assert head.version.size == 5 * MIB + 4
    assert head.version.version_id == written.version_id
    assert head.version.etag == written.etag
    assert head.content_type == "model/gltf-binary"
    assert head.metadata["vitrine-upload"] == "y1"


def test_a_part_that_is_sent_again_replaces_the_first(store: Store) -> None:
    upload_id = start(store, "a/b.glb")
    send(store, "a/b.glb", upload_id, 1, b"first")
    second = send(store, "a/b.glb", upload_id, 1, b"second")
    assert store.objects.list_parts(store.bucket, "a/b.glb", upload_id) == [second]


def test_a_part_that_s3_does_not_hold_is_refused(store: Store) -> None:
    upload_id = start(store, "a/b.glb")
    sent = send(store, "a/b.glb", upload_id, 1, b"first")
    wrong = Part(1, "0" * 32)
    for parts in ([wrong], [sent, Part(2, sent.etag)]):
        with pytest.raises(ObjectRefusedError):
            store.objects.complete_multipart(store.bucket, "a/b.glb", upload_id, parts)
    assert store.objects.head(store.bucket, "a/b.glb") is None


def test_an_unknown_upload_is_not_found(store: Store) -> None:
    upload_id = start(store, "a/b.glb")
    sent = send(store, "a/b.glb", upload_id, 1, b"first")
    store.objects.abort_multipart(store.bucket, "a/b.glb", upload_id)
    store.objects.abort_multipart(store.bucket, "a/b.glb", upload_id)
    with pytest.raises(NotFoundError):
        store.objects.list_parts(store.bucket, "a/b.glb", upload_id)
    if store.name != "moto":  # it replies 500
        with pytest.raises(NotFoundError):
            store.objects.complete_multipart(store.bucket, "a/b.glb", upload_id, [sent])
    with pytest.raises(NotFoundError):
        store.objects.list_parts(store.bucket, "a/b.glb", "forged")


def test_an_upload_belongs_to_its_key(store: Store) -> None:
    upload_id = start(store, "a/b.glb")
    if store.name != "moto":  # it does not check the key
        with pytest.raises(NotFoundError):
            store.objects.list_parts(store.bucket, "a/other.glb", upload_id)


def test_a_copy_is_a_new_version_with_its_own_type_and_metadata(store: Store) -> None:
    first = put(store, "a/to ä+%.txt", b"first")
    put(store, "temp/from ä+%.txt", b"second")
    written = store.objects.copy(
        ObjectRef(store.bucket, "temp/from ä+%.txt"),
        ObjectRef(store.bucket, "a/to ä+%.txt"),
        content_type="model/obj",
        metadata={"vitrine-upload": "y2"},
    )
    head = store.objects.head(store.bucket, "a/to ä+%.txt")
    assert isinstance(head, ObjectHead)
    assert (head.content_type, dict(head.metadata)) == ("model/obj", {"vitrine-upload": "y2"})
    assert head.version.version_id == written.version_id != first
    assert head.version.etag == written.etag
    assert store.objects.read_start(store.bucket, "a/to ä+%.txt", length=9) == b"second"


def test_an_older_version_is_copied_over_the_newer_one_and_over_a_marker(store: Store) -> None:
    key = "a/old ä+%.txt"
    first = put(store, key, b"first")
    put(store, key, b"second")
    place = ObjectRef(store.bucket, key)
    for _ in range(2):
        store.objects.copy(place, place, content_type="text/plain", metadata={}, version_id=first)
        assert store.objects.read_start(store.bucket, key, length=9) == b"first"
        store.objects.delete(store.bucket, key)


def test_a_copy_of_an_object_over_itself_has_its_new_metadata(store: Store) -> None:
    first = put(store, "a/x.txt", b"first")
    place = ObjectRef(store.bucket, "a/x.txt")
    written = store.objects.copy(
        place, place, content_type="text/plain", metadata={"vams-primarytype": "lod1"}
    )
    head = store.objects.head(*place)
    assert isinstance(head, ObjectHead)
    assert dict(head.metadata) == {"vams-primarytype": "lod1"}
    assert head.version.version_id == written.version_id
    assert (written.version_id == first) == (store.name == "versitygw")  # it changes the version


def test_a_copy_of_a_version_that_was_deleted_is_not_found(store: Store) -> None:
    gone = put(store, "a/x.txt", b"first")
    put(store, "a/x.txt", b"second")
    store.objects.delete_version(store.bucket, "a/x.txt", version_id=gone)
    place = ObjectRef(store.bucket, "a/x.txt")
    with pytest.raises(NotFoundError):
        store.objects.copy(place, place, content_type="text/plain", metadata={}, version_id=gone)


def test_a_copy_of_nothing_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        store.objects.copy(
            ObjectRef(store.bucket, "none"),
            ObjectRef(store.bucket, "a"),
            content_type="text/plain",
            metadata={},
        )


def test_a_file_beside_a_folder_of_its_name_is_taken_or_refused_with_a_reason(
    store: Store,
) -> None:
    put(store, "a/b", b"file")
    put(store, "source", b"source")
    target = ObjectRef(store.bucket, "a/b/c.txt")
    if store.name == "versitygw":
        with pytest.raises(ObjectRefusedError) as refusal:
            store.objects.copy(
                ObjectRef(store.bucket, "source"), target, content_type="text/plain", metadata={}
            )
        assert "a/b/c.txt" in refusal.value.message
    else:
        store.objects.copy(
            ObjectRef(store.bucket, "source"), target, content_type="text/plain", metadata={}
        )


def test_a_name_of_more_than_255_bytes_is_taken_or_refused_with_a_reason(store: Store) -> None:
    put(store, "source", b"source")
    target = ObjectRef(store.bucket, "a/" + "ä" * 200 + ".glb")
    if store.name == "versitygw":
        with pytest.raises(ObjectRefusedError):
            store.objects.copy(
                ObjectRef(store.bucket, "source"), target, content_type="text/plain", metadata={}
            )
    else:
        store.objects.copy(
            ObjectRef(store.bucket, "source"), target, content_type="text/plain", metadata={}
        )


ODD_KEYS = ("a/with blank.txt", "a/ä+%20&<>.txt", "a/+.txt", "a/日本 😀.txt", "a/'quoted\".txt")


def test_many_keys_get_delete_markers_together(store: Store) -> None:
    kept = put(store, "a/kept.txt")
    for key in ODD_KEYS:
        put(store, key)
    store.objects.delete_many(store.bucket, [(key, None) for key in ODD_KEYS])
    result = store.objects.list_objects(store.bucket, "a/").objects
    assert [item.key for item in result] == ["a/kept.txt"]
    markers = {
        version.key
        for version in store.objects.list_versions(store.bucket, "a/").versions
        if version.is_delete_marker and version.is_latest
    }
    assert markers == set(ODD_KEYS)
    assert store.objects.head(store.bucket, "a/kept.txt", version_id=kept) is not None


def test_without_its_marker_a_file_is_there_with_the_version_it_had(store: Store) -> None:
    versions = {key: put(store, key) for key in ODD_KEYS}
    store.objects.delete_many(store.bucket, [(key, None) for key in ODD_KEYS])
    markers = [
        (version.key, version.version_id)
        for version in store.objects.list_versions(store.bucket, "a/").versions
        if version.is_delete_marker
    ]
    store.objects.delete_many(store.bucket, markers)
    for key, version_id in versions.items():
        head = store.objects.head(store.bucket, key)
        assert isinstance(head, ObjectHead)
        assert head.version.version_id == version_id


@NOT_MOTO
def test_all_versions_of_more_keys_than_one_request_takes_are_removed(store: Store) -> None:
    for number in range(1001):
        put(store, f"a/{number:04}.txt", b"")
    store.objects.delete(store.bucket, "a/0000.txt")
    removed = 0
    while versions := store.objects.list_versions(store.bucket, "a/", limit=1000).versions:
        store.objects.delete_many(store.bucket, [(item.key, item.version_id) for item in versions])
        removed += len(versions)
    assert removed == 1002


def test_more_than_a_thousand_deletes_are_several_requests(store: Store) -> None:
    put(store, "a/b.txt")
    gone = [(f"a/{number}.txt", None) for number in range(1200)]
    store.objects.delete_many(store.bucket, [*gone, ("a/b.txt", None)])
    assert store.objects.list_objects(store.bucket, "a/").objects == ()


def test_a_version_that_was_deleted_already_is_no_error(store: Store) -> None:
    version_id = put(store, "a/b.txt")
    for _ in range(2):
        store.objects.delete_many(store.bucket, [("a/b.txt", version_id)])
    assert store.objects.list_versions(store.bucket, "a/").versions == ()


def test_nothing_to_delete_is_no_request(store: Store) -> None:
    store.objects.delete_many("no-such-bucket", [])


def test_open_uploads_below_a_prefix_are_listed_until_they_are_abandoned(store: Store) -> None:
    begun = {start(store, key): key for key in ("t/y1/ä b", "t/y1/c", "t/y1/c", "t/y2/d")}
    multiparts = store.objects.list_multiparts(store.bucket, "t/y1/")
    assert sorted((element.key, element.upload_id) for element in multiparts) == sorted(
        (key, upload_id) for upload_id, key in begun.items() if key != "t/y2/d"
    )
    for item in multiparts:
        store.objects.abort_multipart(store.bucket, item.key, item.upload_id)
    assert store.objects.list_multiparts(store.bucket, "t/y1/") == []
    assert len(store.objects.list_multiparts(store.bucket, "t/")) == 1


def test_keys_that_no_xml_can_hold_are_deleted_too(store: Store) -> None:
    version_id = put(store, "a/bell\x07.txt")
    store.objects.delete_many(store.bucket, [("a/bell\x07.txt", None), ("a/other.txt", None)])
    assert store.objects.list_objects(store.bucket, "a/").objects == ()
    old = ("a/bell\x07.txt", version_id)
    store.objects.delete_many(store.bucket, [old])
    if store.name != "moto":  # its listings of versions cannot contain such a key either
        assert store.objects.head(store.bucket, old[0], version_id=version_id) is None
