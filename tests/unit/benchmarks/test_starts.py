"""The benchmark of starts measures the named functions, or reports unknown names."""

import pytest

from benchmarks.starts import main


def test_a_name_of_no_function_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["TagsApi", "NoSuchApi", "AnotherApi"]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "no such functions: AnotherApi, NoSuchApi\n")
