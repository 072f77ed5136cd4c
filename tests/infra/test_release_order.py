"""The targets of `make` that call AWS refuse unknown stages, and ask about releases."""

import io
import re
import subprocess
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from infra import release_order
from infra.settings import ROOT


class FakeCloudFormation:
    """Describes one stack, or fails."""

    def __init__(self, *releases: str, error: tuple[str, str] | None = None) -> None:
        self.outputs = [{"OutputKey": "Release", "OutputValue": r} for r in releases]
        self.error = error

    def describe_stacks(self, **request: str) -> dict[str, Any]:
        assert request == {"StackName": "vitrine-prod-storage"}
        if self.error:
            code, message = self.error
            raise ClientError({"Error": {"Code": code, "Message": message}}, "DescribeStacks")
        return {"Stacks": [{"Outputs": self.outputs}]}


def deploy(monkeypatch: pytest.MonkeyPatch, account: FakeCloudFormation) -> int:
    def client(name: str, region_name: str) -> FakeCloudFormation:
        assert (name, region_name) == ("cloudformation", "eu-central-1")
        return account

    # The CDK command prefers it to the profile's region.
    monkeypatch.setenv("AWS_REGION", "eu-central-1")

    monkeypatch.setattr(boto3, "client", client)
    monkeypatch.setattr(release_order, "PRODUCT_VERSION", "0.2.0")
    return release_order.main("prod")


@pytest.mark.parametrize("release", [(), ("0.1.9",), ("0.2.0rc1",), ("0.2.0",)])
def test_a_release_that_is_not_newer_is_replaced(
    release: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert deploy(monkeypatch, FakeCloudFormation(*release)) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("release", "reported"),
    [
        ("0.10.0", "prod has release 0.10.0, and this is 0.2.0"),
        ("0.2.1rc1", "prod has release 0.2.1rc1, and this is 0.2.0"),
        ("main-4f2c", "prod has release main-4f2c, which is no version, and this is 0.2.0"),
    ],
)
@pytest.mark.parametrize(("answer", "code"), [(None, 1), ("", 1), ("n", 1), ("y", 0)])
def test_a_release_that_may_be_newer_is_replaced_only_if_that_is_confirmed(
    release: str,
    reported: str,
    answer: str | None,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return answer is not None

    monkeypatch.setattr("sys.stdin", Terminal(f"{answer}\n"))
    assert deploy(monkeypatch, FakeCloudFormation(release)) == code
    assert capsys.readouterr().err.startswith(reported)


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (("ValidationError", "Stack with id vitrine-prod-storage does not exist"), ""),
        (("AccessDenied", "not authorized"), "which release prod has is unknown: "),
    ],
)
def test_a_stage_whose_release_is_unknown_is_deployed(
    error: tuple[str, str],
    reported: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert deploy(monkeypatch, FakeCloudFormation(error=error)) == 0
    assert capsys.readouterr().err.startswith(reported)


def test_an_unknown_stage_is_refused_before_anything_else() -> None:
    command = ("make", "--no-print-directory", "--old-file=.venv/.ready", "deploy", "STAGE=nope")
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refusal, *rest = result.stderr.splitlines()
    assert refusal == "stage: 'nope' is not one of local, minimal, prod, small"
    assert (result.returncode, len(rest), result.stdout) == (2, 1, "")  # and the line of make
    rules = re.findall(r"(?m)^(\w+): (\S+) .*(?=##)", (ROOT / "Makefile").read_text())
    first = dict(rules)
    assert {first[name] for name in ("bootstrap", "deploy", "destroy", "diff")} == {"stage"}
