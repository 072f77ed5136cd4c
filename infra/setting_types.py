"""The types of settings, and the configuration of their models."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)
from pydantic.alias_generators import to_camel

from backend.spec import settings as declared
from backend.spec.functions import FUNCTIONS
from backend.spec.settings import Form, Setting
from infra.addresses import address_range
from infra.arns import of_its_partition

SETTINGS_CONFIG = ConfigDict(
    alias_generator=to_camel,
    extra="forbid",
    frozen=True,
    validate_by_name=False,
    use_attribute_docstrings=True,  # shown on the reference page
)
"""The configuration with which models of settings parse cdk.json."""

_ARN = r"arn:aws[a-z-]*:{}:[a-z]{{2,4}}(-[a-z]+)+-[0-9]+:[0-9]{{12}}:"


def _arn(service: str, resource: str, example: str) -> Form:
    return Form(
        f"^{_ARN.format(service)}{resource}$",
        f"an ARN such as arn:aws:{service}:eu-central-1:111122223333:{example}",
    )


_STAGE = Form(
    r"^[a-z][a-z0-9]{0,15}$",
    "at most 16 lower-case letters and digits, and begin with a letter",
)
_INSTANCE = Form(
    r"^[a-z0-9]+\.[a-z0-9]+\.search$",
    "an instance type of OpenSearch Service, such as t3.small.search",
)
_ZONE = Form(
    r"^[a-z]{2,4}(-[a-z0-9]+)+-[0-9]+[a-z]$",
    "the name of an availability zone, such as eu-central-1a",
)
_VPC = Form(r"^(vpc-[0-9a-f]{8,17})?$", "the id of a VPC, such as vpc-0123456789abcdef0")
_SUBNET = Form(r"^subnet-[0-9a-f]{8,17}$", "the id of a subnet, such as subnet-0123456789abcdef0")
_KEY = _arn("kms", "key/[A-Za-z0-9-]{1,64}", "key/1234abcd-12ab-34cd-56ef-1234567890ab")
_FUNCTION = _arn("lambda", "function:[A-Za-z0-9_-]{1,64}", "function:convert")
_QUEUE = _arn("sqs", "[A-Za-z0-9_-]{1,80}", "renders")
_BUS = _arn("events", "event-bus/[A-Za-z0-9/._-]+", "event-bus/default")
_TOPIC = Form(
    f"^({_ARN.format('sns')}[A-Za-z0-9_-]{{1,256}})?$",  # no FIFO topic: alarms name no group
    "the ARN of a standard topic, such as arn:aws:sns:eu-central-1:111122223333:operators",
)
_FORMS = (
    *(_STAGE, _INSTANCE, _ZONE, _VPC, _SUBNET, _KEY, _FUNCTION, _QUEUE, _BUS, _TOPIC),
    *(each.form for each in declared.SETTINGS if each.form is not None),
)
WORDS = {each.pattern: each.words for each in _FORMS}
"""The rule of each pattern in words, to follow "must be"."""


def _of(form: Form) -> StringConstraints:
    return StringConstraints(pattern=form.pattern)


def _each(setting: Setting) -> StringConstraints:
    """Return the required form of each text in a list."""
    if setting.form is None:
        raise TypeError(f"{setting.name} declares no form")
    return _of(setting.form)


StageName = Annotated[str, _of(_STAGE)]
InstanceType = Annotated[str, _of(_INSTANCE)]
ZoneName = Annotated[str, _of(_ZONE)]
VpcId = Annotated[str, _of(_VPC)]
SubnetId = Annotated[str, _of(_SUBNET)]
Audience = Annotated[str, _each(declared.OIDC_AUDIENCES)]
MfaValue = Annotated[str, _each(declared.OIDC_MFA_VALUES)]
BucketName = Annotated[str, _each(declared.IMPORTED_BUCKETS)]
AddressRange = Annotated[str, BeforeValidator(address_range)]
"""A network such as `192.0.2.0/24`, two addresses joined by `-`, or a list of two."""

_IN_PARTITION = AfterValidator(of_its_partition)
KeyArn = Annotated[str, _of(_KEY), _IN_PARTITION]
FunctionArn = Annotated[str, _of(_FUNCTION), _IN_PARTITION]
QueueArn = Annotated[str, _of(_QUEUE), _IN_PARTITION]
BusArn = Annotated[str, _of(_BUS), _IN_PARTITION]
TopicArn = Annotated[str, _of(_TOPIC), _IN_PARTITION]

# Maximum length of a list. All variables of a function have 4 KB.
VARIABLE_CHARS = 2_000
# Of the periods that CloudWatch Logs accepts (PutRetentionPolicy).
LogRetentionDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827]


def field_of(setting: Setting) -> Any:
    """Return the field of a setting that functions read: default, bounds, form, description."""
    form = setting.form.pattern if setting.form else None
    return _field(setting, setting.default, pattern=form)


def flag_field(setting: Setting) -> Any:
    """Return the field of a setting that functions read as 1 or 0."""
    return _field(setting, bool(setting.default))


def list_field(setting: Setting) -> Any:
    """Return the field of a setting that functions read as a comma-separated list."""
    return _field(setting, tuple(filter(None, str(setting.default).split(","))))


def _field(setting: Setting, default: object, *, pattern: str | None = None) -> Any:
    return Field(
        default=default,
        ge=setting.least,
        le=setting.most,
        pattern=pattern,
        description=setting.description,
    )


def fit_variables(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a list that functions read from one variable.

    Raises:
        ValueError: they are too long for one variable.
    """
    size = len(",".join(values))
    if size > VARIABLE_CHARS:
        raise ValueError(f"has {size} characters, functions take {VARIABLE_CHARS}: join some")
    return values


def of_functions(reserved: dict[str, int]) -> dict[str, int]:
    """Return a number for each named function.

    Raises:
        ValueError: there is no function of a name.
    """
    unknown = sorted(set(reserved) - {spec.name for spec in FUNCTIONS})
    if unknown:
        raise ValueError(f"no function is named {unknown[0]}")
    return reserved


class Throttle(BaseModel):
    """A rate limit of a route: requests per second, and the burst."""

    model_config = SETTINGS_CONFIG

    requests_per_second: Annotated[int, Field(ge=1)]
    burst: Annotated[int, Field(ge=1)]
