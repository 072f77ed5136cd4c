"""The query and the reply of the route that explains decisions."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from backend.core.models import WireModel, WrongFieldError
from backend.core.names import GLOBAL, Line, UserId
from backend.domains.access.policy.model import (
    FIELDS_OF,
    MAX_VALUE_CHARS,
    OBJECT_TYPES,
    ROUTE_PATH,
    Fields,
)
from backend.spec.routes.model import Action, Method

Value = Annotated[Line, Field(max_length=MAX_VALUE_CHARS)]


def _is_type(value: str) -> str:
    if value not in OBJECT_TYPES:
        raise ValueError(f"must be one of {', '.join(OBJECT_TYPES)}")
    return value


ObjectType = Annotated[
    str, AfterValidator(_is_type), Field(json_schema_extra={"enum": list(OBJECT_TYPES)})
]


class ExplainQuery(WireModel):
    """The user, the action and the object to explain.

    `method` (the default action) and `route`, as declared or as requested, name a route, which is
    explained too; its object is checked as the route does, unless `action` and `objectType` differ.
    `assetId` adds the fields of that asset. Other fields are those of the object and override the
    asset's; `tags` are comma-separated.
    """

    user_id: UserId
    action: Action | None = None
    object_type: ObjectType | None = None
    mfa: bool = False
    method: Method | None = None
    route: Value | None = None
    database_id: Value | None = None
    asset_id: Value | None = None
    asset_name: Value | None = None
    asset_type: Value | None = None
    tags: Value | None = None
    tag_name: Value | None = None
    tag_type_name: Value | None = None
    bucket_id: Value | None = None
    role_name: Value | None = None
    of_user_id: Value | None = None
    pipeline_id: Value | None = None
    pipeline_type: Value | None = None
    pipeline_execution_type: Value | None = None
    workflow_id: Value | None = None
    metadata_schema_name: Value | None = None
    metadata_schema_entity_type: Value | None = None

    @model_validator(mode="after")
    def check_subject(self) -> "ExplainQuery":
        if self.route is None and (self.action is None or self.object_type is None):
            fact = "either action and objectType, or method and route are required"
            raise WrongFieldError("route", fact)
        if self.method is None and self.action is None:
            raise WrongFieldError(
                "method", "is required together with the other one: give both method and route"
            )
        if self.asset_id is not None and self.database_id is None:
            raise WrongFieldError(
                "databaseId", "is required: an asset is identified by its database and its id"
            )
        return self

    def object_fields(self, object_type: str) -> Fields:
        """Return the fields of the object, as permission rules use them."""
        values = self.model_dump(by_alias=True, exclude_none=True)
        values["userId"] = self.of_user_id or ""
        fields = FIELDS_OF[object_type]
        secured: dict[str, str | tuple[str, ...]] = {
            name: values[name] for name in fields if values.get(name)
        }
        if object_type in ("tag", "tagType"):
            secured.setdefault("databaseId", GLOBAL)
        if self.tags and "tags" in fields:
            secured["tags"] = tuple(tag.strip() for tag in self.tags.split(",") if tag.strip())
        if ROUTE_PATH in fields and self.route:
            secured[ROUTE_PATH] = self.route
        return secured


class DecidingRule(WireModel):
    """A constraint that decided, and the role or user it is assigned to."""

    constraint_id: str
    given_to: str


class Decision(WireModel):
    """`by` is empty if no constraint allows the action, and where constraints do not apply: for
    public routes, and for actions reserved to administrators.
    """

    decision: Literal["allow", "deny"]
    by: list[DecidingRule]


class ExplainReply(WireModel):
    """`roles` are the roles in effect: they exist, and their MFA requirement is met.

    `tier1` is the decision on the route, if one is named; `tier2` that on the object, if there is
    one.
    """

    user_id: str
    roles: list[str]
    tier2: Decision | None = None
    tier1: Decision | None = None
