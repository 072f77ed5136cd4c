"""The assembly as a whole: complete, reproducible, clean, and within CloudFormation's limits.

This takes over 20 s: cfn-lint checks each property of the ten templates of both stages (17 s), and
the app is synthesized once more (4 s).
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.spec.functions import FUNCTIONS, Function
from infra.settings.network import zones_of
from local.engines import opensearch
from tests.infra.templates import ROOT, Assembly

MAX_RESOURCES = 450
STACKS = {"storage", "search", "bootstrap", "api", "indexing", "pipelines"}
OUTPUTS = {
    "ApiUrl": "<HttpApi.ApiEndpoint>",
    "AdminApiKeySecret": "<AdminApiKey>",
    "SearchEndpoint": "<SearchDomain.DomainEndpoint>",
    "AssetBucketName": "<AssetBucket>",
    "FailureBucketName": "<FailureBucket>",
}
SUSPICIOUS = {
    "an access key": re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a private key": re.compile(r"PRIVATE KEY"),
    "a time": re.compile(r"\b20\d\d-\d\d-\d\dT\d\d"),
    "a folder of this machine": re.compile(r'"/(home|root|tmp|Users|work)/'),
    "an account": re.compile(r":(?!111122223333)\d{12}:"),  # except the topic of this test
}


def test_the_stacks_are_the_six_of_the_design_and_alarms_with_a_topic(
    local: Assembly, prod: Assembly
) -> None:
    assert set(local.templates) == STACKS
    assert set(prod.templates) == STACKS | {"alarms"}


def test_every_stack_stays_below_the_limit_of_resources(assembly: Assembly) -> None:
    for name, template in assembly.templates.items():
        assert len(template["Resources"]) < MAX_RESOURCES, name


def test_the_outputs_have_fixed_names(assembly: Assembly) -> None:
    assert {name: assembly.text(assembly.output(name)) for name in OUTPUTS} == OUTPUTS


def test_a_logical_id_is_used_once_in_the_whole_deployment_but_for_the_layers(
    assembly: Assembly,
) -> None:
    named = [resource.name for resource in assembly.all]
    names = [name for name in named if not name.endswith("Dependencies")]
    assert len(set(names)) == len(names)


def test_the_stacks_do_not_depend_on_each_other_in_a_circle(assembly: Assembly) -> None:
    waiting = assembly.stack_order()
    while waiting:
        ready = {name for name, needed in waiting.items() if not needed & set(waiting)}
        assert ready, waiting
        waiting = {name: needed for name, needed in waiting.items() if name not in ready}


def test_the_search_service_is_the_declared_line_and_closed(assembly: Assembly) -> None:
    (domain,) = assembly.of_type("AWS::OpenSearchService::Domain").values()
    properties = domain.properties
    assert properties["EngineVersion"] == "OpenSearch_3.7"
    assert properties["DomainEndpointOptions"]["EnforceHTTPS"] is True
    nodes = properties["ClusterConfig"]
    zones = nodes.get("ZoneAwarenessConfig", {"AvailabilityZoneCount": 1})["AvailabilityZoneCount"]
    assert zones == zones_of(nodes["InstanceCount"])
    assert properties["NodeToNodeEncryptionOptions"] == {"Enabled": True}
    assert properties["EncryptionAtRestOptions"]["Enabled"] is True
    assert properties["AdvancedOptions"] == {
        "indices.query.bool.max_clause_count": str(opensearch.MAX_CLAUSES)
    }
    (allowed,) = properties["AccessPolicies"]["Statement"]
    account = "arn:<AWS::Partition>:iam::<AWS::AccountId>:root"
    assert assembly.text(allowed["Principal"]["AWS"]) == account


def _indexes(spec: Function) -> bool:
    """Return whether a function is useless without indexes, because it writes or checks them."""
    return spec.search in {"write", "sweep", "renew"} or spec.name == "CheckSearch"


def test_a_deployment_without_search_indexes_nothing_and_has_no_endpoint(
    synthesized: Callable[[str], Assembly],
) -> None:
    found = synthesized("without-search")
    assert set(found.templates) == STACKS - {"search"} | {"probe"}
    made = found.of_type("AWS::Lambda::Function")
    left_out = {spec.name for spec in FUNCTIONS} - set(made)
    assert left_out == {spec.name for spec in FUNCTIONS if _indexes(spec)}
    # Objects of other programs become assets anyway; only the sweep is omitted.
    assert set(found.of_type("AWS::Events::Rule")) == {
        "AssetBucketToBucketEvents",
        "AssetBucketToScanResults",
        "StatesToExecutionStatus",
        "ReconcileExecutionsSchedule",
    }
    for function in found.of_type("AWS::Lambda::Function").values():
        assert "SEARCH_ENDPOINT" not in function.properties["Environment"]["Variables"]
    for role in found.of_type("AWS::IAM::Role").values():
        for actions, _ in found.statements(role):
            assert not [action for action in actions if action.startswith("es:")]


def test_an_account_with_few_instances_is_warned_of_where_it_is_synthesized(
    synthesized: Callable[[str], Assembly], prod: Assembly
) -> None:
    def messages(assembly: Assembly) -> str:
        return "".join(path.read_text() for path in assembly.folder.glob("*.metadata.json"))

    assert "accountConcurrency is 10" in messages(synthesized("without-search"))
    assert "accountConcurrency" not in messages(prod)


def test_bootstrap_may_read_the_quota_that_it_compares_with_the_needs_of_the_stage(
    prod: Assembly, synthesized: Callable[[str], Assembly]
) -> None:
    small = synthesized("without-search")
    for assembly, advised in ((prod, "248"), (small, "56")):
        needed = {"InstancesRequired": "0", "InstancesAdvised": advised}
        needed["UnreservedAdvised"] = advised
        given = assembly.resource("BootstrapRun").properties
        assert {name: given[name] for name in needed} == needed
        assert assembly.text(assembly.output("Account")) == "<BootstrapRun.Account>"
        readers = [
            name
            for name, role in assembly.of_type("AWS::IAM::Role").items()
            if (["lambda:GetAccountSettings"], ["*"]) in assembly.statements(role)
        ]
        assert readers == ["BootstrapRole"]


def test_bootstrap_reads_no_quota_from_a_network_without_a_way_to_lambda(
    synthesized: Callable[[str], Assembly],
) -> None:
    found = synthesized("hardened")
    assert "InstancesAdvised" not in found.resource("BootstrapRun").properties
    allowed = found.statements(found.resource("BootstrapRole"))
    assert not [actions for actions, _ in allowed if "lambda:GetAccountSettings" in actions]


def test_bootstrap_runs_again_when_a_declaration_or_its_settings_change(
    local: Assembly, prod: Assembly, synthesized: Callable[[str], Assembly]
) -> None:
    other = synthesized("locked")
    runs = [assembly.resource("BootstrapRun") for assembly in (local, prod, other)]
    assert all(run.type == "Custom::Bootstrap" for run in runs)
    assert all(local.text(run.properties["ServiceToken"]) == "<Bootstrap.Arn>" for run in runs)
    same, of_prod, changed = (run.properties["Declarations"] for run in runs)
    assert re.fullmatch("[0-9a-f]{64}", same)
    assert same == of_prod != changed


@pytest.mark.parametrize("what", sorted(SUSPICIOUS))
def test_no_template_holds(assembly: Assembly, what: str) -> None:
    for path in assembly.folder.glob("*.json"):
        found = SUSPICIOUS[what].search(path.read_text())
        assert found is None, (path.name, found)


def _asset_folders(assembly: Assembly) -> list[Path]:
    return sorted(path for path in assembly.folder.glob("asset.*") if path.is_dir())


def test_the_code_of_the_functions_is_the_package_and_nothing_else(local: Assembly) -> None:
    (code,) = (path for path in _asset_folders(local) if (path / "backend").is_dir())
    assert [path.name for path in code.iterdir()] == ["backend"]
    assert {path.suffix for path in code.rglob("*") if path.is_file()} == {".py", ".json"}
    assert (code / "backend" / "spec" / "tables" / "model.py").is_file()


def test_the_layer_holds_only_the_requirements_unless_it_is_built_for_a_deploy(
    local: Assembly,
) -> None:
    layers = [path for path in _asset_folders(local) if not (path / "backend").is_dir()]
    assert all([path.name for path in layer.iterdir()] == ["requirements.txt"] for layer in layers)
    pinned = {path.read_bytes() for path in (ROOT / "backend").glob("requirements*.txt")}
    assert {(layer / "requirements.txt").read_bytes() for layer in layers} == pinned
    assert len(layers) == 3


def test_another_version_of_opensearch_is_no_other_domain(assembly: Assembly) -> None:
    domain = assembly.resource("SearchDomain")
    assert domain.body["UpdatePolicy"] == {"EnableVersionUpgrade": True}


def test_a_stage_without_packages_is_refused_by_the_command_in_each_stack(
    assembly: Assembly,
) -> None:
    refused = {
        path.name.removesuffix(".metadata.json").rpartition("-")[2]
        for path in assembly.folder.glob("*.metadata.json")
        for entries in json.loads(path.read_text()).values()
        for entry in entries
        if entry["type"] == "aws:cdk:error" and "has no setting `bundle`" in entry["data"]
    }
    assert refused == set(assembly.templates)


def test_the_command_needs_a_stage_and_runs_the_python_of_the_environment() -> None:
    configuration = json.loads((ROOT / "cdk.json").read_text())
    assert configuration["app"] == ".venv/bin/python app.py"
    assert "stage" not in configuration["context"]
    environment = {"PATH": os.environ["PATH"], "CDK_CLI_VERSION": "2.1148.1"}
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "stage: not given; add -c stage=NAME (local, minimal, prod, small)\n",
    )


def test_the_command_refuses_a_stage_without_packages_in_one_sentence() -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "CDK_CLI_VERSION": "2.1148.1",
        "CDK_CONTEXT_JSON": '{"stage": "local"}',
    }
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("the stage local has no setting `bundle`: ")
    assert done.stderr.count("\n") == 1


def test_nothing_is_printed_but_warnings_of_the_product(assembly: Assembly) -> None:
    """CDK recommends an explicit strength of references between stacks."""
    found = [
        entry["data"]
        for path in assembly.folder.glob("*.metadata.json")
        for entries in json.loads(path.read_text()).values()
        for entry in entries
        if entry["type"] == "aws:cdk:warning"
    ]
    assert found == []


def test_the_command_is_pinned_with_its_hash() -> None:
    lock = json.loads((ROOT / "infra" / "cdk" / "package-lock.json").read_text())
    packages = lock["packages"]
    assert set(packages) == {"", "node_modules/aws-cdk"}
    assert packages[""]["dependencies"] == {"aws-cdk": packages["node_modules/aws-cdk"]["version"]}
    assert packages["node_modules/aws-cdk"]["integrity"].startswith("sha512-")
