"""The types of settings: texts of a form, lists, ranges of addresses, ARNs."""

import contextlib
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel

from backend.spec import settings as declared
from backend.spec.functions import FUNCTIONS
from backend.spec.settings import Form, Setting

SETTINGS_CONFIG = ConfigDict(
    alias_generator=to_camel,
    extra="forbid",
    frozen=True,
    validate_by_name=False,
    use_attribute_docstrings=True,  # shown on the reference page
)
"""The configuration with which models of settings parse cdk.json."""

# The partition of regions with these prefixes; all other regions are in `aws`. Source: botocore's
# endpoints.
_PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
}
_ARN = r"arn:aws[a-z-]*:{}:[a-z]{{2,4}}(-[a-z]+)+-[0-9]+:[0-9]{{12}}:"


def _arn_form(service: str, resource: str, example: str) -> Form:
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
_KEY = _arn_form("kms", "key/[A-Za-z0-9-]{1,64}", "key/1234abcd-12ab-34cd-56ef-1234567890ab")
_FUNCTION = _arn_form("lambda", "function:[A-Za-z0-9_-]{1,64}", "function:convert")
_QUEUE = _arn_form("sqs", "[A-Za-z0-9_-]{1,80}", "renders")
_BUS = _arn_form("events", "event-bus/[A-Za-z0-9/._-]+", "event-bus/default")
_TOPIC = Form(
    f"^({_ARN.format('sns')}[A-Za-z0-9_-]{{1,256}})?$",  # no FIFO topic: alarms name no group
    "the ARN of a standard topic, such as arn:aws:sns:eu-central-1:111122223333:operators",
)
_CERTIFICATE = Form(
    r"^(arn:aws:acm:us-east-1:[0-9]{12}:certificate/[A-Za-z0-9-]{1,64})?$",
    "the ARN of a certificate in us-east-1, the region of CloudFront's certificates, such as "
    "arn:aws:acm:us-east-1:111122223333:certificate/1234abcd-12ab-34cd-56ef-1234567890ab",
)
_FIREWALL = Form(
    r"^(arn:aws:wafv2:us-east-1:[0-9]{12}:global/webacl/[A-Za-z0-9_-]{1,128}/[A-Za-z0-9-]{1,64})?$",
    "the ARN of a web ACL for CloudFront, such as "
    "arn:aws:wafv2:us-east-1:111122223333:global/webacl/page/1234abcd-12ab-34cd-56ef-1234567890ab",
)
# Source: Secrets Manager API Reference, "PutSecretValue", `ClientRequestToken`.
_VERSION = Form(
    r"^([A-Za-z0-9-]{32,64})?$",
    "the id of a version of a secret, such as 1234abcd-12ab-34cd-56ef-1234567890ab",
)
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = Form(rf"^({_LABEL}([.]{_LABEL})+)?$", "a domain name, such as models.example.org")
_ORIGIN = Form(
    rf"^https://{_LABEL}([.]{_LABEL})+(:[0-9]{{1,5}})?$",
    "an origin without a path, such as https://login.example.org",
)
# Source: Amazon Cognito Developer Guide, "Using the Amazon Cognito prefix domain".
_POOL_DOMAIN = Form(
    r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$",
    "a prefix such as museum-models, of at most 63 lower-case letters, digits and hyphens",
)
_PROVIDER_NAME = Form(r"^[A-Za-z0-9]{3,32}$", "named by 3 to 32 letters and digits, such as Okta")
# Source: Amazon Cognito Developer Guide, "Working with user attributes", and of a provider's users
# `username`.
_ATTRIBUTES = frozenset(
    (
        *("address", "birthdate", "email", "email_verified", "family_name", "gender"),
        *("given_name", "locale", "middle_name", "name", "nickname", "phone_number"),
        *("phone_number_verified", "picture", "preferred_username", "profile", "updated_at"),
        *("username", "website", "zoneinfo"),
    )
)
_DOMAIN_CHARS = 253
_ADDRESS = Form(r"^(https://[^\s]+)?$", "an address that begins with https://")
WORDS = {
    form.pattern: form.words
    for form in (
        *(
            _CERTIFICATE,
            _FIREWALL,
            _VERSION,
            _DOMAIN,
            _ORIGIN,
            _POOL_DOMAIN,
            _PROVIDER_NAME,
            _ADDRESS,
        ),
        *(_STAGE, _INSTANCE, _ZONE, _VPC, _SUBNET, _KEY, _FUNCTION, _QUEUE, _BUS, _TOPIC),
        *(setting.form for setting in declared.SETTINGS if setting.form is not None),
    )
}
"""The rule of each pattern in words, to follow "must be"."""


def region_of(arn: str) -> str:
    """Return the region of an ARN that has one."""
    return arn.split(":")[3]


def partition_of(region: str) -> str:
    """Return the partition of a region."""
    return next((name for start, name in _PARTITIONS.items() if region.startswith(start)), "aws")


def check_page_domain(name: str) -> str:
    """Return a domain name for the page, or an empty text."""
    if len(name) > _DOMAIN_CHARS:
        raise ValueError(f"must have at most {_DOMAIN_CHARS} characters, and has {len(name)}")
    if name.rpartition(".")[2].isdigit():
        raise ValueError("must be a domain name, and is an address")
    if name.endswith(".cloudfront.net"):
        raise ValueError("must be a domain of yours, and cloudfront.net is CloudFront's")
    return name


def check_port(origin: str) -> str:
    """Return an origin, or an address, whose port is below 65,536."""
    port = urlsplit(origin).netloc.rpartition(":")[2]
    if port.isdigit() and not 0 < int(port) < 2**16:
        raise ValueError(f"must have a port from 1 to 65535, and has {port}")
    return origin


def check_browser_origin(origin: str) -> str:
    """Return an origin as browsers send it: without the port of its scheme."""
    if origin.startswith("https:") and origin.endswith(":443"):
        raise ValueError("must not name the port 443, which browsers leave out")
    if origin.startswith("http:") and origin.endswith(":80"):
        raise ValueError("must not name the port 80, which browsers leave out")
    return check_port(origin)


def check_provider_name(name: str) -> str:
    """Return the name of a provider, which is not that of the pool's own users."""
    if name.casefold() == "cognito":
        raise ValueError("must not be COGNITO, which names the users of the pool itself")
    return name


def check_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Return a mapping from attributes that a user pool has."""
    for name in attributes:
        if name not in _ATTRIBUTES:
            raise ValueError(f"must map attributes of the user pool, and it has no {name}")
    return attributes


def check_pool_domain(prefix: str) -> str:
    """Return the prefix of a domain of Cognito, which reserves some words."""
    for word in ("aws", "amazon", "cognito"):
        if word in prefix:
            raise ValueError(f"must not contain {word}, which Cognito reserves")
    return prefix


def _check_partition(arn: str) -> str:
    """Return the ARN, or an empty text; refuse one whose region is in another partition."""
    if arn and arn.split(":")[1] != (needed := partition_of(region_of(arn))):
        raise ValueError(f"must be in the partition {needed}, as its region {region_of(arn)} is")
    return arn


def address_range(value: object) -> str:
    """Return the first and the last address of a range, joined by `-`, as functions parse it.

    Raises:
        ValueError: the value is neither a network nor two addresses of one kind in order.
    """
    with contextlib.suppress(TypeError, ValueError):
        if isinstance(value, str) and "-" not in value:
            network = ip_network(value)
            return f"{network[0]}-{network[-1]}"
        if isinstance(value, str):
            value = value.split("-")
        if not isinstance(value, list | tuple):
            raise TypeError("not two addresses")
        first, last = (ip_address(str(end).strip()) for end in cast("list[object]", value))
        if first.version == last.version and int(first) <= int(last):
            return f"{first}-{last}"
    raise ValueError(
        "must be a network such as 192.0.2.0/24, or two addresses such as 192.0.2.1-192.0.2.9"
    )


def _text(form: Form | None) -> StringConstraints:
    if form is None:
        raise TypeError("a list of texts declares their form")
    return StringConstraints(pattern=form.pattern)


StageName = Annotated[str, _text(_STAGE)]
InstanceType = Annotated[str, _text(_INSTANCE)]
ZoneName = Annotated[str, _text(_ZONE)]
VpcId = Annotated[str, _text(_VPC)]
SubnetId = Annotated[str, _text(_SUBNET)]
Audience = Annotated[str, _text(declared.OIDC_AUDIENCES.form)]
MfaValue = Annotated[str, _text(declared.OIDC_MFA_VALUES.form)]
BucketName = Annotated[str, _text(declared.IMPORTED_BUCKETS.form)]
AddressRange = Annotated[str, BeforeValidator(address_range)]
"""A network such as `192.0.2.0/24`, two addresses joined by `-`, or a list of two."""

_IN_PARTITION = AfterValidator(_check_partition)
KeyArn = Annotated[str, _text(_KEY), _IN_PARTITION]
FunctionArn = Annotated[str, _text(_FUNCTION), _IN_PARTITION]
QueueArn = Annotated[str, _text(_QUEUE), _IN_PARTITION]
BusArn = Annotated[str, _text(_BUS), _IN_PARTITION]
TopicArn = Annotated[str, _text(_TOPIC), _IN_PARTITION]
CertificateArn = Annotated[str, _text(_CERTIFICATE)]
FirewallArn = Annotated[str, _text(_FIREWALL)]
SecretVersion = Annotated[str, _text(_VERSION)]
ProviderName = Annotated[str, _text(_PROVIDER_NAME), AfterValidator(check_provider_name)]
PoolDomain = Annotated[str, _text(_POOL_DOMAIN), AfterValidator(check_pool_domain)]
DomainName = Annotated[str, _text(_DOMAIN), AfterValidator(check_page_domain)]
BrowserOrigin = Annotated[str, AfterValidator(check_browser_origin)]
HttpsOrigin = Annotated[str, _text(_ORIGIN), AfterValidator(check_port)]
_HttpsAddress = Annotated[str, _text(_ADDRESS)]
Positive = Annotated[int, Field(ge=1)]

# Of the periods that CloudWatch Logs accepts (PutRetentionPolicy).
LogRetentionDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827]
# Maximum length of a list. All variables of a function have 4 KB.
_VARIABLE_CHARS = 2_000


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


def not_of_administrators(role: str) -> str:
    """Return the role, unless it is the one that may change all permissions."""
    if role.strip().casefold() == "admin":
        raise ValueError(f"cannot be {role!r}, which may change all permissions")
    return role


def fit_variables(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a list that functions read from one variable.

    Raises:
        ValueError: they are too long for one variable.
    """
    size = len(",".join(values))
    if size > _VARIABLE_CHARS:
        raise ValueError(f"has {size} characters, functions take {_VARIABLE_CHARS}: join some")
    return values


def check_functions(reserved: dict[str, int]) -> dict[str, int]:
    """Return numbers by name of a function.

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

    requests_per_second: Positive
    burst: Positive


class SignInProvider(BaseModel):
    """A provider whose users sign in to the user pool.

    Either SAML by `metadataUrl`, or OpenID Connect by `issuer`, `clientId` and the name of the
    secret in Secrets Manager that has the client's secret. `attributes` maps attributes of the
    pool, such as `email`, to the provider's.
    """

    model_config = SETTINGS_CONFIG

    metadata_url: _HttpsAddress = ""
    issuer: _HttpsAddress = ""
    client_id: str = ""
    client_secret: str = ""
    attributes: Annotated[dict[str, str], AfterValidator(check_attributes)] = {}

    @model_validator(mode="after")
    def check_kind(self) -> "SignInProvider":
        """Require the settings of one kind."""
        of_oidc = (self.issuer, self.client_id, self.client_secret)
        if bool(self.metadata_url) == any(of_oidc) or (any(of_oidc) and not all(of_oidc)):
            raise ValueError("needs a metadataUrl, or else issuer, clientId and clientSecret")
        return self
