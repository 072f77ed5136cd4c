"""Builds DynamoDB expressions from the write values of `core`. Values are always placeholders."""

from dataclasses import dataclass, field
from typing import Any

from backend.aws.items import Wire, value_to_wire
from backend.core.transactions import Condition, Update


@dataclass(slots=True)
class Expression:
    """Collects placeholders for names and values while an expression is built."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    values: Wire = field(default_factory=dict[str, Any])

    def name(self, attribute: str) -> str:
        for placeholder, known in self.names.items():
            if known == attribute:
                return placeholder
        placeholder = f"#n{len(self.names)}"
        self.names[placeholder] = attribute
        return placeholder

    def value(self, attribute: str, value: object) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value_to_wire(attribute, value)
        return placeholder

    def condition(self, conditions: tuple[Condition, ...]) -> str:
        return " AND ".join(self._one(condition) for condition in conditions)

    def update(self, update: Update) -> str:
        """Return the update expression; an attribute that is set to None is removed."""
        sets = [
            f"{self.name(k)} = {self.value(k, v)}" for k, v in update.set.items() if v is not None
        ]
        gone = [*update.remove, *(k for k, v in update.set.items() if v is None)]
        removes = [self.name(k) for k in gone]
        adds = [f"{self.name(k)} {self.value(k, v)}" for k, v in update.add.items()]
        clauses = (("SET", sets), ("REMOVE", removes), ("ADD", adds))
        return " ".join(f"{word} {', '.join(parts)}" for word, parts in clauses if parts)

    def parameters(self) -> dict[str, Any]:
        """Return the placeholders as request parameters; DynamoDB rejects empty ones."""
        out: dict[str, Any] = {}
        if self.names:
            out["ExpressionAttributeNames"] = self.names
        if self.values:
            out["ExpressionAttributeValues"] = self.values
        return out

    def _one(self, condition: Condition) -> str:
        name = self.name(condition.attribute)
        if condition.operator == "exists":
            return f"attribute_exists({name})"
        if condition.operator == "absent":
            return f"attribute_not_exists({name})"
        value = self.value(condition.attribute, condition.value)
        if condition.operator == "not >":
            return f"NOT {name} > {value}"
        return f"{name} {condition.operator} {value}"
