"""bandit's findings in the code, each with the reason why it is acceptable."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCANNED = ("app.py", "backend", "client/src", "docs", "infra", "local")
"""All code that is deployed, given to users or run by developers. Tests contain such findings on
purpose."""

_LOCAL = "starts the engines and tools of the local runtime; no user's input is part of a command"
_BUILD = "starts the tools of a build or of this repository, whose commands are fixed"
ACCEPTED: dict[tuple[str, str], str] = {
    ("B105", "client/src/vitrine/resources/versions.py"): "no password: there is no next token",
    ("B311", "backend/processing/descriptors.py"): "samples with a fixed seed: no secret",
    ("B404", "backend/processing/jail/parent.py"): "as B603",
    ("B603", "backend/processing/jail/parent.py"): "starts the product's own readers, confined; "
    "no user's input is part of the command",
    (
        "B406",
        "backend/processing/readers/three_mf.py",
    ): "quotes attributes that are written; a part that declares entities is refused",
    ("B311", "local/pumps/batches.py"): "jitter of a pause; nobody gains by foreseeing it",
    ("B314", "backend/aws/parsing.py"): "what S3 answers over TLS, as the SDK itself parses it; "
    "expat expands no external entities and bounds internal ones",
    ("B405", "backend/aws/parsing.py"): "as B314",
    ("B314", "backend/processing/readers/e57.py"): "a description with a document type is refused",
    ("B405", "backend/processing/readers/e57.py"): "as B314",
    (
        "B314",
        "backend/processing/readers/xml_start.py",
    ): "in the confined process; expat opens no external entities and bounds internal ones",
    **{
        ("B405", f"backend/processing/readers/{name}.py"): "as B314 of xml_start.py"
        for name in ("mjcf", "robots", "sdf", "svg", "urdf", "xml_start")
    },
    ("B108", "local/box.py"): "the folder that functions may write to on Lambda, opened by no name",
    ("B608", "infra/stacks/api.py"): "a query of CloudWatch, made of constants",
    ("B105", "local/edge.py"): "the name of the setting that holds the secret, not the secret",
    ("B105", "local/state.py"): "the name of the file that holds the key, not the key",
    ("B106", "local/states/corrections.py"): "the local engine takes any credentials",
    ("B310", "local/states/corrections.py"): "the address is the runner's own, given at the start",
    **{
        (test, path): _LOCAL
        for test in ("B404", "B603")
        for path in (
            "local/cli.py",
            "local/demo.py",
            "local/engines/go.py",
            "local/engines/guard.py",
            "local/engines/java.py",
            "local/engines/jvm.py",
            "local/engines/process.py",
            "local/engines/s3.py",
            "local/first_look.py",
            "local/layers.py",
            "local/synthesis.py",
            "local/tracking_demo.py",
        )
    },
    **{
        (test, path): _BUILD
        for test in ("B404", "B603")
        for path in ("docs/costs.py", "infra/assets.py")
    },
}
"""A kind of finding in a file. No comment in the code suppresses findings."""


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], list[str]]:
    """The findings, each kind of a file with the lines where it is."""
    done = subprocess.run(
        [sys.executable, "-m", "bandit", "-q", "-f", "json", "--ignore-nosec", "-r", *SCANNED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert not report["errors"]
    assert report["metrics"]["_totals"]["loc"] > 10_000
    findings: dict[tuple[str, str], list[str]] = {}
    for item in report["results"]:
        place = item["test_id"], Path(item["filename"]).as_posix()
        result = f"{item['filename']}:{item['line_number']} {item['issue_text']}"
        findings.setdefault(place, []).append(result)
    return findings


def test_bandit_finds_nothing_that_has_no_reason(found: dict[tuple[str, str], list[str]]) -> None:
    assert not {place: result for place, result in found.items() if place not in ACCEPTED}


def test_no_reason_is_given_for_what_is_not_found(found: dict[tuple[str, str], list[str]]) -> None:
    assert not set(ACCEPTED) - set(found)


def test_bandit_finds_what_is_planted(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("import os\nimport sys\nos.system('ls ' + sys.argv[1])\n")
    done = subprocess.run(
        [sys.executable, "-m", "bandit", "-q", "-f", "json", str(planted)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "B605" in {result["test_id"] for result in json.loads(done.stdout)["results"]}
