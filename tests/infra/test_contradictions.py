"""Messages about settings that have no effect, are unknown, or are of another region."""

import re
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from backend.spec.functions import FUNCTIONS
from infra.settings import Settings, SettingsError, default_context, read_settings
from infra.settings.contradictions import SWITCHES, functions_left_out
from tests.infra.contexts import ISSUER, SUBNETS, TOPIC, VPC, ZONES
from tests.infra.templates import Assembly

VALUES: dict[str, object] = {
    "searchInstanceType": "r7g.large.search",
    "searchInstanceCount": 3,
    "searchVolumeGb": 21,
    "searchLogs": True,
    "searchInVpc": True,
    "searchGraceSeconds": 31,
    "searchKeepSeconds": 0,
    "searchVpcRange": "10.1.0.0/16",
    "searchVpcZones": ZONES[:1],
    "userPoolFirewall": True,
    "userPoolRequestsPerAddress": 200,
    "oidcAudiences": ["web"],
    "oidcUserClaim": "name",
    "oidcUserPrefix": "x-",
    "oidcEmailClaim": "mail",
    "oidcMfaClaim": "acr",
    "oidcMfaValues": ["otp"],
    "oidcClientId": "web",
    "oidcScope": "openid",
    "oidcScopeMfa": "mfa",
    "auditLockDays": 400,
    "turntables": True,
    "readersInVpc": True,
}
IMPORTED: dict[str, object] = {"searchVpcId": VPC, "searchSubnetIds": SUBNETS[:1]}
"""Settings that require each other."""
OFF: dict[str, dict[str, object]] = {
    "search": {"search": "none"},
    "processing": {"processing": False},
    "readers": {"readers": "off"},
    "userPoolFirewall": {"userPool": True},
    "oidcClientId": {"oidcIssuer": ISSUER, "oidcAudiences": ["web"]},
}
"""How to disable a switch that is on by default, or requires another one."""


def _stage(*, region: str | None = None, names: tuple[str, ...] = (), **given: object) -> Settings:
    context: dict[str, Any] = {"stage": "test", "stages": {"test": given}}
    return read_settings(context.get, names=(*context, *names), region=region)


def _refusal(**given: Any) -> str:
    with pytest.raises(SettingsError) as error:
        _stage(**given)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_every_setting_without_effect_is_refused_with_the_one_that_is_off() -> None:
    """In one loop, because each case takes a millisecond."""
    pairs = [(switch.name, name) for switch in SWITCHES for name in switch.needed_by]
    assert {name for _, name in pairs} == VALUES.keys() | IMPORTED.keys()
    for switch, name in pairs:
        if name in IMPORTED:
            continue
        refusal = _refusal(**OFF.get(switch, {}), **{name: VALUES[name]})
        assert re.match(rf"stages\.test: {name} has no effect, because {switch} is ", refusal)


def test_one_command_may_switch_off_what_the_stage_has_settings_for() -> None:
    context = default_context() | {"stage": "prod"}
    assert read_settings((context | {"search": "none"}).get).search == "none"
    with pytest.raises(SettingsError, match="searchInVpc has no effect, because search is 'none'"):
        read_settings((context | {"search": "none", "searchInVpc": "true"}).get)


def test_defaults_may_be_given_although_another_setting_is_off() -> None:
    assert not _stage(search="none", searchInVpc=False, searchVpcZones=[]).search_in_vpc
    assert _stage(search="none", searchVolumeGb=20).search == "none"


def test_an_existing_network_has_no_effect_without_a_search_domain_in_it() -> None:
    assert "searchVpcId has no effect, because searchInVpc is false" in _refusal(**IMPORTED)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"search": "none", "reservedConcurrency": {"AdminApi": 1}}, "search is 'none'"),
        ({"readers": "off", "reservedConcurrency": {"InspectReader": 1}}, "readers is 'off'"),
    ],
)
def test_no_instances_are_reserved_for_functions_that_are_not_created(
    given: dict[str, Any], reason: str
) -> None:
    assert _refusal(**given).endswith(f" is not created, because {reason}")


def test_the_functions_that_are_left_out_are_not_in_the_templates(
    synthesized: Any, prod: Assembly
) -> None:
    names = {spec.name for spec in FUNCTIONS}
    for search, assembly in (("none", synthesized("without-search")), ("provisioned", prod)):
        left = functions_left_out(_stage(search=search))
        created = {name for name in names if name in assembly.of_type("AWS::Lambda::Function")}
        assert created == names - left.keys()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("serachInVpc", "searchInVpc"),
        ("SearchInVpc", "searchInVpc"),
        ("log-retention-days", "logRetentionDays"),
        ("search_in_vpc", "searchInVpc"),
        ("Stage", "stage"),
    ],
)
def test_an_unknown_key_of_a_command_is_refused_with_the_nearest_setting(
    name: str, nearest: str
) -> None:
    assert _refusal(names=(name,)) == f"{name}: is not a setting; the nearest is {nearest}"
    if nearest != "stage":
        fact = f"stages.test.{name}: is not a setting; the nearest is {nearest}"
        assert _refusal(**{name: True}).startswith(fact)


def test_keys_of_the_cdk_command_are_no_settings() -> None:
    keys = (
        "@aws-cdk/core:newStyleStackSynthesis",
        "aws:cdk:enable-path-metadata",
        "aws-cdk:enableDiffNoFail",
        "availability-zones:account=111122223333:region=eu-central-1",
        "vpc-provider:account=111122223333:filter.vpc-id=vpc-1:region=eu-central-1",
        "ssm:account=111122223333:parameterName=/a:region=eu-central-1",
        "acknowledged-issue-numbers",
        "cli-telemetry",
    )
    assert _stage(names=keys).stage == "test"


def test_lists_of_a_command_are_comma_separated_or_json() -> None:
    context: dict[str, object] = default_context() | {"stage": "prod", "searchInVpc": "true"}
    for text in (",".join(ZONES), ", ".join(ZONES), str(ZONES).replace("'", '"')):
        found = read_settings((context | {"searchVpcZones": text}).get)
        assert found.search_vpc_zones == tuple(ZONES)
    one = read_settings((context | {"importedBuckets": "scans"}).get)
    assert one.imported_buckets == ("scans",)
    assert read_settings((context | {"allowedIpRanges": "192.0.2.0/24"}).get).allowed_ip_ranges
    lost = "[" + ",".join(ZONES) + "]"
    with pytest.raises(SettingsError, match=r"searchVpcZones: must be a list: .*JSON with "):
        read_settings((context | {"searchVpcZones": lost}).get)
    with pytest.raises(SettingsError, match=r"routeThrottles: must be an object: .*its quo"):
        read_settings((context | {"routeThrottles": "{search:{burst:1}}"}).get)


def test_messages_use_the_words_of_json() -> None:
    """Every setting refuses each invalid kind of value, in plain words."""
    refused = ("tuple", "dictionary", "dict", "Value error", "pattern", "regex", "valid", "None")
    wrong: list[Any] = [None, True, 1.5, -1, 10**30, "", " ", "a b", [], [1], [None], {}]
    wrong += [{"a": 1}, {"search": 1}, {"search": {}}, [[]], "\u0000", "\ud800"]
    count = 0
    names = [str(each.alias) for name, each in Settings.model_fields.items() if name != "stage"]
    for name, value in product(names, wrong):
        with suppress(SettingsError):
            _stage(**{name: value})
            continue
        fact = _refusal(**{name: value}).partition(" (given: ")[0]
        assert not [w for w in (*refused, "^", "$") if w in fact], (name, value, fact)
        count += 1
    assert count > 800


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("webUrl", "example.org", "must be an origin such as https://museum.example.org"),
        ("searchVpcZones", [1], "must be a string"),
        ("searchVpcZones", 1, "must be a list"),
        ("routeThrottles", [], "must be an object"),
        ("settleDelaySeconds", "soon", "must be a whole number from 0 to 900"),
        ("settleDelaySeconds", 901, "must be a whole number from 0 to 900"),
        ("apiBurst", 0, "must be a whole number, at least 1"),
        ("bundle", "perhaps", "must be true or false"),
        ("searchInstanceCount", 2, "must be 1, or a multiple of 3"),
        ("allowedIpRanges", ["10.0.0.0/33"], "must be a network such as 192.0.2.0/24"),
        ("search", "serverless", "must be 'provisioned' or 'none'"),
    ],
)
def test_a_message_contains_the_rule_in_words(name: str, value: object, rule: str) -> None:
    assert re.match(rf"stages\.test\.{name}(\.0)?: {rule}.* \(given: ", _refusal(**{name: value}))


REGIONS = ("us-east-1", "eu-central-2", "cn-north-1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alarmTopicArn", TOPIC),
        ("importedKeys", ["arn:aws:kms:eu-central-1:444455556666:key/1"]),
        ("allowedPipelineFunctions", ["arn:aws:lambda:eu-central-1:111122223333:function:f"]),
        ("allowedPipelineQueues", ["arn:aws:sqs:eu-central-1:111122223333:q"]),
        ("allowedPipelineBuses", ["arn:aws:events:eu-central-1:111122223333:event-bus/b"]),
    ],
)
def test_a_resource_of_another_region_is_refused(name: str, value: Any) -> None:
    for region in REGIONS:
        fact = f"{name}: .* is in eu-central-1, and the stage in {region}$"
        assert re.search(fact, _refusal(region=region, **{name: value}))
    assert _stage(region="eu-central-1", **{name: value})
    assert _stage(**{name: value})


def test_zones_of_another_region_are_refused() -> None:
    given: dict[str, Any] = {"searchInVpc": True, "searchInstanceCount": 3, "searchVpcZones": ZONES}
    assert "searchVpcZones: eu-central-1a is not in us-east-1" in _refusal(
        region="us-east-1", **given
    )
    assert _stage(region="eu-central-1", **given)


@pytest.mark.parametrize(
    "arn",
    [
        "operators",
        "arn:aws:sns:eu-central-1:1111:operators",
        "arn:aws:sns:eu-central-1::operators",
        "arn:aws:sns::111122223333:operators",
        "arn:aws:sqs:eu-central-1:111122223333:operators",
        "arn:gcp:sns:eu-central-1:111122223333:operators",
        "arn:aws:sns:eu-central-1:111122223333:operators:0f3a1e2b",
        "arn:aws:sns:eu-central-1:111122223333:",
        "arn:aws:sns:cn-north-1:111122223333:operators",
        "arn:aws-cn:sns:eu-central-1:111122223333:operators",
        "arn:aws:sns:us-gov-west-1:111122223333:operators",
    ],
)
def test_a_topic_of_a_wrong_account_or_partition_is_refused(arn: str) -> None:
    assert _refusal(alarmTopicArn=arn).startswith("stages.test.alarmTopicArn: must be ")


def test_topics_of_other_partitions_are_taken() -> None:
    for partition, region in (("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")):
        arn = f"arn:{partition}:sns:{region}:111122223333:operators"
        assert _stage(alarmTopicArn=arn, region=region).alarm_topic_arn == arn
