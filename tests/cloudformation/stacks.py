"""Creates, updates, rolls back and deletes stacks under CloudFormation's rules."""

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from local.assembly import Object, Resource
from local.intrinsics import UnresolvableError
from local.resources.base import Created
from tests.cloudformation.building import (
    Builder,
    DesiredStack,
    Output,
    Place,
    ResourceFailedError,
    imports_of,
    made_up,
    outputs_of,
    scope_of,
)
from tests.cloudformation.records import GONE, REVIEWED, ChangeSet, Part, Record
from tests.cloudformation.replacing import (
    REPLACING,
    changed_by,
    changes_of,
    following,
    refuse_names,
    replaced,
)
from tests.cloudformation.templates import (
    ChangeSetNotFoundError,
    RefusedError,
    changed_indexes,
    is_protected,
    read,
)

_SSM = "AWS::SSM::Parameter::Value<"
_SETTLED = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
_NO_CHANGE = (
    "The submitted information didn't contain changes. "
    "Submit different information to create a change set."
)


class Stacks:
    """All stacks of an account in a region."""

    def __init__(
        self,
        builder: Builder,
        parameter: Callable[[str], str | None],
        place: Place | None = None,
    ) -> None:
        """Use a builder, a function that reads parameters of SSM, and an account in a region."""
        self._place = place or Place()
        self._builder = builder
        self._parameter = parameter
        self._records: list[Record] = []
        self._lock = threading.RLock()
        self.failing: dict[str, str] = {}
        """Resources that fail, by logical id, with the reason."""
        self.unprotected: set[str] = set()
        """Physical ids of resources whose protection was removed."""

    def all(self) -> list[Record]:
        """All stacks that are not deleted."""
        return [record for record in self._records if record.status != GONE]

    def find(self, name: str) -> Record:
        """Return a stack by its name, or by its id, which also finds deleted ones.

        Raises:
            RefusedError: there is none.
        """
        for record in reversed(self._records):
            if name == record.id or (name == record.name and record.status != GONE):
                return record
        raise RefusedError(f"Stack with id {name} does not exist")

    def propose(
        self,
        name: str,
        change_set: str,
        text: str,
        *,
        creates: bool,
        parameters: Mapping[str, str],
        tags: list[Mapping[str, str]],
    ) -> ChangeSet:
        """Create a change set.

        Raises:
            RefusedError: the template, or the state of the stack, does not allow it.
        """
        with self._lock:
            template = read(name, text)
            values = self._parameters(template.stack.parameters, parameters)
            record = self._proposed(name, creates=creates)
            wanted = following(record.wanted, DesiredStack(name, template, values, self._place))
            changes = list(changes_of(record.wanted, wanted))
            same = record.wanted is not None and not changes and record.tags == tags
            identity = self._place.arn("cloudformation", f"changeSet/{change_set}/{uuid.uuid4()}")
            made = ChangeSet(change_set, identity, wanted, tags, changes, "CREATE_COMPLETE")
            if same and record.wanted and record.wanted.template.body == template.body:
                made.status, made.reason = "FAILED", _NO_CHANGE
            record.change_sets[change_set] = made
            return made

    def _proposed(self, name: str, *, creates: bool) -> Record:
        if not creates:
            record = self.find(name)
            if record.status not in _SETTLED:
                raise RefusedError(
                    f"Stack:{record.id} is in {record.status} state and can not be updated."
                )
            return record
        for item in self.all():
            if item.name == name:
                if item.status == REVIEWED:
                    return item
                raise RefusedError(f"Stack [{name}] already exists and cannot be created again")
        record = Record.new(name, self._place)
        self._records.append(record)
        record.becomes(REVIEWED)
        return record

    def _parameters(
        self, declared: Mapping[str, Object], given: Mapping[str, str]
    ) -> dict[str, JsonValue]:
        result: dict[str, JsonValue] = {}
        for name, parameter in declared.items():
            value = given.get(name, parameter.get("Default"))
            if value is None:
                raise RefusedError(f"Parameters: [{name}] must have values")
            if str(parameter.get("Type")).startswith(_SSM):
                value = self._parameter(str(value))
                if value is None:
                    fact = f"Unable to fetch parameters [{parameter.get('Default')}]"
                    raise RefusedError(f"{fact} from parameter store for this account.")
            result[name] = value
        return result

    def execute(self, name: str, change_set: str, token: str) -> threading.Thread:
        """Begin to execute a change set.

        Raises:
            RefusedError: it does not exist, or cannot be executed.
        """
        with self._lock:
            record = self.find(name)
            made = self.change_set(record, change_set)
            if made.status != "CREATE_COMPLETE":
                raise RefusedError(f"ChangeSet [{made.id}] cannot be executed: {made.status}")
            record.change_sets.clear()
            record.token, record.tags = token, made.tags
            creates = record.wanted is None
            record.becomes("CREATE_IN_PROGRESS" if creates else "UPDATE_IN_PROGRESS")
        work = self._create if creates else self._update
        return _started(lambda: work(record, made))

    def change_set(self, record: Record, name: str) -> ChangeSet:
        """Return a change set by its name or its id.

        Raises:
            ChangeSetNotFoundError: there is none.
        """
        for item in record.change_sets.values():
            if name in (item.name, item.id):
                return item
        raise ChangeSetNotFoundError(f"ChangeSet [{name}] does not exist")

    def delete(self, name: str, token: str) -> threading.Thread:
        """Begin to delete a stack.

        Raises:
            RefusedError: it is protected.
        """
        with self._lock:
            record = self.find(name)
            if record.protected:
                fact = "cannot be deleted while TerminationProtection is enabled"
                raise RefusedError(f"Stack [{record.name}] {fact}")
            record.token = token
            record.becomes("DELETE_IN_PROGRESS")
        return _started(lambda: self._delete(record))

    def _create(self, record: Record, made: ChangeSet) -> None:
        record.wanted = made.wanted
        try:
            self._apply(record, None, made.wanted, "CREATE")
        except (ResourceFailedError, RefusedError, UnresolvableError) as error:
            record.becomes("ROLLBACK_IN_PROGRESS", _fact(error))
            failed = self._remove_all(record, creating=True)
            record.outputs, record.imports = [], frozenset()
            reason = f"The following resource(s) failed to delete: [{', '.join(failed)}]."
            record.becomes(
                "ROLLBACK_FAILED" if failed else "ROLLBACK_COMPLETE", reason if failed else ""
            )
        else:
            record.becomes("CREATE_COMPLETE")

    def _update(self, record: Record, made: ChangeSet) -> None:
        before = cast("DesiredStack", record.wanted)
        outputs, imports = record.outputs, record.imports
        try:
            self._apply(record, before, made.wanted, "UPDATE")
        except (ResourceFailedError, RefusedError, UnresolvableError) as error:
            record.becomes("UPDATE_ROLLBACK_IN_PROGRESS", _fact(error))
            record.wanted, record.outputs, record.imports = before, outputs, imports
            try:
                rebuilt = self._builder.build(self._wanted(), record.name)
            except ResourceFailedError as second:
                record.becomes("UPDATE_ROLLBACK_FAILED", str(second))
                return
            for name in [item for item in record.parts if item not in before.template.resources]:
                record.part_becomes(name, GONE)
                del record.parts[name]
            for name, part in record.parts.items():
                part.physical_id = rebuilt[name].ref  # the replaced one remains
                if part.status == "UPDATE_FAILED":
                    record.part_becomes(name, "UPDATE_COMPLETE")
            record.becomes("UPDATE_ROLLBACK_COMPLETE")
        else:
            record.becomes("UPDATE_COMPLETE")

    def _apply(
        self, record: Record, before: DesiredStack | None, wanted: DesiredStack, verb: str
    ) -> None:
        exports = self._exports(besides=record)
        declared = wanted.template.stack.resources
        unbuilt = scope_of(wanted, {item: made_up(wanted, item) for item in declared}, exports)
        imports = frozenset(imports_of(wanted.template.body["Resources"], unbuilt))
        changed = changed_by(before, wanted)
        old = [replace(record.parts[item]) for item in replaced(before, wanted)]
        removed = [part for part in record.parts if part not in declared]
        record.wanted = wanted
        created = self._built(record, before, changed, verb)
        outputs = outputs_of(wanted, scope_of(wanted, created, exports))
        self._refuse_exports(record, outputs)
        if removed or old:
            record.becomes("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
            self._remove(record, cast("DesiredStack", before), removed, creating=False)
            self._remove_old(record, cast("DesiredStack", before), old)
        record.outputs, record.imports = outputs, imports

    def _built(
        self, record: Record, before: DesiredStack | None, changed: Sequence[Resource], verb: str
    ) -> Mapping[str, Created]:
        """Build, and record the event of each resource, up to the one that fails."""
        created: Mapping[str, Created] = {}
        failure: ResourceFailedError | None = None
        replacements = replaced(before, cast("DesiredStack", record.wanted))
        try:
            self._refuse_resources(record, before, changed)
            created = self._builder.build(self._wanted(), record.name)
        except ResourceFailedError as error:
            failure = error
        for item in changed:
            name = item.logical_id
            part = record.parts.setdefault(name, Part(name, item.kind))
            action = "CREATE" if not part.physical_id else verb
            record.part_becomes(
                name, f"{action}_IN_PROGRESS", REPLACING if name in replacements else ""
            )
            if failure is not None and failure.logical_id == name:
                record.part_becomes(name, f"{action}_FAILED", failure.reason)
                raise failure
            result = created.get(name) or made_up(cast("DesiredStack", record.wanted), name)
            part.physical_id = result.ref
            record.part_becomes(name, f"{action}_COMPLETE")
        if failure is not None:
            raise failure
        return created

    def _refuse_resources(
        self, record: Record, before: DesiredStack | None, changed: Sequence[Resource]
    ) -> None:
        if before is not None:
            refuse_names(before, cast("DesiredStack", record.wanted))
        for item in changed:
            name = item.logical_id
            if name in self.failing:
                raise ResourceFailedError(name, self.failing[name])
            old = before.template.resources.get(name) if before else None
            if item.kind == "AWS::DynamoDB::Table" and old is not None:
                new = cast("DesiredStack", record.wanted).template.resources[name]
                if len(changed_indexes(old, new)) > 1:
                    raise ResourceFailedError(
                        name,
                        "Cannot perform more than one GSI creation or deletion in a single update",
                    )

    def _refuse_exports(self, record: Record, outputs: Sequence[Output]) -> None:
        others = self._exports(besides=record)
        new = {output.export: output.value for output in outputs if output.export is not None}
        if twice := sorted(new.keys() & others.keys()):
            raise RefusedError(f"Export with name {twice[0]} is already exported by another stack")
        for name, value in record.exports.items():
            users = self._users(name, record)
            if users and new.get(name) != value:
                verb = "updated" if name in new else "deleted"
                fact = f"Export {name} cannot be {verb} as it is in use by {' and '.join(users)}"
                raise RefusedError(fact)

    def _delete(self, record: Record) -> None:
        for name in record.exports:
            if users := self._users(name, record):
                fact = f"Export {name} cannot be deleted as it is in use by {' and '.join(users)}"
                record.becomes("DELETE_FAILED", fact)
                return
        if failed := self._remove_all(record, creating=False):
            reason = f"The following resource(s) failed to delete: [{', '.join(failed)}]."
            record.becomes("DELETE_FAILED", reason)
            return
        record.outputs, record.imports = [], frozenset()
        record.becomes(GONE)

    def _remove_all(self, record: Record, *, creating: bool) -> list[str]:
        if record.wanted is None:
            return []
        order = [item.logical_id for item in record.wanted.template.stack.in_order()]
        names = [name for name in reversed(order) if name in record.parts]
        return self._remove(record, record.wanted, names, creating=creating)

    def _remove(
        self, record: Record, before: DesiredStack, names: Sequence[str], *, creating: bool
    ) -> list[str]:
        """Remove resources, and return the names of those that could not be removed."""
        failed: list[str] = []
        for name in names:
            part = record.parts[name]
            if before.template.keeps(name, creating=creating) or not part.physical_id:
                kept = bool(part.physical_id)
                record.part_becomes(name, "DELETE_SKIPPED" if kept else GONE)
                del record.parts[name]
                continue
            record.part_becomes(name, "DELETE_IN_PROGRESS")
            if reason := self._refusal(before, part):
                record.part_becomes(name, "DELETE_FAILED", reason)
                failed.append(name)
                continue
            record.part_becomes(name, GONE)
            del record.parts[name]
        return failed

    def _remove_old(self, record: Record, before: DesiredStack, old: Sequence[Part]) -> None:
        """Remove replaced resources; the update succeeds even if some remain."""
        for part in old:
            declared = before.template.resources[part.logical_id]
            if declared.get("UpdateReplacePolicy") == "Retain":
                record.old_becomes(part, "DELETE_SKIPPED")
            elif reason := self._refusal(before, part):
                record.old_becomes(part, "DELETE_FAILED", reason)
            else:
                record.old_becomes(part, GONE)

    def _refusal(self, stack: DesiredStack, part: Part) -> str | None:
        """Remove a resource, or return why it cannot be removed."""
        declared = stack.template.resources[part.logical_id]
        if is_protected(declared) and part.physical_id not in self.unprotected:
            return "Resource has deletion protection enabled."
        try:
            self._builder.remove(stack, part.logical_id)
        except ResourceFailedError as error:
            return error.reason
        return None

    def _wanted(self) -> list[DesiredStack]:
        return [
            item.wanted
            for item in self.all()
            if item.wanted is not None and not item.status.startswith(("ROLLBACK_", "DELETE_"))
        ]

    def _exports(self, *, besides: Record) -> dict[str, JsonValue]:
        result: dict[str, JsonValue] = {}
        for item in self.all():
            if item is not besides:
                result |= item.exports
        return result

    def _users(self, export: str, owner: Record) -> list[str]:
        return sorted(e.name for e in self.all() if e is not owner and export in e.imports)


def _fact(error: Exception) -> str:
    if isinstance(error, ResourceFailedError):
        return f"The following resource(s) failed: [{error.logical_id}]. {error.reason}"
    return f"{error} Rollback requested by user."


def _started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
