"""Resources that need no engine of their own: search domains, parameters, custom resources."""

import hashlib
import json
import uuid
from typing import TypedDict, cast

from pydantic import JsonValue

from local import arns
from local.assembly import Object, Resource
from local.intrinsics import stack_id
from local.resources import secretsmanager
from local.resources.base import Context, Created, Properties, parse, refusal

CUSTOM_FILE = "custom-resources.json"


class SearchDomain(Properties):
    """`AWS::OpenSearchService::Domain`: the runtime's engine, whatever size the template has."""

    no_effect = (
        "AccessPolicies AdvancedOptions AdvancedSecurityOptions ClusterConfig "
        "DomainEndpointOptions EBSOptions EncryptionAtRestOptions EngineVersion IPAddressType "
        "LogPublishingOptions NodeToNodeEncryptionOptions OffPeakWindowOptions SnapshotOptions "
        "SoftwareUpdateOptions Tags VPCOptions"
    )

    domain_name: str | None = None


class Parameter(Properties):
    """`AWS::SSM::Parameter`."""

    no_effect = "AllowedPattern DataType Description Tags Tier"

    type: str
    value: str
    name: str | None = None


class Invoked(TypedDict):
    """The record of a custom resource in the state folder."""

    physical_id: str
    properties: str
    stateful: list[str]
    data: Object


def create_search_domain(context: Context, resource: Resource) -> Created:
    """Use the engine as the domain."""
    declared = parse(SearchDomain, resource)
    name = declared.domain_name or arns.physical_name(
        resource.stack, resource.logical_id.lower(), limit=28
    )
    domain_arn = arns.arn("es", f"domain/{name}")
    context.roles.domain = domain_arn
    return Created(
        name,
        {"Arn": domain_arn, "DomainArn": domain_arn, "DomainEndpoint": context.search_endpoint},
    )


def create_parameter(_context: Context, resource: Resource) -> Created:
    """Store the value for `Fn::GetAtt`; functions receive it by their environment."""
    declared = parse(Parameter, resource)
    name = declared.name or arns.physical_name(resource.stack, resource.logical_id, limit=500)
    return Created(name, {"Type": declared.type, "Value": declared.value})


def create_custom_resource(context: Context, resource: Resource) -> Created:
    """Invoke the function of the custom resource, as CloudFormation does.

    It receives Create at the first start, and Update if its properties changed or a stateful
    resource is new (a new table must be filled as the first tables were).

    Raises:
        AssemblyError: it responds with a failure, or not at all.
    """
    key = f"{resource.stack}/{resource.logical_id}"
    kept = context.state.read(CUSTOM_FILE, dict[str, Invoked]())
    properties = cast("Object", _as_text(resource.properties))
    digest = hashlib.sha256(json.dumps(properties, sort_keys=True).encode()).hexdigest()
    before = kept.get(key)
    stateful = sorted(context.stateful)
    unchanged = (
        before is not None
        and before["properties"] == digest
        and before["stateful"] == stateful
        and not context.fresh
    )
    if before is not None and unchanged:
        return Created(before["physical_id"], before["data"])
    answer = _invoke_function(context, resource, properties, before)
    # Before its success is recorded: a kill in between must not keep the record without the data.
    secretsmanager.store_values(context.clients, context.state)
    kept[key] = {
        "physical_id": str(answer.get("PhysicalResourceId", "")),
        "properties": digest,
        "stateful": stateful,
        "data": cast("Object", answer.get("Data") or {}),
    }
    context.state.write(CUSTOM_FILE, kept)
    return Created(kept[key]["physical_id"], kept[key]["data"])


def _invoke_function(
    context: Context, resource: Resource, properties: Object, before: Invoked | None
) -> Object:
    function = properties.get("ServiceToken")
    if not isinstance(function, str):
        raise refusal(resource, "ServiceToken is missing")
    request_id = str(uuid.uuid4())
    event: Object = {
        "RequestType": "Create" if before is None else "Update",
        "ResponseURL": context.response_url(request_id),
        "StackId": stack_id(resource.stack),
        "RequestId": request_id,
        "ResourceType": resource.kind,
        "LogicalResourceId": resource.logical_id,
        "ResourceProperties": properties,
    }
    if before is not None:
        event["PhysicalResourceId"] = before["physical_id"]
        event["OldResourceProperties"] = {}
    context.progress(f"{event['RequestType']} {resource.logical_id}")
    result = context.invoke(function, event)
    answer = context.response(request_id)
    if not isinstance(answer, dict):
        said = result.message() if result.error else "it ended without an answer"
        raise refusal(resource, f"its function did not answer: {said}")
    if answer.get("Status") != "SUCCESS":
        raise refusal(resource, f"failed: {answer.get('Reason', 'no reason given')}")
    return answer


def _as_text(value: JsonValue) -> JsonValue:
    """Return the value as CloudFormation passes it: every scalar is a text."""
    if isinstance(value, dict):
        return {key: _as_text(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_as_text(entry) for entry in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None else str(value)
