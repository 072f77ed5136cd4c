"""Comparison of files, by checksums or ETags as S3 computes them, and the parts of uploads."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vitrine.transfer import content, ingesting
from vitrine.transfer.content import DEFAULT_PART, part_sizes, same_content
from vitrine.transfer.opening import MAX_PARTS, part_number

from backend.domains.uploads import models, rules
from tests.unit.client.fake_files import md5_of_parts, sha256

BYTES = b"some bytes of a model" * 50


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.glb"
    path.write_bytes(BYTES)
    return path


def test_files_are_compared_by_checksums_or_else_by_etags(file: Path) -> None:
    sizes = part_sizes(len(BYTES), 4)
    parts = [BYTES[sum(sizes[:at]) : sum(sizes[: at + 1])] for at in range(4)]
    assert b"".join(parts) == BYTES
    composite = sha256(b"of parts") + "-2"  # a checksum of checksums is left aside
    for checksum, etag, same in (
        (sha256(BYTES), "nonsense", True),
        (sha256(b"other"), None, False),
        (composite, None, None),
        (composite, md5_of_parts([BYTES]), True),
        (None, f'"{hashlib.md5(BYTES).hexdigest()}"', True),
        (None, md5_of_parts(parts), True),
        *((None, etag, None) for etag in (None, "", "opaque", "0" * 32)),
        *((None, "0" * 32 + count, None) for count in ("-3", "-9999")),
    ):
        assert same_content(file, len(BYTES), checksum=checksum, etag=etag) is same, (
            checksum,
            etag,
        )
    assert same_content(file / "not even read", 0, checksum=None, etag=None) is True


@given(st.integers(1, 5 * 1024**4), st.integers(1, 10_000))
def test_parts_add_up_to_the_file_and_none_is_empty(size: int, count: int) -> None:
    if count > size:
        with pytest.raises(ValueError, match="cannot be cut"):
            part_sizes(size, count)
        return
    sizes = part_sizes(size, count)
    assert (sum(sizes), len(sizes)) == (size, count)
    assert min(sizes) > 0


def test_default_parts_and_plans_of_10_gib_1_tib_and_5_tib() -> None:
    size = 2 * DEFAULT_PART + 5
    assert part_sizes(size, 3) == [DEFAULT_PART, DEFAULT_PART, 5]
    assert content.expected_parts(DEFAULT_PART) == 1
    assert part_sizes(10, 3) == [4, 3, 3]
    sized = [max(part_sizes(s, part_number(s, 64 * MIB))) // MIB for s in (10 * GIB, TIB, 5 * TIB)]
    assert sized == [64, 104, 524]


MIB = 1024**2
GIB = 1024**3
TIB = 1024**4
LARGE = (10 * GIB, TIB, 5 * TIB, 5 * TIB - 1, 9 * GIB + 1, 5 * GIB, 5 * MIB, 1)

file_sizes = st.one_of(st.sampled_from(LARGE), st.integers(1, 5 * TIB))
wishes = st.one_of(st.sampled_from((5, 64, 150, 3000, 5120)), st.integers(5, 5120))


def assert_is_taken_by_s3(lengths: list[int], size: int) -> None:
    assert sum(lengths) == size
    assert len(lengths) <= MAX_PARTS == models.MAX_PARTS
    assert max(lengths) <= rules.MAX_PART_BYTES
    assert all(length >= rules.MIN_PART_BYTES for length in lengths[:-1])


@given(file_sizes)
def test_a_file_is_cut_as_the_server_chooses(size: int) -> None:
    announced = models.NewFile(relative_key="/a", file_size=size)
    (number,) = rules.plan_parts([announced], renews=True)
    assert_is_taken_by_s3(part_sizes(size, number), size)


@given(file_sizes, wishes)
def test_a_file_is_cut_into_parts_of_the_requested_length(size: int, wish: int) -> None:
    number = part_number(size, wish * MIB)
    assert_is_taken_by_s3(part_sizes(size, number), size)
    announced = models.NewFile(relative_key="/a", file_size=size, num_parts=number)
    assert rules.plan_parts([announced], renews=True) == [number]


@given(st.lists(st.integers(1, 5 * GIB), min_size=1, max_size=20))
def test_the_files_of_one_ingest_have_parts_that_s3_takes(many: list[int]) -> None:
    length = ingesting.part_size_of(many)
    for size in many:
        whole, rest = divmod(size, length)
        assert_is_taken_by_s3([length] * whole + [rest] * (rest > 0), size)
