"""Wrong usage of the command: the exit code 2, and JSON where it was requested."""

import json

import pytest

from tests.unit.client.shell import Shell

WRONG = (
    ("get", "garage"),
    ("get",),
    ("cat", "garage", "pump", "a.glb", "--from", "x"),
    ("cat", "garage", "pump", "a.glb", "--from", "-1"),
    ("get", "garage", "pump", "--unknown"),
    ("get", "garage", "pump", "more"),
    ("metadata", "set", "garage", "pump", "key", "value", "--type", "nothing"),
    ("ingest", "garage", "pump", "/no/such/file"),
    ("unknown",),
    ("databases", "unknown"),
    ("databases",),
    ("--unknown",),
    ("get", "garage", "--key"),
    (),
)


def test_wrong_usage_is_json_where_json_is_requested(shell: Shell) -> None:
    for arguments in WRONG:
        for given in ((*arguments, "--json"), ("--json", *arguments)):
            shell.run(*given)
            assert (shell.code, shell.out) == (2, ""), given
            error = json.loads(shell.err)["error"]
            assert set(error) == {"message", "code", "requestId"}, given
            assert error["message"], given


def test_the_fact_is_named(shell: Shell) -> None:
    facts = {
        ("get", "garage"): "ASSET",
        ("get", "garage", "pump", "--unknown"): "--unknown",
        ("cat", "garage", "pump", "a.glb", "--from", "x"): "--from",
        ("unknown",): "unknown",
    }
    for arguments, fact in facts.items():
        shell.run(*arguments, "--json")
        assert fact in json.loads(shell.err)["error"]["message"]


def test_without_json_wrong_usage_is_text(shell: Shell) -> None:
    shell.run("get", "garage")
    assert shell.code == 2
    assert "Usage:" in shell.err
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(shell.err)


def test_json_after_the_end_of_options_is_a_value(shell: Shell) -> None:
    shell.run("get", "garage", "--", "--json", "more")
    assert shell.code == 2
    assert "Usage:" in shell.err


def test_what_succeeds_or_is_declined_is_as_before(shell: Shell) -> None:
    assert "items" in shell.json("databases", "list")
    assert shell.code == 0
    shell.run("get", "--help", "--json")
    assert (shell.code, "Usage:" in shell.out) == (0, True)
    shell.run("get", "garage", "nothing", "--json")
    assert shell.code == 3
    assert json.loads(shell.err)["error"]["code"]
