"""Settings that contradict each other, do not fit an account, or have no effect."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from aws_cdk import Aws

from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.executions import RECONCILE_EXECUTIONS
from infra.settings.model import LEAST_OF_QUEUE, UNRESERVED, Settings
from infra.settings.network import VPC_RANGE, zones_of
from infra.settings.values import fit_variables, partition_of, region_of
from web_page import policy_of

# Characters that remain for additions to the largest role. IAM accepts 10,240 characters, for any
# stage name and partition.
POLICY_CHARS = 1_100
_STATEMENT_CHARS = 200  # of the statement about imported keys, without their ARNs
# the remaining characters of both ARNs of a bucket: its own, and that of its objects
_POLICY_CHARS_BESIDE = 48


# Regions in which new accounts see two zones. Source: "AWS Regions and Availability Zones".
_TWO_ZONES = frozenset({"us-west-1"})

# Of a header's value. Source: Amazon CloudFront Developer Guide, "Quotas on headers".
MOST_POLICY_CHARS = 1_783
_LONGEST_REGION = "ap-southeast-1"
# Of the two buckets whose names are known only when they are created.
_LONGEST_NAMES = ("b" * 63,) * 2


class Switch(NamedTuple):
    """A setting, its value that is off, and the settings that then have no effect."""

    name: str
    off: Literal[False, "", "none", "off"]
    needed_by: tuple[str, ...]


SWITCHES = (
    Switch(
        "search",
        "none",
        (
            *("searchInstanceType", "searchInstanceCount", "searchVolumeGb", "searchLogs"),
            *("searchInVpc", "searchGraceSeconds", "searchKeepSeconds"),
        ),
    ),
    Switch(
        "searchInVpc",
        False,
        ("searchVpcRange", "searchVpcZones", "searchVpcId", "searchSubnetIds"),
    ),
    Switch(
        "userPool",
        False,
        (
            *("userPoolFirewall", "userPoolRequestsPerAddress"),
            *("userPoolDomain", "userPoolProviders"),
        ),
    ),
    Switch("userPoolDomain", "", ("userPoolProviders",)),
    Switch("userPoolFirewall", False, ("userPoolRequestsPerAddress",)),
    Switch(
        "oidcIssuer",
        "",
        (
            *("oidcAudiences", "oidcUserClaim", "oidcUserPrefix", "oidcEmailClaim"),
            *("oidcMfaClaim", "oidcMfaValues", "oidcClientId", "oidcScope", "oidcScopeMfa"),
        ),
    ),
    Switch("oidcClientId", "", ("oidcScope", "oidcScopeMfa")),  # only web clients use scopes
    Switch("auditLock", "none", ("auditLockDays",)),
    Switch(
        "page",
        False,
        (
            *("pageDomain", "pageCertificateArn", "pageFirewallArn", "pageSignInOrigins"),
            *("pageEdgeVersion", "userPoolDomain", "apiOnlyThroughPage"),
        ),
    ),
    Switch("processing", False, ("turntables",)),
    Switch("events", "off", ("eventArchiveDays",)),
    Switch("readers", "off", ("readersInVpc",)),
)
# Settings with ARNs that must be in the stage's region: alarms, S3 and Step Functions cannot use
# other regions.
_IN_REGION = (
    *("alarmTopicArn", "importedKeys"),
    *("allowedPipelineFunctions", "allowedPipelineQueues", "allowedPipelineBuses"),
)


def contradictions(settings: Settings) -> Iterator[str]:
    """Yield a sentence for each contradiction between settings, or with limits of AWS."""
    yield from _contradictions_of_network(settings)
    yield from _contradictions_of_concurrency(settings)
    for name, ids in _zones_and_subnets(settings):
        needed = zones_of(settings.search_instance_count)
        if ids and len(ids) != needed:
            yield (
                f"{name} has {len(ids)}, and searchInstanceCount needs {needed}: one for one node, "
                "else three"
            )
    for arn in settings.allowed_pipeline_functions:
        if f":function:vitrine-{settings.stage}-" in arn:
            yield f"allowedPipelineFunctions: {arn} is one of this deployment"
    try:
        fit_variables(settings.allowed_pipelines)
    except ValueError as error:
        yield str(error)
    size = sum(2 * len(name) + _POLICY_CHARS_BESIDE for name in settings.imported_buckets)
    if settings.imported_keys:
        size += _STATEMENT_CHARS + sum(len(arn) + 3 for arn in settings.imported_keys)
    if size > POLICY_CHARS:
        yield (
            f"importedBuckets and importedKeys take {size} characters of a role's policy, which "
            f"has room for {POLICY_CHARS}: name fewer"
        )
    yield from _contradictions_of_page(settings)
    issuer = settings.oidc_issuer
    for wrong, sentence in (
        (
            issuer and not (settings.oidc_audiences or settings.oidc_client_id),
            "oidcIssuer needs oidcAudiences or an oidcClientId",
        ),
        (
            issuer and settings.user_pool and not settings.oidc_user_prefix,
            "oidcIssuer beside a userPool needs an oidcUserPrefix",
        ),
        (
            settings.event_archive_days and settings.events == "queue",
            "eventArchiveDays has no effect, because events is queue",
        ),
    ):
        if wrong:
            yield sentence


def _zones_and_subnets(settings: Settings) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("searchVpcZones", settings.search_vpc_zones),
        ("searchSubnetIds", settings.search_subnet_ids),
    )


def _contradictions_of_network(settings: Settings) -> Iterator[str]:
    for name, ids in _zones_and_subnets(settings):
        if len(set(ids)) < len(ids):
            yield f"{name} names one twice"
    if bool(settings.search_vpc_id) != bool(settings.search_subnet_ids):
        yield "searchVpcId and searchSubnetIds need each other"
    if settings.search_vpc_id and (
        settings.search_vpc_range != VPC_RANGE or settings.search_vpc_zones
    ):
        yield (
            "searchVpcRange and searchVpcZones are of a new network, searchVpcId names an existing "
            "one"
        )


def _contradictions_of_page(settings: Settings) -> Iterator[str]:
    if not settings.page:
        return
    if bool(settings.page_domain) != bool(settings.page_certificate_arn):
        yield "pageDomain and pageCertificateArn need each other"
    for name in settings.imported_buckets:
        if "." in name:
            yield (
                f"importedBuckets: {name} contains a dot, and certificates of S3 do not cover its "
                "host, which the page uses; set page to false"
            )
    names = (*_LONGEST_NAMES, *settings.imported_buckets)
    hosts = tuple(f"https://{name}.s3.{Aws.REGION}.amazonaws.com" for name in names)
    policy = policy_of(hosts, set(settings.sign_in_origins()))
    length = len(policy.replace(Aws.REGION, _LONGEST_REGION))
    if length > MOST_POLICY_CHARS:
        yield (
            f"importedBuckets and pageSignInOrigins take the page's Content-Security-Policy to "
            f"{length} characters, and CloudFront takes {MOST_POLICY_CHARS}: name fewer"
        )


def _contradictions_of_concurrency(settings: Settings) -> Iterator[str]:
    account, reserved = settings.account_concurrency, settings.reserved_concurrency
    by_queues, total = settings.concurrency_of_queues, sum(reserved.values())
    if by_queues > account // 2 and settings.queue_concurrency > LEAST_OF_QUEUE:
        yield (
            f"queueConcurrency lets queues start {by_queues} instances at once, half of "
            f"accountConcurrency is {account // 2}: raise the account's quota, or lower it"
        )
    if total and total + UNRESERVED > account:
        yield (
            f"reservedConcurrency takes {total} of {account} instances (accountConcurrency), of "
            f"which {UNRESERVED} have to be left"
        )
    for subscription in settings.queue_subscriptions:
        name, needed = subscription.consumer, settings.concurrency_of(subscription)
        # Messages of a throttled function become dead letters.
        if reserved.get(name, needed) < needed:
            yield (
                f"reservedConcurrency: {name} needs at least {needed}, as many as its queue "
                "delivers to"
            )


def without_effect(
    settings: Settings, of_stage: Collection[str], of_command: Collection[str]
) -> Iterator[str]:
    """Yield a sentence for each setting without effect, because another setting is off.

    Default values are accepted.
    """
    values = settings.model_dump(by_alias=True)
    defaults = {str(f.alias): f.default for f in type(settings).model_fields.values()}
    for switch in SWITCHES:
        if values[switch.name] != switch.off:
            continue
        # A command may switch off a feature for which its stage has other settings.
        names = of_command if switch.name in of_command else {*of_stage, *of_command}
        for name in switch.needed_by:
            if name in names and values[name] != defaults[name]:
                yield f"{name} has no effect, because {_is(switch)}"
    left_out = functions_left_out(settings)
    for name in values["reservedConcurrency"]:
        if name in left_out:
            yield f"reservedConcurrency: {name} is not created, because {left_out[name]}"


def functions_left_out(settings: Settings) -> Mapping[str, str]:
    """Return the functions that are not created, each with the setting that is off."""
    values = settings.model_dump(by_alias=True)
    without: list[tuple[Switch, list[Function]]] = [
        (SWITCHES[0], [spec for spec in FUNCTIONS if _needs_search(spec)]),
        (SWITCHES[-2], [spec for spec in FUNCTIONS if spec.with_events]),
        (SWITCHES[-1], [spec for spec in FUNCTIONS if spec.kind == "reader"]),
    ]
    return {
        spec.name: _is(switch)
        for switch, functions in without
        if values[switch.name] == switch.off
        for spec in functions
    }


def _needs_search(spec: Function) -> bool:
    if spec.kind == "scheduled":
        return spec is not RECONCILE_EXECUTIONS
    return spec.domain == "operations" or (spec.kind == "consumer" and spec.search != "none")


def resources_elsewhere(settings: Settings, region: str | None) -> Iterator[str]:
    """Yield a sentence for each resource and zone that is not in the stage's region, if known."""
    yield from _missing_in(settings, region or "")
    values: dict[str, str | tuple[str, ...]] = settings.model_dump(by_alias=True)
    for name in _IN_REGION if region else ():
        value = values[name]
        for arn in (value,) if isinstance(value, str) else value:
            if arn and region_of(arn) != region:
                yield f"{name}: {arn} is in {region_of(arn)}, and the stage in {region}"
    for zone in values["searchVpcZones"] if region else ():
        if not zone.startswith(str(region)):
            yield f"searchVpcZones: {zone} is not in {region}, the region of the stage"


def _missing_in(settings: Settings, region: str) -> Iterator[str]:
    """Yield a sentence for each service that the region lacks; an unknown one lacks none."""
    partition = partition_of(region)
    elsewhere = partition != "aws"
    if settings.page and elsewhere:
        yield f"page: there is no CloudFront in {partition}; set it to false"
    if settings.readers != "off" and elsewhere:
        yield f"readers: Lambda has no tenant isolation in {partition}; set it to off"
    if settings.user_pool and partition == "aws-cn":
        yield "userPool: Cognito has no user pools in aws-cn; set it to false"
    if region in _TWO_ZONES and settings.search != "none" and settings.search_instance_count > 1:
        yield (
            f"searchInstanceCount: {region} has two zones for an account, and more than one node "
            "needs three; set it to 1"
        )


def _is(switch: Switch) -> str:
    shown = json.dumps(switch.off) if switch.off is False else repr(switch.off)
    return f"{switch.name} is {shown if switch.off != '' else 'empty'}"
