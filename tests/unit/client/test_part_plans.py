"""Numbers of parts of uploads: within S3's limits, chosen by client or server.

The client cuts files by the server's plan, so both sides are tested together.
"""

from hypothesis import given
from hypothesis import strategies as st
from vitrine.transfer import ingesting
from vitrine.transfer.content import part_sizes
from vitrine.transfer.opening import MAX_PARTS, part_number

from backend.domains.uploads import models, rules

MIB = 1024**2
GIB = 1024**3
TIB = 1024**4
LARGE = (10 * GIB, TIB, 5 * TIB, 5 * TIB - 1, 9 * GIB + 1, 5 * GIB, 5 * MIB, 1)

sizes = st.one_of(st.sampled_from(LARGE), st.integers(1, 5 * TIB))
wishes = st.one_of(st.sampled_from((5, 64, 150, 3000, 5120)), st.integers(5, 5120))


def assert_is_taken_by_s3(lengths: list[int], size: int) -> None:
    assert sum(lengths) == size
    assert len(lengths) <= MAX_PARTS == models.MAX_PARTS
    assert max(lengths) <= rules.MAX_PART_BYTES
    assert all(length >= rules.MIN_PART_BYTES for length in lengths[:-1])


@given(sizes)
def test_a_file_is_cut_as_the_server_chooses(size: int) -> None:
    announced = models.NewFile(relative_key="/a", file_size=size)
    (number,) = rules.plan_parts([announced], renews=True)
    assert_is_taken_by_s3(part_sizes(size, number), size)


@given(sizes, wishes)
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


def test_plans_of_10_gib_1_tib_and_5_tib() -> None:
    sized = [max(part_sizes(s, part_number(s, 64 * MIB))) // MIB for s in (10 * GIB, TIB, 5 * TIB)]
    assert sized == [64, 104, 524]
