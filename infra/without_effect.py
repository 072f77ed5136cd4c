"""Settings without effect, because another one is off, or because of their region."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from pydantic import BaseModel

from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.executions import RECONCILE_EXECUTIONS
from infra.arns import region_of


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
    Switch("userPool", False, ("userPoolFirewall", "userPoolRequestsPerAddress")),
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
    Switch("processing", False, ("turntables",)),
    Switch("readers", "off", ("readersInVpc",)),
)
# Settings with ARNs that must be in the stage's region: alarms, S3 and Step Functions cannot use
# other regions.
_IN_REGION = (
    *("alarmTopicArn", "importedKeys"),
    *("allowedPipelineFunctions", "allowedPipelineQueues", "allowedPipelineBuses"),
)


def without_effect(
    settings: BaseModel, of_stage: Collection[str], of_command: Collection[str]
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
        given = of_command if switch.name in of_command else {*of_stage, *of_command}
        for name in switch.needed_by:
            if name in given and values[name] != defaults[name]:
                yield f"{name} has no effect, because {_is(switch)}"
    left_out = functions_left_out(settings)
    for name in values["reservedConcurrency"]:
        if name in left_out:
            yield f"reservedConcurrency: {name} is not created, because {left_out[name]}"


def functions_left_out(settings: BaseModel) -> Mapping[str, str]:
    """Return the functions that are not created, each with the setting that is off."""
    values = settings.model_dump(by_alias=True)
    without: list[tuple[Switch, list[Function]]] = [
        (SWITCHES[0], [spec for spec in FUNCTIONS if _needs_search(spec)]),
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


def resources_elsewhere(settings: BaseModel, region: str | None) -> Iterator[str]:
    """Yield a sentence for each resource and zone that is not in the stage's region, if known."""
    values: dict[str, str | tuple[str, ...]] = settings.model_dump(by_alias=True)
    for name in _IN_REGION if region else ():
        value = values[name]
        for arn in (value,) if isinstance(value, str) else value:
            if arn and region_of(arn) != region:
                yield f"{name}: {arn} is in {region_of(arn)}, and the stage in {region}"
    for zone in values["searchVpcZones"] if region else ():
        if not zone.startswith(str(region)):
            yield f"searchVpcZones: {zone} is not in {region}, the region of the stage"


def _is(switch: Switch) -> str:
    shown = json.dumps(switch.off) if switch.off is False else repr(switch.off)
    return f"{switch.name} is {shown if switch.off != '' else 'empty'}"
