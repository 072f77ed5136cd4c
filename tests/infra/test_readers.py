"""The functions that read files: they have no permissions, and an instance serves one file."""

from collections.abc import Callable
from typing import Any

import pytest

from backend.spec.functions import FUNCTIONS
from backend.spec.functions.inspection import WAITING_MEMORY_MB, WAITING_STORAGE_MB
from infra.settings import default_context, read_settings
from tests.infra.templates import Assembly

READERS = [spec for spec in FUNCTIONS if spec.kind == "reader"]
CALLERS = [spec for spec in FUNCTIONS if spec.calls]


@pytest.fixture(scope="module")
def waiting(synthesized: Callable[[str], Assembly]) -> Assembly:
    """A stage whose pipelines always wait for readers in a network."""
    return synthesized("without-search")


def _settings(**given: object) -> Any:
    return read_settings((default_context() | {"stage": "local"} | given).get)


def test_readers_write_their_log_and_nothing_else(prod: Assembly) -> None:
    assert [spec.name for spec in READERS] == ["InspectReader", "InspectCadReader"]
    for spec in READERS:
        (statement,) = prod.statements(prod.resource(f"{spec.name}Role"))
        assert statement == (
            ["logs:CreateLogStream", "logs:PutLogEvents"],
            [f"<{spec.name}Logs.Arn>"],
        )


def test_only_readers_are_in_tenant_isolation(prod: Assembly) -> None:
    for spec in FUNCTIONS:
        tenancy = prod.resource(spec.name).properties.get("TenancyConfig")
        isolated = {"TenantIsolationMode": "PER_TENANT"}
        assert tenancy == (isolated if spec.kind == "reader" else None), spec.name


def test_a_pipeline_runs_longer_than_its_reader() -> None:
    for spec in CALLERS:
        (reader,) = spec.calls
        assert spec.timeout_seconds > 2 * (reader.timeout_seconds + 30)
        assert reader.packages == spec.packages


def test_a_pipeline_that_always_waits_is_small(waiting: Assembly) -> None:
    for spec in CALLERS:
        properties = waiting.resource(spec.name).properties
        assert properties["MemorySize"] == WAITING_MEMORY_MB < spec.memory_mb
        assert properties["EphemeralStorage"] == {"Size": WAITING_STORAGE_MB}
        assert properties["Environment"]["Variables"]["SETTING_READERS"] == "always"
        reader = waiting.resource(spec.calls[0].name).properties
        assert reader["MemorySize"] == spec.calls[0].memory_mb


def test_readers_in_a_network_reach_objects_of_our_buckets_only(waiting: Assembly) -> None:
    functions = waiting.of_type("AWS::Lambda::Function").items()
    placed = {name for name, function in functions if "VpcConfig" in function.properties}
    assert placed == {spec.name for spec in READERS}
    (endpoint,) = waiting.of_type("AWS::EC2::VPCEndpoint").values()
    assert endpoint.properties["VpcEndpointType"] == "Gateway"  # which the page on costs states
    (statement,) = endpoint.properties["PolicyDocument"]["Statement"]
    assert set(statement["Action"]) == {"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"}
    assert set(waiting.texts(statement["Resource"])) == {
        *("<AssetBucket.Arn>/*", "<AssetAuxiliaryBucket.Arn>/*"),
    }
    assert "SecurityGroupIngress" not in waiting.resource("ReadersGroup").properties
    kinds = {resource.type for resource in waiting.all}
    assert not kinds & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route"}


def test_an_execution_counts_as_two_instances_of_half_of_the_account() -> None:
    """Pipelines that wait cannot take the instances of the readers for which they wait."""
    for account, at_once, expected in (
        (1000, 50, 50),
        (1000, 900, 250),
        (200, 50, 50),
        (120, 50, 30),
    ):
        given = {"accountConcurrency": account, "executionsAtOnce": at_once, "queueConcurrency": 2}
        assert _settings(**given).environment()["EXECUTIONS_AT_ONCE"] == str(expected)
