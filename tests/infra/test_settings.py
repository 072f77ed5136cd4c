"""The settings of a stage: read from cdk.json and from commands, checked, and refused by name."""

import json
import re
import shlex
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from backend.spec.queues import QUEUE_SUBSCRIPTIONS
from backend.spec.settings import SETTINGS
from infra.settings import Settings, SettingsError, default_context, described, read_settings
from infra.settings.contradictions import SWITCHES
from infra.settings.network import zones_of
from tests.infra.contexts import (
    CERTIFICATE,
    EDGE_VERSION,
    FIREWALL,
    IMPORTED_KEY,
    ISSUER,
    SUBNETS,
    TOPIC,
    VPC,
    ZONES,
)
from tests.infra.templates import ROOT

STAGES = ("local", "minimal", "small", "prod")
LAMBDA = "arn:aws:lambda:eu-central-1:111122223333:function:"
VALUES: dict[str, object] = {
    "searchInstanceType": "r7g.large.search",
    "searchInstanceCount": 3,
    "searchVolumeGb": 21,
    "searchLogs": True,
    "searchInVpc": True,
    "searchGraceSeconds": 31,
    "searchKeepSeconds": 0,
    "searchVpcRange": "10.1.0.0/16",
    "eventArchiveDays": 30,
    "searchVpcZones": ZONES[:1],
    "userPoolFirewall": True,
    "userPoolRequestsPerAddress": 200,
    "userPoolDomain": "museum-models",
    "userPoolProviders": {"Okta": {"metadataUrl": "https://login.example.org/saml"}},
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
    "apiOnlyThroughPage": True,
    "pageDomain": "models.example.org",
    "pageCertificateArn": CERTIFICATE,
    "pageFirewallArn": FIREWALL,
    "pageSignInOrigins": ["https://tokens.example.org"],
    "pageEdgeVersion": EDGE_VERSION,
}
IMPORTED: dict[str, object] = {"searchVpcId": VPC, "searchSubnetIds": SUBNETS[:1]}
"""Settings that require each other."""
OFF: dict[str, dict[str, object]] = {
    "search": {"search": "none"},
    "processing": {"processing": False},
    "readers": {"readers": "off"},
    "userPoolFirewall": {"userPool": True},
    "userPoolDomain": {"userPool": True, "page": True},
    "page": {"userPool": True},
    "oidcClientId": {"oidcIssuer": ISSUER, "oidcAudiences": ["web"]},
}
"""How to disable a switch that is on by default, or requires another one."""


def _read(stage: str, **context: object) -> Settings:
    """Return the settings of a stage of cdk.json, with those of a command."""
    return read_settings((default_context() | {"stage": stage} | context).get)


def _stage(*, region: str | None = None, names: tuple[str, ...] = (), **stage: object) -> Settings:
    """Return the settings of a stage that has only these."""
    context: dict[str, Any] = {"stage": "test", "stages": {"test": stage}}
    return read_settings(context.get, names=(*context, *names), region=region)


def _refusal(**stage: Any) -> str:
    with pytest.raises(SettingsError) as error:
        _stage(**stage)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("stage", STAGES)
def test_a_setting_of_one_command_is_read_from_its_text_as_from_cdk_json(stage: str) -> None:
    """The CDK command passes the value of `-c name=value` as a text."""
    throttles = {"search": {"requestsPerSecond": 5, "burst": 10}}
    settings = _read(stage, importedBuckets=["scans"], routeThrottles=throttles)
    values = settings.model_dump(mode="json", by_alias=True, exclude={"stage"})
    texts = {
        n: value if isinstance(value, str) else json.dumps(value) for n, value in values.items()
    }
    assert _read(stage, **texts) == settings


def test_lists_of_a_command_are_comma_separated_or_json() -> None:
    for text in (",".join(ZONES), ", ".join(ZONES), json.dumps(ZONES)):
        assert _read("prod", searchInVpc="true", searchVpcZones=text).search_vpc_zones == tuple(
            ZONES
        )
    assert _read("prod", importedBuckets="scans").imported_buckets == ("scans",)
    assert _read("prod", adminUserId="12345").admin_user_id == "12345"
    for name, text, fact in (
        ("searchVpcZones", "[" + ",".join(ZONES) + "]", "must be a list: .*JSON with its quotes"),
        ("routeThrottles", "{search:{burst:1}}", "must be an object: JSON with its quotes"),
        ("logRetentionDays", "31", "must be "),
        ("bundle", "{}", "must be true or false"),
    ):
        with pytest.raises(SettingsError, match=rf"^stages\.prod\.{name}: {fact}"):
            _read("prod", **{name: text})


def test_settings_of_one_command_are_taken_as_the_page_writes_them() -> None:
    """Two shells read them: the one of the terminal, and that of make."""
    page = (ROOT / "docs" / "guides" / "deploying.md").read_text()
    options = [shlex.split(shlex.split(m)[0]) for m in re.findall(r'`ARGS=("-c .+?")`', page)]
    settings = dict(value.split("=", 1) for _, value in options)
    assert {"importedBuckets", "reservedConcurrency", "logRetentionDays"} <= settings.keys()
    for name, text in settings.items():
        assert _read("prod", **{name: text})


def test_the_defaults_are_those_that_the_declarations_name() -> None:
    assert _stage().environment() == {setting.name: str(setting.default) for setting in SETTINGS}


def test_every_setting_has_a_meaning() -> None:
    meanings = [meaning for _, _, meaning in described() if meaning]
    assert len(meanings) == len(Settings.model_fields) - 1  # the stage itself has no default


def test_a_setting_of_a_command_overrides_the_stage() -> None:
    assert _read("prod").bundle
    assert _read("prod", bundle="false").bundle is False
    assert _read("prod").environment()["AUDIT_READS"] == "1"
    assert _read("prod", auditReads=False).environment()["AUDIT_READS"] == "0"
    assert _read("prod", search="none").search == "none"  # prod has settings for search
    with pytest.raises(SettingsError, match="searchInVpc has no effect, because search is 'none'"):
        _read("prod", search="none", searchInVpc="true")


def test_every_setting_without_effect_is_refused_with_the_one_that_is_off() -> None:
    """In one loop, because each case takes a millisecond."""
    pairs = [(switch.name, name) for switch in SWITCHES for name in switch.needed_by]
    assert {name for _, name in pairs} == VALUES.keys() | IMPORTED.keys()
    for switch, name in pairs:
        if name in IMPORTED:
            continue
        refusal = _refusal(**OFF.get(switch, {}), **{name: VALUES[name]})
        assert re.match(rf"stages\.test: {name} has no effect, because {switch} is ", refusal)
    assert not _stage(search="none", searchInVpc=False, searchVpcZones=[]).search_in_vpc
    assert _stage(search="none", searchVolumeGb=20).search == "none"


NEW_NETWORK = {"searchInVpc": True, "searchInstanceCount": 3}
NETWORK: dict[str, object] = {"searchVpcId": VPC, "searchSubnetIds": SUBNETS}


@pytest.mark.parametrize(
    ("stage", "fact"),
    [
        (IMPORTED, "searchVpcId has no effect, because searchInVpc is false"),
        ({"search": "none", "reservedConcurrency": {"AdminApi": 1}}, "AdminApi is not created, "),
        (
            {"readers": "off", "reservedConcurrency": {"InspectReader": 1}},
            "because readers is 'off'",
        ),
        (
            {"accountConcurrency": 10},
            "start 124 instances at once, half of accountCon",
        ),
        ({"accountConcurrency": 100, "queueConcurrency": 6}, "start 76 instances"),
        (
            {"accountConcurrency": 300, "reservedConcurrency": {"SearchApi": 201}},
            "reservedConcurrency takes 201 of 300",
        ),
        ({"reservedConcurrency": {"PurgeWorker": 1}}, "PurgeWorker needs at least 2"),
        (
            {"queueConcurrency": 4, "reservedConcurrency": {"SearchWorker": 3}},
            "SearchWorker needs at least 4",
        ),
        (
            {"importedBuckets": [f"{n:02}" + "b" * 61 for n in range(8)]},
            "importedBuckets and importedKeys take 1392 characters",
        ),
        ({"importedKeys": [IMPORTED_KEY] * 13}, "importedBuckets and importedKeys take 1253 "),
        ({"searchInVpc": True, "searchVpcId": VPC}, "need each other"),
        ({"searchInVpc": True, "searchSubnetIds": SUBNETS}, "need each other"),
        (
            {
                **NEW_NETWORK,
                "searchVpcId": VPC,
                "searchSubnetIds": SUBNETS,
                "searchVpcZones": ZONES,
            },
            "are of a new network",
        ),
        (
            {**NEW_NETWORK, **NETWORK, "searchVpcRange": "10.1.0.0/16"},
            "are of a new network",
        ),
        (
            {**NEW_NETWORK, "searchVpcId": VPC, "searchSubnetIds": SUBNETS[:2]},
            "searchSubnetIds has 2, and searchInstanceCount needs 3",
        ),
        (
            {"searchInVpc": True, "searchVpcZones": ZONES},
            "searchVpcZones has 3, and searchInstanceCount needs 1",
        ),
        ({**NEW_NETWORK, "searchVpcZones": [ZONES[0]] * 3}, "searchVpcZones names one twice"),
        ({"allowedPipelineFunctions": [f"{LAMBDA}vitrine-test-AssetsApi"]}, "of this deployment"),
        ({"allowedPipelineFunctions": [f"{LAMBDA}{'f' * 64}"] * 20}, "functions take 2000"),
    ],
)
def test_settings_that_contradict_each_other_or_aws_are_refused(
    stage: dict[str, object], fact: str
) -> None:
    refusal = _refusal(**stage)
    assert refusal.startswith("stages.test: ")
    assert fact in refusal
    assert "given" not in refusal


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("webUrl", "example.org", "must be an origin such as https://museum.example.org"),
        ("searchVpcZones", [1], "must be a string"),
        ("searchVpcZones", 1, "must be a list"),
        ("searchVpcZones", ["eu-central"], "must be the name of an availability zone"),
        ("routeThrottles", [], "must be an object"),
        ("settleDelaySeconds", "soon", "must be a whole number from 0 to 900"),
        ("settleDelaySeconds", 901, "must be a whole number from 0 to 900"),
        ("presignedUrlSeconds", 3601, "must be a whole number from 1 to 3600"),
        ("uploadRatePerMinute", 0, "must be a whole number, at least 1"),
        ("apiBurst", 0, "must be a whole number, at least 1"),
        ("accountConcurrency", 0, "must be a whole number, at least 1"),
        ("queueConcurrency", 1, "must be a whole number from 2 to 10"),
        ("queueConcurrency", 11, "must be a whole number from 2 to 10"),
        ("bundle", "perhaps", "must be true or false"),
        ("searchInstanceCount", 0, "must be a whole number from 1 to 80"),
        ("searchInstanceCount", 2, "must be 1, or a multiple of 3"),
        ("searchInstanceCount", 4, "must be 1, or a multiple of 3"),
        ("allowedIpRanges", ["10.0.0.0/33"], "must be a network such as 192.0.2.0/24"),
        ("allowedIpRanges", [f"192.0.{n}.0/24" for n in range(100)], "has .* functions take 2000"),
        ("search", "serverless", "must be 'provisioned' or 'none'"),
        ("logRetentionDays", 8, "must be 1, 3, 5"),
        ("auditLock", "forever", "must be 'none', 'governance' or 'compliance'"),
        ("adminUserId", "a#b", "must be "),
        ("reservedConcurrency", {"Nobody": 5}, "no function is named Nobody"),
        ("importedKeys", ["alias/files"], "must be an ARN such as arn:aws:kms:"),
        ("allowedPipelineFunctions", ["convert"], "must be an ARN such as arn:aws:lambda:"),
        ("allowedPipelineFunctions", [f"{LAMBDA}*"], "must be an ARN such as arn:aws:lambda:"),
        ("allowedPipelineQueues", ["https://sqs.eu-central-1.amazonaws.com/1/q"], "must be an ARN"),
        ("allowedPipelineBuses", ["default"], "must be an ARN such as arn:aws:events:"),
        ("searchVpcId", "subnet-0123456789abcdef0", "must be the id of a VPC"),
        *(
            ("searchVpcRange", text, "must be an IPv4 network such as 10.0.0.0/16")
            for text in ("10.0.0.1/16", "10.0.0.0/15", "10.0.0.0/23", "10.0.0.0", "fd00::/16")
        ),
        *(
            (
                "searchVpcRange",
                f"{start}.0.0/16",
                "must be a network whose addresses a VPC may have",
            )
            for start in ("127.0", "169.254", "224.0", "240.0")
        ),
        *(
            ("alarmTopicArn", arn, "must be the ARN of a standard topic")
            for arn in (
                "operators",
                "arn:aws:sns:eu-central-1:1111:operators",
                "arn:aws:sns:eu-central-1::operators",
                "arn:aws:sns::111122223333:operators",
                "arn:aws:sqs:eu-central-1:111122223333:operators",
                "arn:gcp:sns:eu-central-1:111122223333:operators",
                "arn:aws:sns:eu-central-1:111122223333:operators:0f3a1e2b",
                "arn:aws:sns:eu-central-1:111122223333:",
            )
        ),
        *(
            ("alarmTopicArn", f"arn:{start}:111122223333:operators", "must be in the partition aws")
            for start in ("aws:sns:cn-north-1", "aws-cn:sns:eu-central-1", "aws:sns:us-gov-west-1")
        ),
    ],
)
def test_a_message_contains_the_setting_the_rule_in_words_and_the_value(
    name: str, value: object, rule: str
) -> None:
    assert re.match(rf"stages\.test\.{name}(\.0)?: {rule}.* \(given: ", _refusal(**{name: value}))


def test_messages_use_the_words_of_json() -> None:
    """Every setting refuses each invalid kind of value, in plain words."""
    refused = ("tuple", "dictionary", "dict", "Value error", "pattern", "regex", "valid", "None")
    wrong: list[Any] = [None, True, 1.5, -1, 10**30, "", " ", "a b", [], [1], [None], {}]
    wrong += [{"a": 1}, {"search": 1}, {"search": {}}, [[]], "\u0000", "\ud800"]
    count = 0
    names = [str(field.alias) for n, field in Settings.model_fields.items() if n != "stage"]
    for name, value in product(names, wrong):
        with suppress(SettingsError):
            _stage(**{name: value})
            continue
        fact = _refusal(**{name: value}).partition(" (given: ")[0]
        assert not [w for w in (*refused, "^", "$") if w in fact], (name, value, fact)
        count += 1
    assert count > 800


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
def test_an_unknown_setting_is_refused_with_the_nearest_one(name: str, nearest: str) -> None:
    assert _refusal(names=(name,)) == f"{name}: is not a setting; the nearest is {nearest}"
    if nearest != "stage":
        fact = f"stages.test.{name}: is not a setting; the nearest is {nearest}"
        assert _refusal(**{name: True}).startswith(fact)


def test_limits_are_for_groups_that_there_are_and_name_both_numbers() -> None:
    limits = {"requestsPerSecond": 1, "burst": 1}
    for throttles, place in (
        ({"uploads": limits}, r"uploads: must be "),
        ({"search": limits | {"burst": 0}}, r"search\.burst: must be a whole number, at least 1"),
        ({"search": {"burst": 1}}, r"search\.requestsPerSecond: is missing"),
        ({"search": limits | {"brst": 1}}, r"search\.brst: is not a setting; the nearest is burst"),
    ):
        refusal = _refusal(routeThrottles=throttles)
        assert re.match(rf"stages\.test\.routeThrottles\.{place}", refusal), refusal


def test_stages_are_an_object_by_name_of_stage() -> None:
    with pytest.raises(SettingsError, match=r"^stages: must be an object of objects, by name"):
        _read("local", stages=["local"])
    with pytest.raises(SettingsError, match=r"^stages\.test\.stage: a stage is named by its key"):
        _stage(stage="other")


def test_an_unknown_stage_is_refused_with_those_that_there_are() -> None:
    fact = r"^stage: 'staging' is not one of local, minimal, prod, small$"
    with pytest.raises(SettingsError, match=fact):
        _read("staging")


def test_keys_of_the_cdk_command_are_no_settings() -> None:
    keys = (
        "@aws-cdk/core:newStyleStackSynthesis",
        "aws:cdk:enable-path-metadata",
        "aws-cdk:enableDiffNoFail",
        "availability-zones:account=111122223333:region=eu-central-1",
        "acknowledged-issue-numbers",
        "cli-telemetry",
    )
    assert _stage(names=keys).stage == "test"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alarmTopicArn", TOPIC),
        ("importedKeys", ["arn:aws:kms:eu-central-1:444455556666:key/1"]),
        ("allowedPipelineFunctions", [f"{LAMBDA}f"]),
        ("allowedPipelineQueues", ["arn:aws:sqs:eu-central-1:111122223333:q"]),
        ("allowedPipelineBuses", ["arn:aws:events:eu-central-1:111122223333:event-bus/b"]),
    ],
)
def test_a_resource_of_another_region_is_refused(name: str, value: Any) -> None:
    for region in ("us-east-1", "eu-central-2", "cn-north-1"):
        fact = f"{name}: .* is in eu-central-1, and the stage in {region}$"
        assert re.search(fact, _refusal(region=region, readers="off", **{name: value}))
    assert _stage(region="eu-central-1", **{name: value})
    assert _stage(**{name: value})


def test_zones_and_topics_are_of_the_region_of_the_stage() -> None:
    zones: dict[str, Any] = {**NEW_NETWORK, "searchVpcZones": ZONES}
    fact = "searchVpcZones: eu-central-1a is not in us-east-1"
    assert fact in _refusal(region="us-east-1", **zones)
    assert _stage(region="eu-central-1", **zones)
    for partition, region in (("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")):
        arn = f"arn:{partition}:sns:{region}:111122223333:operators"
        assert _stage(alarmTopicArn=arn, region=region, readers="off").alarm_topic_arn == arn


@pytest.mark.parametrize(("nodes", "zones"), [(1, 1), (3, 3), (6, 3), (9, 3), (78, 3)])
def test_nodes_are_spread_evenly_over_three_zones(nodes: int, zones: int) -> None:
    assert zones_of(_read("prod", searchInstanceCount=nodes).search_instance_count) == zones


def test_reservations_are_needed_beside_what_lambda_leaves_unreserved() -> None:
    settings = _read("prod", reservedConcurrency={"SearchWorker": 10, "SearchApi": 20})
    needed = settings.instances_needed()
    assert needed["InstancesRequired"] == "130"
    assert int(needed["InstancesAdvised"]) == 248
    consumed = next(s for s in QUEUE_SUBSCRIPTIONS if s.consumer == "SearchWorker")
    assert int(needed["UnreservedAdvised"]) == 248 - 2 * settings.concurrency_of(consumed)


def test_a_new_account_is_warned_and_may_deploy_a_small_stage() -> None:
    for stage in ("minimal", "small"):
        settings = _read(stage)
        assert {settings.concurrency_of(s) for s in QUEUE_SUBSCRIPTIONS} == {2}
        (warning,) = settings.warnings()
        fact = "accountConcurrency is 10, and queues may start 28 instances at once"
        assert warning.startswith(fact)
        assert warning.endswith("at least 56")
        assert list(_read(stage, accountConcurrency=56).warnings()) == []
        assert len(list(_read(stage, accountConcurrency=55).warnings())) == 1
    assert list(_read("prod").warnings()) == []


@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ({"pageDomain": "a.example.org"}, "pageDomain and pageCertificateArn need each other"),
        ({"pageCertificateArn": CERTIFICATE}, "pageDomain and pageCertificateArn need each other"),
        (
            {"pageCertificateArn": CERTIFICATE.replace("us-east-1", "eu-central-1")},
            "pageCertificateArn: must be the ARN of a certificate in us-east-1",
        ),
        ({"pageSignInOrigins": ["https://*.example.org"]}, "must be an origin without a path"),
        (
            {"importedBuckets": ["scans", "scans.example.org"]},
            "importedBuckets: scans.example.org contains a dot, .*; set page to false$",
        ),
        ({"pageSignInOrigins": ["https://a.example.org/x"]}, "must be an origin without a path"),
        (
            {"pageSignInOrigins": [f"https://{n}{'x' * 50}.example.org" for n in range(20)]},
            r"Content-Security-Policy to \d+ characters, and CloudFront takes 1783: name fewer",
        ),
    ],
)
def test_a_page_that_cloudfront_would_refuse_is_refused_first(
    settings: dict[str, Any], fact: str
) -> None:
    assert re.search(fact, _refusal(page=True, **settings))


def test_the_length_of_the_pages_policy_counts_imported_buckets_by_their_names() -> None:
    names = [f"museum-scans-{number}" for number in range(4)]
    assert _stage(page=True, importedBuckets=names)
    pool: dict[str, Any] = {"userPool": True, "userPoolDomain": "museum-models"}
    assert _stage(page=True, importedBuckets=names, **pool)
    long = [f"{number}{'b' * 62}" for number in range(3)]
    assert "to 1814 characters" in _refusal(page=True, importedBuckets=long)
    assert _stage(importedBuckets=long)


@pytest.mark.parametrize(
    ("region", "settings", "fact"),
    [
        ("cn-north-1", {"page": True}, "page: there is no CloudFront in aws-cn; set it to false"),
        ("us-gov-west-1", {"page": True}, "page: there is no CloudFront in aws-us-gov;"),
        ("cn-northwest-1", {}, "readers: Lambda has no tenant isolation in aws-cn; set it to off"),
        ("us-gov-east-1", {}, "readers: Lambda has no tenant isolation in aws-us-gov;"),
        (
            "cn-north-1",
            {"readers": "off", "userPool": True},
            "userPool: Cognito has no user pools in aws-cn; set it to false",
        ),
        (
            "us-west-1",
            {"searchInstanceCount": 3},
            "searchInstanceCount: us-west-1 has two zones for an account, and more than one node",
        ),
    ],
)
def test_what_a_region_lacks_is_refused(region: str, settings: dict[str, Any], fact: str) -> None:
    assert fact in _refusal(region=region, **settings)


def test_a_stage_may_be_deployed_where_nothing_is_lacking() -> None:
    assert _stage(region="eu-central-1", page=True, searchInstanceCount=3, userPool=True)
    assert _stage(region="us-gov-west-1", readers="off", userPool=True)
    assert _stage(region="cn-north-1", readers="off", searchInstanceCount=3)
    assert _stage(region="us-west-1", searchInstanceCount=1)
    assert _stage(region="us-west-1", search="none")
