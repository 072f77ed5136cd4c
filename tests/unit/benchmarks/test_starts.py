"""The benchmark of starts measures what it is asked for, or says that there is no such thing."""

import pytest

from benchmarks.starts import main


def test_a_name_of_no_function_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["TagsApi", "NoSuchApi", "AnotherApi"]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "no such functions: AnotherApi, NoSuchApi\n")
