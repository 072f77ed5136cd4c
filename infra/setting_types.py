"""The types of settings that are texts of a certain form, and how models of settings are read."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from backend.spec.functions import FUNCTIONS
from infra.addresses import address_range

SETTINGS_CONFIG = ConfigDict(
    alias_generator=to_camel,
    extra="forbid",
    frozen=True,
    validate_by_name=False,
    use_attribute_docstrings=True,  # the reference page shows them
)
"""How models of settings read cdk.json."""

ISSUER = r"^(https://[^\s,?#@]+|http://(127\.0\.0\.1|localhost)(:\d+)?(/[^\s,?#@]*)?)?$"
Name = Annotated[str, Field(pattern=r"^[^\s,]+$")]
AddressRange = Annotated[str, BeforeValidator(address_range)]
"""A network such as `192.0.2.0/24`, two addresses joined by `-`, or a list of two."""

BucketName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]

KeyArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]{1,64}$")
]

FunctionArn = Annotated[
    str,
    Field(pattern=r"^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}$"),
]
QueueArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}$")
]
BusArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/[A-Za-z0-9/._-]+$")
]

VARIABLE_CHARS = 2_000
"""What a list may take of the 4 KB that all variables of a function have together."""
LogRetentionDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827]


def fit_variables(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a list that functions read from one variable.

    Raises:
        ValueError: they do not fit.
    """
    size = len(",".join(values))
    if size > VARIABLE_CHARS:
        raise ValueError(f"has {size} characters, functions take {VARIABLE_CHARS}: join some")
    return values


def of_functions(reserved: dict[str, int]) -> dict[str, int]:
    """Return a number of each function.

    Raises:
        ValueError: there is no function of a name.
    """
    unknown = sorted(set(reserved) - {spec.name for spec in FUNCTIONS})
    if unknown:
        raise ValueError(f"no function is named {unknown[0]}")
    return reserved


class Throttle(BaseModel):
    """How many requests a route takes in a second, and how many at once."""

    model_config = SETTINGS_CONFIG

    requests_per_second: Annotated[int, Field(ge=1)]
    burst: Annotated[int, Field(ge=1)]
