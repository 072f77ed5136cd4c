"""AWS's own rules for deployments (cdk-nag's AwsSolutions), for production with a user pool."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.infra.contexts import HARDENED
from tests.infra.templates import ROOT

CHECK = """
import json, sys
from infra.assembly import build
import aws_cdk
from cdk_nag import AwsSolutionsChecks
app = build(sys.argv[1], json.loads(sys.argv[2]))
aws_cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
app.synth()
"""

PRODUCTION: dict[str, object] = {
    "stage": "prod",
    "bundle": False,
    "userPool": True,
    "cloudTrail": True,
}
ACCEPTED = {
    "AwsSolutions-APIG4": "two routes are public: the version, and what a web client starts with",
    "AwsSolutions-COG2": "a second factor is demanded by roles, of those who have them",
    "AwsSolutions-COG8": "the Plus plan's protection is paid by user: whoever deploys decides",
    "AwsSolutions-IAM5": "indexes of a table, objects of a bucket, paths of the domain; what a "
    "role grants is tested exactly",
    "AwsSolutions-L1": "the runtime is 3.13, for which the layer is built",
    "AwsSolutions-OS1": "a VPC is a setting (searchInVpc); the domain takes signed requests of "
    "this account over TLS only",
    "AwsSolutions-OS3": "functions outside a VPC have no fixed addresses to list",
    "AwsSolutions-OS4": "two small nodes need no masters of their own; what is lost is rebuilt",
    "AwsSolutions-OS9": "slow logs are a setting (searchLogs)",
    "AwsSolutions-SF2": "no function sends traces to X-Ray; executions log every state",
    "AwsSolutions-SMG4": "a new pepper would void all API keys; keys are replaced, not rotated",
}
"""The rules that production violates, each with the reason."""


@pytest.fixture(scope="module")
def violations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The violated rules, each with the constructs that violate it."""
    return _violations(tmp_path_factory.mktemp("nag"), PRODUCTION)


def _violations(folder: Path, context: dict[str, object]) -> dict[str, list[str]]:
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    environment.pop("CDK_VALIDATION", None)
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(folder), json.dumps(context)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    report = folder / "validation-report.json"
    assert report.is_file(), done.stderr
    (plugin,) = json.loads(report.read_text())["pluginReports"]
    found: dict[str, list[str]] = {}
    for violation in plugin["violations"]:
        constructs: list[dict[str, Any]] = violation["violatingConstructs"]
        rule = violation["ruleName"].partition("[")[0]
        found.setdefault(rule, []).extend(c["constructPath"] for c in constructs)
    return found


def test_production_keeps_every_rule_but_those_with_a_reason(
    violations: dict[str, list[str]],
) -> None:
    assert {rule: where for rule, where in violations.items() if rule not in ACCEPTED} == {}


def test_the_optional_protections_break_no_further_rule(
    violations: dict[str, list[str]], tmp_path: Path
) -> None:
    hardened = _violations(tmp_path, PRODUCTION | HARDENED)
    assert set(hardened) <= set(violations) - {"AwsSolutions-OS1", "AwsSolutions-OS9"}


def test_no_reason_is_kept_for_a_rule_that_is_not_broken(violations: dict[str, list[str]]) -> None:
    assert set(ACCEPTED) - set(violations) == set()


def test_the_data_of_assets_is_covered_by_every_rule_for_buckets_and_tables(
    violations: dict[str, list[str]],
) -> None:
    others = ("AwsSolutions-COG", "AwsSolutions-SMG")  # of users and secrets
    storage = {
        path for rule, where in violations.items() if not rule.startswith(others) for path in where
    }
    assert not [path for path in storage if path.startswith("vitrine-prod-storage/")]
