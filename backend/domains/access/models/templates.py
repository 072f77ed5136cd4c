"""Templates of permissions, and the body and replies of their routes.

A template is a list of constraints for one role, with variables such as `{{DATABASE_ID}}` in names,
descriptions and values.
"""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, field_validator

from backend.core.models import SentModel, WireModel
from backend.core.names import Form, Line, Text
from backend.domains.access.models.constraints import Criteria, Effect, Permission
from backend.domains.access.policy.model import ALLOW

ROLE_NAME = "ROLE_NAME"
"""The variable of every template: the role that its constraints are created for."""
# Constraints of one template. One transaction writes all of them.
MAX_CONSTRAINTS = 30
MAX_VARIABLES = 50

VariableName = Annotated[str, Form(r"\w{1,64}", "must be 1 to 64 letters, digits or '_'")]
VariableValue = Annotated[Line, Field(max_length=256)]


class TemplateHead(WireModel):
    name: Annotated[Line, Field(min_length=1, max_length=256)]
    description: Annotated[Text, Field(max_length=512)] | None = None
    version: Annotated[Line, Field(max_length=50)] | None = None


class TemplateVariable(SentModel):
    name: VariableName
    required: bool = True
    description: Annotated[Text, Field(max_length=512)] | None = None
    default: VariableValue | None = None


class TemplatePermission(SentModel):
    """An action that the role is allowed or denied. The role is the parameter `ROLE_NAME`."""

    action: Permission
    type: Effect = ALLOW


_CONSTRAINT: dict[str, JsonValue] = {
    "name": "{{ROLE_NAME}}: assets",
    "description": "Show the assets of {{DATABASE_ID}}",
    "objectType": "asset",
    "criteriaAnd": [{"field": "databaseId", "operator": "equals", "value": "{{DATABASE_ID}}"}],
    "groupPermissions": [{"action": "GET"}],
}


class TemplateConstraint(Criteria):
    model_config = ConfigDict(json_schema_extra={"examples": [_CONSTRAINT]})

    group_permissions: Annotated[list[TemplatePermission], Field(min_length=1, max_length=8)]


class TemplateImportBody(SentModel):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "template": {"name": "readers", "version": "1"},
                    "variables": [{"name": "DATABASE_ID"}],
                    "variableValues": {"ROLE_NAME": "curator", "DATABASE_ID": "museum"},
                    "constraints": [_CONSTRAINT],
                }
            ]
        }
    )

    template: TemplateHead | None = None
    variables: Annotated[list[TemplateVariable], Field(max_length=MAX_VARIABLES)] = []
    variable_values: Annotated[dict[VariableName, VariableValue], Field(max_length=MAX_VARIABLES)]
    constraints: Annotated[
        list[TemplateConstraint], Field(min_length=1, max_length=MAX_CONSTRAINTS)
    ]

    @field_validator("variable_values")
    @classmethod
    def check_role(cls, values: dict[str, str]) -> dict[str, str]:
        if not values.get(ROLE_NAME):
            raise ValueError(f"must contain {ROLE_NAME}")
        return values


class TemplateImportReply(WireModel):
    success: bool = True
    message: str
    constraints_created: int
    constraint_ids: list[str]
    timestamp: str
    warnings: list[str] | None = None


class Template(WireModel):
    """A permission template that ships with the product, in the format used for import."""

    template: TemplateHead
    variables: list[TemplateVariable]
    constraints: list[TemplateConstraint]


class TemplatesReply(WireModel):
    items: Annotated[list[Template], Field(alias="Items")]
