"""The settings of a stage: read from cdk.json, checked, and refused by name."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from backend.spec.queues import QUEUE_SUBSCRIPTIONS
from backend.spec.settings import SETTINGS
from infra.settings import Settings, SettingsError, default_context, described, read_settings
from infra.settings.network import subnet_ranges, zones_of
from tests.infra.contexts import IMPORTED_KEY, SUBNETS, VPC, ZONES
from tests.infra.templates import ROOT

STAGES = ("local", "minimal", "small", "prod")


def _read(stage: str, **context: object) -> Settings:
    return read_settings((default_context() | {"stage": stage} | context).get)


def _as_text(value: object) -> object:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("stage", STAGES)
def test_a_setting_of_one_command_is_read_from_its_text_as_from_cdk_json(stage: str) -> None:
    """The CDK command passes the value of `-c name=value` as a text."""
    throttles = {"search": {"requestsPerSecond": 5, "burst": 10}}
    settings = _read(stage, importedBuckets=["scans"], routeThrottles=throttles)
    given = settings.model_dump(mode="json", by_alias=True, exclude={"stage"})
    texts = {name: _as_text(value) for name, value in given.items()}
    assert _read(stage, **texts) == settings


def test_a_text_remains_a_text_and_a_wrong_one_is_refused_by_its_name() -> None:
    assert _read("prod", adminUserId="12345").admin_user_id == "12345"
    for name, text in (("logRetentionDays", "31"), ("importedBuckets", "sc"), ("bundle", "{}")):
        with pytest.raises(SettingsError, match=f"stages.prod.{name}"):
            _read("prod", **{name: text})


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_has_a_value_for_every_declared_setting(stage: str) -> None:
    assert set(_read(stage).environment()) == {setting.name for setting in SETTINGS}


def test_the_defaults_are_those_that_the_declarations_name() -> None:
    context: dict[str, object] = {"stage": "bare", "stages": {"bare": {}}}
    defaults = read_settings(context.get).environment()
    assert defaults == {setting.name: str(setting.default) for setting in SETTINGS}


def test_every_setting_has_a_meaning_and_the_protections_are_off() -> None:
    defaults = {name: default for name, default, meaning in described() if meaning}
    assert len(defaults) == len(Settings.model_fields) - 1  # the stage itself has no default
    off: dict[str, object] = {
        "reservedConcurrency": {},
        "routeThrottles": {},
        "searchInVpc": False,
        "searchLogs": False,
        "userPoolFirewall": False,
        "webUrl": "",
    }
    assert {name: defaults[name] for name in off} == off


def test_production_has_the_settings_of_the_design() -> None:
    settings = _read("prod")
    assert settings.search == "provisioned"
    assert settings.settle_delay_seconds == 900
    assert settings.upload_rate_per_minute == 20
    assert settings.bundle
    assert settings.customer_managed_key


def test_reads_are_audited_unless_the_stage_disables_it() -> None:
    audited = {_read("prod").environment()["AUDIT_READS"]}
    assert audited == {_read("local").environment()["AUDIT_READS"]} == {"1"}
    assert _read("prod", auditReads=False).environment()["AUDIT_READS"] == "0"


def test_context_comes_before_the_stage() -> None:
    assert _read("prod", bundle="false").bundle is False
    assert _read("local", settleDelaySeconds=5).settle_delay_seconds == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("settleDelaySeconds", 901),
        ("settleDelaySeconds", "soon"),
        ("presignedUrlSeconds", 3601),
        ("uploadRatePerMinute", 0),
        ("search", "serverless"),
        ("searchInstanceCount", 2),
        ("searchInstanceCount", 4),
        ("searchInstanceCount", 0),
        ("webUrl", "https://example.org/app"),
        ("webUrl", "example.org"),
        ("allowedIpRanges", [f"192.0.{n}.0/24" for n in range(100)]),
        ("logRetentionDays", 8),
        ("auditLock", "forever"),
        ("auditLockDays", 0),
        ("alarmTopicArn", "operators"),
        ("adminUserId", "a#b"),
        ("bundle", "perhaps"),
        ("reservedConcurrency", {"Nobody": 5}),
        ("queueConcurrency", 1),
        ("queueConcurrency", 11),
        ("accountConcurrency", 0),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=rf"^stages\.local\.{name}: .+{value}") as error:
        _read("local", **{name: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("nodes", "zones"), [(1, 1), (3, 3), (6, 3), (9, 3), (78, 3)])
def test_nodes_are_spread_evenly_over_three_zones(nodes: int, zones: int) -> None:
    assert zones_of(_read("prod", searchInstanceCount=nodes).search_instance_count) == zones


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            {"accountConcurrency": 10},
            "start 124 instances at once, half of accountConcurrency is 5",
        ),
        ({"accountConcurrency": 100, "queueConcurrency": 6}, "start 76 instances"),
        (
            {"importedBuckets": [f"{n:02}" + "b" * 61 for n in range(8)]},
            "importedBuckets and importedKeys take 1392 characters",
        ),
        ({"importedKeys": [IMPORTED_KEY] * 13}, "importedBuckets and importedKeys take"),
        (
            {"accountConcurrency": 300, "reservedConcurrency": {"SearchApi": 201}},
            "reservedConcurrency takes 201 of 300",
        ),
        ({"reservedConcurrency": {"PurgeWorker": 1}}, "PurgeWorker needs at least 2"),
        (
            {"queueConcurrency": 4, "reservedConcurrency": {"SearchWorker": 3}},
            "SearchWorker needs at least 4",
        ),
    ],
)
def test_settings_that_do_not_fit_an_account_or_its_roles_are_refused(
    settings: dict[str, object], reason: str
) -> None:
    with pytest.raises(SettingsError, match=rf"^stages\.prod: .*{reason}") as error:
        _read("prod", **settings)
    assert "given" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (
            {"searchVpcRange": "10.1.0.0/16"},
            "searchVpcRange has no effect, because searchInVpc is false",
        ),
        ({"searchVpcZones": ZONES}, "searchVpcZones has no effect, because searchInVpc is false"),
        ({"searchVpcId": VPC, "searchSubnetIds": SUBNETS}, "because searchInVpc is false"),
        ({"searchInVpc": True, "searchVpcId": VPC}, "need each other"),
        ({"searchInVpc": True, "searchSubnetIds": SUBNETS}, "need each other"),
        (
            {
                "searchInVpc": True,
                "searchVpcId": VPC,
                "searchSubnetIds": SUBNETS,
                "searchVpcRange": "10.1.0.0/16",
            },
            "are of a new network",
        ),
        (
            {"searchInVpc": True, "searchVpcId": VPC, "searchSubnetIds": SUBNETS[:2]},
            "searchSubnetIds has 2, and searchInstanceCount needs 3",
        ),
        (
            {"searchInVpc": True, "searchInstanceCount": 1, "searchVpcZones": ZONES},
            "searchVpcZones has 3, and searchInstanceCount needs 1",
        ),
        ({"searchInVpc": True, "searchVpcZones": [ZONES[0]] * 3}, "searchVpcZones names one twice"),
        (
            {"searchInVpc": True, "searchVpcId": VPC, "searchSubnetIds": [SUBNETS[0]] * 3},
            "searchSubnetIds names one twice",
        ),
    ],
)
def test_settings_of_the_network_that_contradict_each_other_are_refused(
    settings: dict[str, object], reason: str
) -> None:
    with pytest.raises(SettingsError, match=rf"^stages\.prod: .*{reason}") as error:
        _read("prod", **settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("searchVpcRange", "10.0.0.1/16"),
        ("searchVpcRange", "10.0.0.0/15"),
        ("searchVpcRange", "10.0.0.0/23"),
        ("searchVpcRange", "10.0.0.0"),
        *(
            ("searchVpcRange", f"{first}.0.0/16")
            for first in ("127.0", "169.254", "224.0", "240.0")
        ),
        ("searchVpcRange", "fd00::/16"),
        ("searchVpcId", "subnet-0123456789abcdef0"),
        ("searchVpcZones", "eu-central"),
    ],
)
def test_a_network_that_aws_refuses_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=rf"^stages\.prod\.{name}(\.0)?: .+{value}") as error:
        _read("prod", searchInVpc=True, **{name: value})
    assert "\n" not in str(error.value)


def test_subnets_are_sixteenths_of_the_network() -> None:
    assert subnet_ranges(_read("prod").search_vpc_range)[:3] == [
        "10.0.0.0/20",
        "10.0.16.0/20",
        "10.0.32.0/20",
    ]


def test_reservations_are_needed_beside_what_lambda_leaves_unreserved() -> None:
    found = _read("prod", reservedConcurrency={"SearchWorker": 10, "SearchApi": 20})
    needed = found.instances_needed()
    assert needed["InstancesRequired"] == "130"
    assert int(needed["InstancesAdvised"]) == 248
    consumed = next(each for each in QUEUE_SUBSCRIPTIONS if each.consumer == "SearchWorker")
    assert int(needed["UnreservedAdvised"]) == 248 - 2 * found.concurrency_of(consumed)


def test_an_account_of_few_instances_has_room_for_all_queues_and_requests() -> None:
    found = _read("prod", accountConcurrency=56, queueConcurrency=2)
    assert {found.concurrency_of(each) for each in QUEUE_SUBSCRIPTIONS} == {2}
    assert list(found.warnings()) == list(_read("prod").warnings()) == []


@pytest.mark.parametrize("stage", ["minimal", "small"])
def test_a_new_account_is_warned_and_may_deploy_a_small_stage(stage: str) -> None:
    assert _read(stage).queue_concurrency == 2
    (warning,) = _read(stage).warnings()
    assert warning.startswith("accountConcurrency is 10, and queues may start 28 instances at once")
    assert warning.endswith("at least 56")
    assert list(_read(stage, accountConcurrency=56).warnings()) == []
    assert len(list(_read(stage, accountConcurrency=55).warnings())) == 1


def test_a_key_is_named_by_its_arn() -> None:
    with pytest.raises(SettingsError, match=r"^stages\.local\.importedKeys\.0: .+'alias/files'"):
        _read("local", importedKeys=["alias/files"])


def test_limits_are_for_groups_that_there_are() -> None:
    with pytest.raises(SettingsError, match=r"^stages\.local\.routeThrottles\.uploads"):
        _read("local", routeThrottles={"uploads": {"requestsPerSecond": 1, "burst": 1}})
    with pytest.raises(SettingsError, match=r"^stages\.local\.routeThrottles\.search\.burst: "):
        _read("local", routeThrottles={"search": {"requestsPerSecond": 1, "burst": 0}})


def test_an_unknown_setting_is_refused_by_its_name() -> None:
    with pytest.raises(SettingsError, match=r"^stages\.local\.serach: "):
        _read("local", stages={"local": {"serach": "none"}})


def test_an_unknown_stage_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        SettingsError, match=r"^stage: 'staging' is not one of local, minimal, prod, small$"
    ):
        _read("staging")


def test_stages_that_are_no_object_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"^stages: "):
        _read("local", stages=["local"])


def test_a_cdk_json_without_context_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "cdk.json"
    for content in ("{", "[]", '{"app": "python app.py"}'):
        path.write_text(content)
        with pytest.raises(SettingsError, match=r"^cdk\.json: "):
            default_context(path)


@pytest.mark.parametrize(
    ("context", "fact"),
    [
        (
            {"stage": "staging"},
            "stage: 'staging' is not one of local, minimal, prod, small",
        ),
        ({"serachInVpc": "true"}, "serachInVpc: is not a setting; the nearest is searchInVpc"),
    ],
)
def test_the_app_prints_what_is_wrong_in_one_line_and_fails(
    context: dict[str, object], fact: str
) -> None:
    environment = dict(os.environ) | {"CDK_CONTEXT_JSON": json.dumps(context)}
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, f"{fact}\n")


def test_a_broken_cdk_json_is_named_by_the_app_and_by_no_check_before_it(tmp_path: Path) -> None:
    (tmp_path / "cdk.json").write_text('{"context": {\n"stages": {},,}}')
    with pytest.raises(SettingsError, match=r"^cdk\.json: Invalid JSON: .* at line 2 column 14$"):
        default_context(tmp_path / "cdk.json")
    command = ["make", "-f", str(ROOT / "Makefile"), "stage", "STAGE=minimal"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_app_refuses_options_which_are_the_cdk_commands() -> None:
    command = [sys.executable, "app.py", "-c", "stage=prod"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    fact = "-c: app.py has no options; they are given to the CDK command: make diff STAGE= ARGS="
    assert (done.returncode, done.stderr) == (2, f"{fact}\n")


def test_settings_of_one_command_are_taken_as_the_page_writes_them() -> None:
    """Two shells read them: the one of the terminal, and that of make."""
    page = (ROOT / "docs" / "guides" / "deploying.md").read_text()
    given = [shlex.split(shlex.split(each)[0]) for each in re.findall(r'`ARGS=("-c .+?")`', page)]
    names = {value.partition("=")[0] for _, value in given}
    assert {"importedBuckets", "reservedConcurrency", "logRetentionDays"} <= names
    for _, value in given:
        name, _, text = value.partition("=")
        assert _read("prod", **{name: text})
