"""Comparison of files: by checksums, or else by ETags as S3 computes them."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vitrine.transfer import content
from vitrine.transfer.content import DEFAULT_PART, part_sizes, same_content

from tests.unit.client.fake_files import md5_of_parts, sha256

BYTES = b"some bytes of a model" * 50


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.glb"
    path.write_bytes(BYTES)
    return path


def test_a_whole_object_checksum_decides(file: Path) -> None:
    right, wrong = sha256(BYTES), sha256(b"other")
    assert same_content(file, len(BYTES), checksum=right, etag="nonsense") is True
    assert same_content(file, len(BYTES), checksum=wrong, etag=None) is False


def test_a_checksum_of_checksums_is_left_aside(file: Path) -> None:
    composite = sha256(b"of parts") + "-2"
    assert same_content(file, len(BYTES), checksum=composite, etag=None) is None
    etag = md5_of_parts([BYTES])
    assert same_content(file, len(BYTES), checksum=composite, etag=etag) is True


def test_a_plain_etag_is_the_md5(file: Path) -> None:
    etag = f'"{hashlib.md5(BYTES).hexdigest()}"'
    assert same_content(file, len(BYTES), checksum=None, etag=etag) is True


def test_a_multipart_etag_is_the_md5_of_the_parts(file: Path) -> None:
    sizes = part_sizes(len(BYTES), 4)
    parts = [BYTES[sum(sizes[:at]) : sum(sizes[: at + 1])] for at in range(4)]
    assert b"".join(parts) == BYTES
    assert same_content(file, len(BYTES), checksum=None, etag=md5_of_parts(parts)) is True


@pytest.mark.parametrize(
    "etag", [None, "", "opaque", "0" * 32, "0" * 32 + "-3", "0" * 32 + "-9999"]
)
def test_an_etag_that_does_not_fit_leaves_it_open(file: Path, etag: str | None) -> None:
    assert same_content(file, len(BYTES), checksum=None, etag=etag) is None


def test_two_empty_files_are_the_same(tmp_path: Path) -> None:
    assert same_content(tmp_path / "not even read", 0, checksum=None, etag=None) is True


@given(st.integers(1, 5 * 1024**4), st.integers(1, 10_000))
def test_parts_add_up_to_the_file_and_none_is_empty(size: int, count: int) -> None:
    if count > size:
        with pytest.raises(ValueError, match="cannot be cut"):
            part_sizes(size, count)
        return
    sizes = part_sizes(size, count)
    assert (sum(sizes), len(sizes)) == (size, count)
    assert min(sizes) > 0


def test_default_parts_are_used_where_their_number_fits() -> None:
    size = 2 * DEFAULT_PART + 5
    assert part_sizes(size, 3) == [DEFAULT_PART, DEFAULT_PART, 5]
    assert content.expected_parts(DEFAULT_PART) == 1
    assert part_sizes(10, 3) == [4, 3, 3]
