"""The roles of a deployment with all their policies, as declared in the templates.

They are collected while resources are created. The runner checks them for Lambda's own use of a
function's role, and writes them to files for the functions' processes (`inside.py`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from local import arns
from local.iam import actions, policy

Statement = Mapping[str, JsonValue]


class Enforcement(NamedTuple):
    """Whether the policies are enforced, and the file that records their use.

    `box` is the box (`local/box.py`) in which functions run.
    """

    enforced: bool = True
    record: Path | None = None
    box: str | None = None


class Lack(NamedTuple):
    """A permission that Lambda requires and a role does not grant."""

    action: str
    resource: str


@dataclass
class Role:
    """A role and the statements of all policies that are attached to it."""

    name: str
    statements: list[Statement] = field(default_factory=list[Statement])


@dataclass
class Roles:
    """All roles of a runtime; `folder` receives a file for each function."""

    folder: Path
    enforcement: Enforcement
    domain: str | None = None
    """The ARN of the search domain."""
    by_arn: dict[str, Role] = field(default_factory=dict[str, Role])
    managed: dict[str, list[Statement]] = field(default_factory=dict[str, list[Statement]])
    keys: dict[str, str] = field(default_factory=dict[str, str])
    """The ARN of the customer-managed key of each resource that has one, by the resource's ARN."""
    _recorded: set[tuple[str, str, policy.Grant]] = field(
        default_factory=set[tuple[str, str, policy.Grant]]
    )

    def place(self) -> actions.Place:
        """Return the account, with its keys."""
        return actions.Place(arns.REGION, arns.ACCOUNT, self.keys)

    def record_encryption_key(self, resource: str, key: JsonValue) -> None:
        """Record that a customer-managed key encrypts a resource; AWS's own keys need no grant."""
        if isinstance(key, str) and not key.startswith("alias/aws/"):
            self.keys[resource] = key if key.startswith("arn:") else arns.arn("kms", f"key/{key}")

    def lacks(self, role: str, needs: Iterable[actions.Need]) -> Lack | None:
        """Return the first permission required by Lambda that a role lacks; record the uses."""
        if not self.enforcement.enforced:
            return None
        entry = self._role(role)
        policies = policy.Policies(entry.statements)
        for need in needs:
            context = {"kms:ViaService": need.via} if need.via else None
            decision = policies.decide(need.action, need.resource, context)
            if not decision.allowed:
                return Lack(need.action, need.resource)
            self._record_use(entry.name, need.action, decision.grants)
        return None

    def document(self, function: str, role: str) -> Path | None:
        """Write the policies for the function's process; None if they are not enforced."""
        if not self.enforcement.enforced:
            return None
        entry = self._role(role)
        content = {
            "principal": f"arn:aws:sts::{arns.ACCOUNT}:assumed-role/{entry.name}/{function}",
            "role": entry.name,
            "statements": entry.statements,
            "keys": self.keys,
            "domain": self.domain,
            "region": arns.REGION,
            "account": arns.ACCOUNT,
            "record": str(self.enforcement.record) if self.enforcement.record else None,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{function}.json"
        scratch = path.with_suffix(".new")
        scratch.write_text(json.dumps(content), encoding="utf-8")
        scratch.replace(path)
        return path

    def record_granted_permissions(self) -> None:
        """Record the grants of the roles, so that unused ones can be reported."""
        if self.enforcement.record is None:
            return
        for role in self.by_arn.values():
            granted = sorted(policy.Policies(role.statements).grants())
            self._append({"role": role.name, "granted": [list(grant) for grant in granted]})

    def _role(self, arn: str) -> Role:
        # The role belongs to another account or template, so its permissions are not known.
        return self.by_arn.get(arn) or Role(arns.last_part(arn))

    def _record_use(self, role: str, asked: str, grants: Sequence[policy.Grant]) -> None:
        if self.enforcement.record is None:
            return
        for grant in grants:
            if (role, asked, grant) not in self._recorded:
                self._recorded.add((role, asked, grant))
                self._append({"role": role, "asked": asked, "used": list(grant)})

    def _append(self, line: Mapping[str, object]) -> None:
        if self.enforcement.record is not None:
            self.enforcement.record.parent.mkdir(parents=True, exist_ok=True)
            with self.enforcement.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def statements_of(document: JsonValue) -> list[Statement]:
    """Return the statements of a policy document.

    Raises:
        PolicyError: it is malformed or unsupported.
    """
    if not isinstance(document, dict):
        raise policy.PolicyError("a policy document is no object")
    if document.get("Version") != "2012-10-17":
        raise policy.PolicyError(f"the policy version {document.get('Version')} is not known")
    declared = document.get("Statement", [])
    statements: list[Statement] = []
    for statement in declared if isinstance(declared, list) else [declared]:
        if not isinstance(statement, dict):
            raise policy.PolicyError("a statement is no object")
        statements.append(statement)
    policy.Policies(statements)
    return statements
