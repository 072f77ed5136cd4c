"""AWS's own rules for deployments (cdk-nag's AwsSolutions), for production and all options."""

import json
from collections.abc import Callable

import pytest

from tests.infra.templates import Assembly

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


OF_OPTIONS = {"AwsSolutions-COG2", "AwsSolutions-COG8"}
"""Accepted rules about resources that only options create."""
KEPT_BY_OPTIONS = {"AwsSolutions-OS1", "AwsSolutions-OS9"}
"""Accepted rules that options keep."""

_UPLOADS = "CDK's own function, which uploads files of the page"
OF_PAGE = {
    "AwsSolutions-CFR1": "users may be anywhere",
    "AwsSolutions-CFR3": "the API has an access log, and the files of the page are public",
    "AwsSolutions-IAM4": _UPLOADS,
    "AwsSolutions-IAM5": _UPLOADS,
    "AwsSolutions-L1": _UPLOADS,
    "AwsSolutions-S1": "the files of the page are public",
}
"""The rules that the page's stack violates, each with the reason."""
WITHOUT_DOMAIN = {
    "AwsSolutions-CFR2": "a firewall is a setting (pageFirewallArn)",
    "AwsSolutions-CFR4": "CloudFront's own domain has no other minimum of TLS",
}
"""The further rules that it violates without a domain and a firewall."""


@pytest.fixture(scope="module")
def violations(synthesized: Callable[[str], Assembly]) -> dict[str, dict[str, list[str]]]:
    """By assembly the violated rules, each with the constructs that violate it."""
    return {name: _violations(synthesized(name)) for name in ("prod", "hardened", "page")}


def _violations(assembly: Assembly) -> dict[str, list[str]]:
    report = json.loads((assembly.folder / "validation-report.json").read_text())
    (plugin,) = (p for p in report["pluginReports"] if p["pluginName"] == "AwsSolutions")
    violations: dict[str, list[str]] = {}
    for violation in plugin["violations"]:
        rule = violation["ruleName"].partition("[")[0]
        paths = [construct["constructPath"] for construct in violation["violatingConstructs"]]
        violations.setdefault(rule, []).extend(paths)
    return violations


def test_a_deployment_keeps_every_rule_but_those_with_a_reason(
    violations: dict[str, dict[str, list[str]]],
) -> None:
    of_page = {*OF_PAGE, *WITHOUT_DOMAIN}
    assert set(violations["prod"]) == (set(ACCEPTED) - OF_OPTIONS) | of_page
    assert set(violations["hardened"]) == (set(ACCEPTED) - KEPT_BY_OPTIONS) | of_page


def test_the_page_keeps_every_rule_but_those_with_a_reason(
    violations: dict[str, dict[str, list[str]]],
) -> None:
    of_web = {
        rule
        for rule, paths in violations["page"].items()
        if any(path.startswith("vitrine-small-web/") for path in paths)
    }
    assert of_web == set(OF_PAGE)


def test_the_data_of_assets_is_covered_by_every_rule_for_buckets_and_tables(
    violations: dict[str, dict[str, list[str]]],
) -> None:
    others = ("AwsSolutions-COG", "AwsSolutions-SMG")  # of users and secrets
    paths = {
        path
        for rules in violations.values()
        for rule, constructs in rules.items()
        if not rule.startswith(others)
        for path in constructs
    }
    of_storage = {path for path in paths if path.startswith("vitrine-prod-storage/")}
    assert of_storage == {"vitrine-prod-storage/MalwareScanRole/Resource"}  # objects of a bucket
