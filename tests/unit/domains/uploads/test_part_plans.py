"""In how many parts files are sent and copied: always within S3's limits."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from backend.domains.uploads import rules
from backend.domains.uploads.models import MAX_PARTS, MAX_URLS, NewFile

MIB = 1024**2
GIB = 1024**3
TIB = 1024**4
SIZES = (10 * GIB, TIB, 5 * TIB, 5 * TIB - 1, 1_500_000 * MIB + 1, 5 * GIB, 5 * MIB, 1)

sizes = st.one_of(st.sampled_from(SIZES), st.integers(1, 5 * TIB))
thresholds = st.sampled_from((5 * MIB, 20 * MIB, GIB, 5 * GIB))


def cut(size: int, parts: int) -> list[int]:
    """As clients cut a file: evenly."""
    length, longer = divmod(size, parts)
    return [length + 1] * longer + [length] * (parts - longer)


def assert_is_taken_by_s3(lengths: list[int], size: int) -> None:
    assert sum(lengths) == size
    assert len(lengths) <= MAX_PARTS
    assert max(lengths) <= rules.MAX_PART_BYTES
    assert all(length >= rules.MIN_PART_BYTES for length in lengths[:-1])


def new(size: int, number: int = 0) -> NewFile:
    return NewFile(relative_key=f"/{number}.bin", file_size=size)


@given(sizes, st.booleans())
def test_any_size_is_sent_in_parts_that_s3_takes(size: int, renews: bool) -> None:
    (parts,) = rules.plan_parts([new(size)], renews=renews)
    assert_is_taken_by_s3(cut(size, parts), size)
    assert renews or parts <= MAX_URLS


@given(st.lists(st.integers(1, 20 * GIB), min_size=1, max_size=50))
def test_the_urls_of_many_files_fit_a_reply(many: list[int]) -> None:
    plan = rules.plan_parts([new(size, number) for number, size in enumerate(many)])
    assert sum(plan) <= MAX_URLS
    for size, parts in zip(many, plan, strict=True):
        assert_is_taken_by_s3(cut(size, parts), size)


def test_plans_of_large_files() -> None:
    assert [rules.plan_parts([new(size)]) for size in (10 * GIB, TIB, 5 * TIB)] == [
        [69],
        [1748],  # of 600 MiB
        [2185],  # of 2,400 MiB
    ]
    assert [rules.plan_parts([new(s)], renews=True) for s in (10 * GIB, TIB, 5 * TIB)] == [
        [69],
        [6991],
        [8739],  # of 600 MiB
    ]


@given(sizes, thresholds)
def test_any_size_is_copied_in_parts_that_s3_takes(size: int, large_bytes: int) -> None:
    spans = rules.copy_spans(size, large_bytes)
    assert spans[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert_is_taken_by_s3([end - start for start, end in spans], size)
