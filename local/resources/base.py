"""The common parts of all resource modules: typed properties, context, result.

Properties are parsed strictly: an unknown property is an error, so nothing in a template is
silently ignored. Properties without effect here are listed by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeVar, cast

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator
from pydantic.alias_generators import to_pascal

from local.assembly import Resource
from local.clients import Clients
from local.errors import AssemblyError
from local.function_process import FunctionSpec, InvocationResult
from local.iam.roles import Roles
from local.plan import Plan
from local.state import StateFolder

Progress = Callable[[str], None]


class Properties(BaseModel):
    """Base of the typed properties; names as in CloudFormation, unknown ones rejected."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_pascal, populate_by_name=True
    )
    no_effect: ClassVar[str] = ""
    """Names of further properties, which are accepted in any form and have no effect here."""

    @model_validator(mode="before")
    @classmethod
    def without_inert(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        sent = cast("dict[str, object]", given)
        inert = set(cls.no_effect.split())
        return {name: value for name, value in sent.items() if name not in inert}


@dataclass(frozen=True)
class Created:
    """The values of `Ref` and `Fn::GetAtt` of a resource."""

    ref: str
    attributes: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True)
class Context:
    """The context in which modules create resources.

    `stateful` are all resources with data; `fresh` are those of them that this start has created.
    """

    clients: Clients
    state: StateFolder
    plan: Plan
    roles: Roles
    assets: Mapping[str, Path]
    install_layer: Callable[[Path], Path]
    register: Callable[[FunctionSpec], None]
    role_of: Callable[[str], str]
    invoke: Callable[[str, Mapping[str, JsonValue]], InvocationResult]
    response_url: Callable[[str], str]
    response: Callable[[str], JsonValue]
    search_endpoint: str
    api_url: str
    progress: Progress
    fresh: list[str] = field(default_factory=list[str])
    stateful: list[str] = field(default_factory=list[str])


Creator = Callable[[Context, Resource], Created]
_Parsed = TypeVar("_Parsed", bound=Properties)


def parse(kind: type[_Parsed], resource: Resource) -> _Parsed:
    """Return the properties of a resolved resource.

    Raises:
        AssemblyError: a property is unknown, missing or of a wrong form.
    """
    try:
        return kind.model_validate(resource.properties)
    except ValidationError as error:
        facts = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        )
        raise refusal(resource, f"not supported by the local runtime: {facts}") from error


def refusal(resource: Resource, fact: str) -> AssemblyError:
    """Return the error that names the resource and the problem."""
    return AssemblyError(
        stack=resource.stack, logical_id=resource.logical_id, kind=resource.kind, fact=fact
    )
