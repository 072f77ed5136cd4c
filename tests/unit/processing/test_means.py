"""Means of the kernel that a reader requires before it may read an untrusted file."""

from backend.processing.jail.confinement import Means

FILTERED = Means(filtered=True)
IN_FOLDER = Means(filtered=True, in_folder=True)
UNPRIVILEGED = Means(filtered=True, unprivileged=True)
REFUSED = Means(in_folder=True, unprivileged=True, reason="Operation not permitted")


def test_a_reader_without_files_needs_only_the_filter() -> None:
    reason = "this system cannot confine the process that reads the file: Operation not permitted"
    for hidden in (True, False):
        assert FILTERED.lacks(files=False, hidden=hidden) is None
        assert REFUSED.lacks(files=False, hidden=hidden) == reason
        assert REFUSED.lacks(files=True, hidden=hidden) == reason


def test_a_reader_with_files_needs_landlock_or_a_hidden_parent_and_no_capabilities() -> None:
    enough = {
        (means, hidden): means.lacks(files=True, hidden=hidden) is None
        for means in (FILTERED, IN_FOLDER, UNPRIVILEGED)
        for hidden in (True, False)
    }
    assert {item for item, is_enough in enough.items() if is_enough} == {
        (IN_FOLDER, True),
        (IN_FOLDER, False),
        (UNPRIVILEGED, True),
    }
