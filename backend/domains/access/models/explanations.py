"""What is asked of, and answered by, the route that explains decisions."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from backend.core.models import WireModel
from backend.core.names import Text, UserId
from backend.domains.access.policy.model import (
    FIELDS_OF,
    MAX_VALUE_CHARS,
    OBJECT_TYPE_FIELD,
    OBJECT_TYPES,
    ROUTE_PATH,
    Fields,
)
from backend.spec.routes.model import Action

Value = Annotated[Text, Field(max_length=MAX_VALUE_CHARS)]


def _is_type(value: str) -> str:
    if value not in OBJECT_TYPES:
        raise ValueError(f"must be one of {', '.join(OBJECT_TYPES)}")
    return value


ObjectType = Annotated[
    str, AfterValidator(_is_type), Field(json_schema_extra={"enum": list(OBJECT_TYPES)})
]


class ExplainQuery(WireModel):
    """Who wants to do what to which object; `tags` are parted by commas.

    With `routePath` the route is explained too, which `routeMethod` (the action, if not given) is
    asked of. Further fields are those of the object.
    """

    user_id: UserId
    action: Action
    object_type: ObjectType
    mfa: bool = False
    route_path: Value | None = None
    route_method: Action | None = None
    database_id: Value | None = None
    asset_name: Value | None = None
    asset_type: Value | None = None
    tags: Value | None = None
    tag_name: Value | None = None
    tag_type_name: Value | None = None
    role_name: Value | None = None
    of_user_id: Value | None = None
    pipeline_id: Value | None = None
    pipeline_type: Value | None = None
    pipeline_execution_type: Value | None = None
    workflow_id: Value | None = None
    metadata_schema_name: Value | None = None
    metadata_schema_entity_type: Value | None = None

    @property
    def object_fields(self) -> Fields:
        """The object as rules see it: those fields of its type that are given."""
        given = self.model_dump(by_alias=True, exclude_none=True)
        given["userId"] = self.of_user_id or ""
        found: dict[str, str | tuple[str, ...]] = {
            name: given[name] for name in FIELDS_OF[self.object_type] if given.get(name)
        }
        if self.tags and "tags" in FIELDS_OF[self.object_type]:
            found["tags"] = tuple(tag.strip() for tag in self.tags.split(",") if tag.strip())
        if ROUTE_PATH in FIELDS_OF[self.object_type] and self.route_path:
            found[ROUTE_PATH] = self.route_path
        return {name: value for name, value in found.items() if name != OBJECT_TYPE_FIELD}


class DecidingRule(WireModel):
    """A constraint that decides, and the role or user who was given it."""

    constraint_id: str
    given_to: str


class Decision(WireModel):
    """`by` is empty where nothing allows it, or where no rule is asked."""

    decision: Literal["allow", "deny"]
    by: list[DecidingRule]


class ExplainReply(WireModel):
    """`roles` are those that count: they are there, and their demand of a second factor is met."""

    user_id: str
    roles: list[str]
    tier2: Decision
    tier1: Decision | None = None
