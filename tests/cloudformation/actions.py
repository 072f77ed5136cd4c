"""The requests to CloudFormation that the CDK command and the guide's commands send."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from local.assembly import Object
from tests.cloudformation.building import DesiredStack
from tests.cloudformation.records import Change, Record
from tests.cloudformation.stacks import Stacks
from tests.cloudformation.templates import RefusedError

Fields = Mapping[str, str]
Reply = dict[str, Any]
_MEMBER = re.compile(r"^([A-Za-z]+)\.member\.(\d+)(?:\.(.+))?$")


class Actions:
    """Handles requests by their action."""

    def __init__(self, stacks: Stacks, fetch: Callable[[str], str]) -> None:
        """Use stacks, and a function that returns the text of a template by its address."""
        self._stacks = stacks
        self._fetch = fetch

    def answer(self, action: str, fields: Fields) -> Reply:
        """Return the result of a request.

        Raises:
            RefusedError: it is refused, or unknown.
        """
        known: Mapping[str, Callable[[Fields], Reply]] = {
            "CreateChangeSet": self._create_change_set,
            "DeleteChangeSet": self._delete_change_set,
            "DeleteStack": self._delete,
            "DescribeChangeSet": self._describe_change_set,
            "DescribeEvents": lambda _: {"OperationEvents": []},
            "DescribeStackEvents": self._events,
            "DescribeStackResources": self._resources,
            "DescribeStacks": self._describe,
            "ExecuteChangeSet": self._execute,
            "GetTemplate": self._template,
            "ListStackResources": self._listed_resources,
            "UpdateTerminationProtection": self._protect,
        }
        if action not in known:
            raise RefusedError(f"the stand-in of CloudFormation does not know {action}")
        return known[action](fields)

    def _create_change_set(self, fields: Fields) -> Reply:
        text = fields.get("TemplateBody")
        if text is None and fields.get("UsePreviousTemplate") != "true":
            text = self._fetch(fields["TemplateURL"])
        record_name = fields["StackName"]
        if text is None:
            text = _existing(self._stacks.find(record_name)).template.text
        made = self._stacks.propose(
            record_name,
            fields["ChangeSetName"],
            text,
            creates=fields.get("ChangeSetType", "UPDATE") == "CREATE",
            parameters=_parameters(fields),
            tags=_members(fields, "Tags"),
        )
        return {"Id": made.id, "StackId": self._stacks.find(record_name).id}

    def _describe_change_set(self, fields: Fields) -> Reply:
        record = self._stacks.find(fields["StackName"])
        made = self._stacks.change_set(record, fields["ChangeSetName"])
        return {
            "ChangeSetId": made.id,
            "ChangeSetName": made.name,
            "StackId": record.id,
            "StackName": record.name,
            "CreationTime": made.created,  # the CDK command reports events from then on
            "Status": made.status,
            "StatusReason": made.reason,
            "ExecutionStatus": "AVAILABLE" if made.status != "FAILED" else "UNAVAILABLE",
            "Changes": [_change(change) for change in made.changes],
        }

    def _delete_change_set(self, fields: Fields) -> Reply:
        record = self._stacks.find(fields["StackName"])
        name = fields["ChangeSetName"]
        for known in [e.name for e in record.change_sets.values() if name in (e.name, e.id)]:
            del record.change_sets[known]
        return {}

    def _execute(self, fields: Fields) -> Reply:
        token = fields.get("ClientRequestToken", "")
        self._stacks.execute(fields["StackName"], fields["ChangeSetName"], token)
        return {}

    def _delete(self, fields: Fields) -> Reply:
        self._stacks.delete(fields["StackName"], fields.get("ClientRequestToken", ""))
        return {}

    def _describe(self, fields: Fields) -> Reply:
        if "StackName" in fields:
            return {"Stacks": [_stack(self._stacks.find(fields["StackName"]))]}
        return {"Stacks": [_stack(item) for item in self._stacks.all()]}

    def _events(self, fields: Fields) -> Reply:
        record = self._stacks.find(fields["StackName"])
        return {
            "StackEvents": [
                {
                    "StackId": record.id,
                    "StackName": record.name,
                    "EventId": event.id,
                    "LogicalResourceId": event.logical_id,
                    "PhysicalResourceId": event.physical_id,
                    "ResourceType": event.kind,
                    "Timestamp": event.at,
                    "ResourceStatus": event.status,
                    **_given(ResourceStatusReason=event.reason, ClientRequestToken=event.token),
                }
                for event in record.events
            ]
        }

    def _resources(self, fields: Fields) -> Reply:
        return {"StackResources": self._rows(fields, "Timestamp")}

    def _listed_resources(self, fields: Fields) -> Reply:
        return {"StackResourceSummaries": self._rows(fields, "LastUpdatedTimestamp")}

    def _rows(self, fields: Fields, time: str) -> list[Reply]:
        record = self._stacks.find(fields["StackName"])
        return [
            {
                "StackName": record.name,
                "StackId": record.id,
                "LogicalResourceId": part.logical_id,
                "PhysicalResourceId": part.physical_id,
                "ResourceType": part.kind,
                "ResourceStatus": part.status,
                time: part.at,
                **_given(ResourceStatusReason=part.reason),
            }
            for part in record.parts.values()
        ]

    def _template(self, fields: Fields) -> Reply:
        record = self._stacks.find(fields["StackName"])
        if "ChangeSetName" in fields:
            made = self._stacks.change_set(record, fields["ChangeSetName"])
            return {"TemplateBody": made.wanted.template.text}
        # a stack under review has no template yet
        return {"TemplateBody": record.wanted.template.text} if record.wanted else {}

    def _protect(self, fields: Fields) -> Reply:
        record = self._stacks.find(fields["StackName"])
        record.protected = fields["EnableTerminationProtection"] == "true"
        return {"StackId": record.id}


def _existing(record: Record) -> DesiredStack:
    if record.wanted is None:
        raise RefusedError(f"Stack with id {record.name} does not exist")
    return record.wanted


def _change(change: Change) -> Reply:
    resource = {
        "Action": change.action,
        "LogicalResourceId": change.logical_id,
        "ResourceType": change.kind,
        **({"Replacement": str(change.replaces)} if change.action == "Modify" else {}),
    }
    return {"Type": "Resource", "ResourceChange": resource}


def _stack(record: Record) -> Reply:
    parameters: Object = dict(record.wanted.parameters) if record.wanted else {}
    return {
        "StackId": record.id,
        "StackName": record.name,
        "CreationTime": record.created,
        "StackStatus": record.status,
        "EnableTerminationProtection": record.protected,
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()
        ],
        "Tags": [dict(tag) for tag in record.tags],
        "Outputs": [
            {
                "OutputKey": output.key,
                "OutputValue": output.value,
                **_given(ExportName=output.export or "", Description=output.description),
            }
            for output in record.outputs
        ],
        **_given(StackStatusReason=record.reason),
    }


def _given(**fields: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _parameters(fields: Fields) -> dict[str, str]:
    rows = _members(fields, "Parameters")
    return {row["ParameterKey"]: row["ParameterValue"] for row in rows if "ParameterValue" in row}


def _members(fields: Fields, name: str) -> list[Mapping[str, str]]:
    """The entries of a list of objects, as forms have them."""
    result: dict[int, dict[str, str]] = {}
    for key, value in fields.items():
        place = _MEMBER.match(key)
        if place is not None and place[1] == name and place[3]:
            result.setdefault(int(place[2]), {})[place[3]] = value
    return [result[number] for number in sorted(result)]
