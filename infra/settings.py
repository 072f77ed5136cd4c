"""The settings of a deployment: typed, checked at synth, one set a stage (cdk.json, `stages`).

The stage is the context value `stage`; any setting can be given as context too (`-c bundle=true`)
and then comes before the stage's. Defaults are production's.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from backend.spec import settings as declared
from backend.spec.routes import ThrottleGroup
from infra.concurrency_settings import ConcurrencySettings
from infra.execution_settings import ExecutionSettings
from infra.network_settings import NetworkSettings
from infra.setting_types import (
    ISSUER,
    SETTINGS_CONFIG,
    AddressRange,
    BucketName,
    BusArn,
    FunctionArn,
    KeyArn,
    LogRetentionDays,
    Name,
    QueueArn,
    Throttle,
    fit_variables,
)
from infra.zones import spread_evenly, zones_of

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / "cdk.json"

_OBJECT = TypeAdapter(dict[str, object])
_STAGES = TypeAdapter(dict[str, dict[str, object]])

POLICY_CHARS = 1_150
"""What the largest role leaves of the 10,240 characters that IAM takes, whatever the stage's name
and partition."""
_STATEMENT_CHARS = 200  # of the statement about imported keys, without their ARNs
_POLICY_CHARS_BESIDE = 48  # the rest of both ARNs of a bucket: its own, and that of its objects


class SettingsError(Exception):
    """A setting is missing, unknown or wrong; the message names it."""


class Settings(ConcurrencySettings, ExecutionSettings, NetworkSettings):
    """What distinguishes one deployment from another. Names in cdk.json are in camelCase."""

    model_config = SETTINGS_CONFIG

    stage: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,15}$")]
    """The name of the stage, which is part of the names of its stacks."""

    bundle: bool = False
    """Whether to build the dependency layer: required to deploy, not used locally."""

    search: Literal["provisioned", "none"] = "provisioned"
    """Whether to create an OpenSearch domain. Without one, search is not available."""

    search_instance_type: Annotated[str, Field(pattern=r"^[a-z0-9]+\.[a-z0-9]+\.search$")] = (
        "t3.small.search"
    )
    """The instance type of the domain's data nodes."""

    search_instance_count: Annotated[int, Field(ge=1, le=80), AfterValidator(spread_evenly)] = 1
    """One, or a multiple of three: three zones have as many nodes each. Of two nodes, or of nodes
    in two zones, the loss of one stops the domain, since the rest is no majority."""

    search_volume_gb: Annotated[int, Field(ge=10, le=3000)] = 20
    """The size of the volume of each data node."""

    search_logs: bool = False
    """Whether the search domain logs its errors, and slow searches and writes, to CloudWatch.
    Slow searches are logged with the words that were searched for."""

    user_pool: bool = False
    """Whether to create a Cognito user pool in which users sign in."""

    user_pool_firewall: bool = False
    """Whether AWS WAF protects the user pool: it limits the requests of each address, and blocks
    addresses and requests on AWS's lists of threats. WAF is charged by month and request."""

    user_pool_requests_per_address: Annotated[int, Field(ge=10, le=2_000_000_000)] = 300
    """Maximum requests from one address in five minutes. A sign-in takes three; users behind one
    router share an address."""

    oidc_issuer: Annotated[str, Field(pattern=ISSUER)] = ""
    """Issuer (`iss`) of another identity provider to accept. Without TLS only locally."""

    oidc_audiences: tuple[Name, ...] = ()
    """Accepted audiences (`aud`) of its tokens; default: `oidcClientId`."""

    oidc_user_claim: Name = "sub"
    oidc_user_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._@+-]{0,32}$")] = ""
    """Prefix of its users' ids, so that they differ from user pool users and the administrator."""

    oidc_email_claim: Name = "email"
    oidc_mfa_claim: Name = "amr"
    oidc_mfa_values: tuple[Name, ...] = ("mfa",)
    oidc_client_id: Annotated[str, Field(pattern=r"^[^\s,]*$")] = ""
    oidc_scope: str = "openid email"
    oidc_scope_mfa: str = ""

    allowed_ip_ranges: Annotated[tuple[AddressRange, ...], AfterValidator(fit_variables)] = ()
    """Addresses from which requests with credentials are accepted; empty: all."""

    customer_managed_key: bool = False
    """Whether to encrypt all data with a KMS key of the account instead of keys managed by AWS."""

    settle_delay_seconds: Annotated[int, Field(ge=0, le=900)] = 900
    search_grace_seconds: Annotated[int, Field(ge=1, le=900)] = 30
    search_keep_seconds: Annotated[int, Field(ge=0, le=30 * 86_400)] = 86_400
    upload_rate_per_minute: Annotated[int, Field(ge=1)] = 20
    subscribers_per_minute: Annotated[int, Field(ge=1)] = 60
    presigned_url_seconds: Annotated[int, Field(ge=1, le=3600)] = 3600
    large_file_bytes: Annotated[int, Field(ge=5 * 1024**2, le=5 * 1024**3)] = 1024**3
    """At least what a preview may have, at most what S3 copies in one request."""

    admin_user_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._@+-]{3,255}$")] = "admin"
    sync_database_id: Annotated[str, Field(pattern=r"^[-_a-zA-Z0-9]{3,63}$")] = "imported"
    """Database for assets found in a bucket without a default database."""
    imported_buckets: tuple[BucketName, ...] = ()
    """Further buckets that may be registered as asset storage. Each must send its events to
    EventBridge, which is a setting of the bucket."""

    imported_keys: tuple[KeyArn, ...] = ()
    """ARNs of the KMS keys that encrypt imported buckets. The functions that use files may use
    these keys through S3; the policy of each key must allow this to the account."""

    allowed_pipeline_functions: tuple[FunctionArn, ...] = ()
    """ARNs of Lambda functions that pipelines may call, in addition to those of the product. Other
    functions of the deployment are not allowed."""

    allowed_pipeline_queues: tuple[QueueArn, ...] = ()
    """ARNs of SQS queues that pipelines may use. A customer-managed key of a queue must allow the
    role of executions."""

    allowed_pipeline_buses: tuple[BusArn, ...] = ()
    """ARNs of EventBridge event buses that pipelines may use."""

    tracking: bool = False
    """Whether to create a table for MLflow's tracking store (docs/guides/tracking.md)."""

    name_hidden_assets: bool = False
    """Whether exports contain the ids of linked assets that the caller may not see."""

    audit_days: Annotated[int, Field(ge=1)] = 400
    audit_reads: bool = True
    """Costs a request to SQS and two write units of DynamoDB for each read; for streams at most
    once an hour for each user and file, by each process of the function."""
    audit_lock: Literal["none", "governance", "compliance"] = "none"
    """Whether archived audit entries are protected from deletion and replacement (S3 Object Lock).
    This cannot be undone; with `compliance`, not even by the account's owner."""
    audit_lock_days: Annotated[int, Field(ge=1, le=36_500)] = 365
    """Period of that protection, from the day of archiving."""

    malware_scan: bool = False
    """Whether GuardDuty scans each new object of the asset bucket for malware. Versions in which
    it finds any are quarantined: listed and deleted, but not read or copied. Charged by the
    gigabyte and object; not in every region."""

    cloud_trail: bool = False
    """Whether a CloudTrail trail records the account's management calls of all regions. It writes
    below `cloudtrail-logs/` in the access-log bucket. An account's second trail is charged for."""

    web_url: Annotated[str, Field(pattern=r"^(https?://[^/\s]+)?$")] = ""
    """An origin without a trailing slash. Only its pages may call the API and use presigned URLs
    (CORS); without one, no page of another origin may."""

    api_requests_per_second: Annotated[int, Field(ge=1)] = 1000
    """Maximum requests to the API in a second; further ones return 429."""

    api_burst: Annotated[int, Field(ge=1)] = 2000
    """Maximum burst of requests to the API."""

    route_throttles: dict[ThrottleGroup, Throttle] = {}
    """Limits for each route of a group, apart from the API's: `requestsPerSecond` and `burst` for
    `search`, `export`, `signIn` and `public` (routes without credentials). A group that is not
    named has the API's limits."""

    alarm_topic_arn: Annotated[str, Field(pattern=r"^(arn:[^:]+:sns:.+)?$")] = ""
    """The SNS topic that CloudWatch alarms notify. Without a topic, no alarms are created; each is
    charged by the month."""

    detailed_route_metrics: bool = False
    """Whether API Gateway emits its metrics for each route as well. CloudWatch charges each of them
    by the month."""

    log_retention_days: LogRetentionDays = 30
    """Days for which CloudWatch keeps logs."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Minimum level of the functions' log messages."""

    @model_validator(mode="after")
    def _check_firewall(self) -> Self:
        if self.user_pool_firewall and not self.user_pool:
            raise ValueError("userPoolFirewall needs a userPool")
        return self

    @model_validator(mode="after")
    def _check_zones(self) -> Self:
        self.check_zones(zones_of(self.search_instance_count))
        return self

    @property
    def allowed_pipelines(self) -> tuple[str, ...]:
        """What executions may call beside the functions of the product: ARNs."""
        return (
            *self.allowed_pipeline_functions,
            *self.allowed_pipeline_queues,
            *self.allowed_pipeline_buses,
        )

    @model_validator(mode="after")
    def _check_pipelines(self) -> Self:
        own = f":function:vitrine-{self.stage}-"
        for arn in self.allowed_pipeline_functions:
            if own in arn:
                raise ValueError(f"allowedPipelineFunctions: {arn} is one of this deployment")
        fit_variables(self.allowed_pipelines)
        return self

    @model_validator(mode="after")
    def _fit_roles(self) -> Self:
        size = sum(2 * len(name) + _POLICY_CHARS_BESIDE for name in self.imported_buckets)
        if self.imported_keys:
            size += _STATEMENT_CHARS + sum(len(arn) + 3 for arn in self.imported_keys)
        if size > POLICY_CHARS:
            raise ValueError(
                f"importedBuckets and importedKeys take {size} characters of a role's policy, "
                f"which has room for {POLICY_CHARS}: name fewer"
            )
        return self

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        if not self.oidc_issuer:
            if self.oidc_audiences or self.oidc_client_id:
                raise ValueError("oidcAudiences and oidcClientId need an oidcIssuer")
            return self
        if not (self.oidc_audiences or self.oidc_client_id):
            raise ValueError("oidcIssuer needs oidcAudiences or an oidcClientId")
        if self.user_pool and not self.oidc_user_prefix:
            raise ValueError("oidcIssuer beside a userPool needs an oidcUserPrefix")
        return self

    def environment(self) -> dict[str, str]:
        """The value of each declared setting, by its name."""
        values: dict[declared.Setting, int | str] = {
            declared.SETTLE_DELAY_SECONDS: self.settle_delay_seconds,
            declared.SEARCH_GRACE_SECONDS: self.search_grace_seconds,
            declared.SEARCH_KEEP_SECONDS: self.search_keep_seconds,
            declared.UPLOAD_RATE_PER_MINUTE: self.upload_rate_per_minute,
            declared.SUBSCRIBERS_PER_MINUTE: self.subscribers_per_minute,
            declared.PRESIGNED_URL_SECONDS: self.presigned_url_seconds,
            declared.LARGE_FILE_BYTES: self.large_file_bytes,
            declared.ADMIN_USER_ID: self.admin_user_id,
            declared.AUDIT_DAYS: self.audit_days,
            declared.AUDIT_READS: int(self.audit_reads),
            declared.SYNC_DATABASE_ID: self.sync_database_id,
            declared.IMPORTED_BUCKETS: ",".join(self.imported_buckets),
            declared.NAME_HIDDEN_ASSETS: int(self.name_hidden_assets),
            declared.MALWARE_SCAN: int(self.malware_scan),
            **self.of_executions(self.account_concurrency),
            declared.ALLOWED_PIPELINES: ",".join(self.allowed_pipelines),
            declared.OIDC_ISSUER: self.oidc_issuer,
            declared.OIDC_AUDIENCES: ",".join(self.oidc_audiences) or self.oidc_client_id,
            declared.OIDC_USER_CLAIM: self.oidc_user_claim,
            declared.OIDC_USER_PREFIX: self.oidc_user_prefix,
            declared.OIDC_EMAIL_CLAIM: self.oidc_email_claim,
            declared.OIDC_MFA_CLAIM: self.oidc_mfa_claim,
            declared.OIDC_MFA_VALUES: ",".join(self.oidc_mfa_values),
            declared.OIDC_CLIENT_ID: self.oidc_client_id,
            declared.OIDC_SCOPE: self.oidc_scope,
            declared.OIDC_SCOPE_MFA: self.oidc_scope_mfa,
            declared.ALLOWED_ADDRESSES: ",".join(self.allowed_ip_ranges),
            declared.WEB_URL: self.web_url,
        }
        return {setting.name: str(value) for setting, value in values.items()}


def described() -> Iterator[tuple[str, object, str]]:
    """Name in cdk.json, default and meaning of each setting that a stage may leave out."""
    of_functions = {setting.name: setting.description for setting in declared.SETTINGS}
    for name, field in Settings.model_fields.items():
        if not field.is_required():
            facts = f"{of_functions.get(name.upper(), '')} {field.description or ''}"
            yield to_camel(name), field.default, " ".join(facts.split())


def default_context(path: Path = CONFIGURATION) -> dict[str, object]:
    """The context of cdk.json, which the CDK command gives and a bare `python app.py` does not.

    Raises:
        SettingsError: the file is not what it should be.
    """
    try:
        content = _OBJECT.validate_json(path.read_bytes())
        return _OBJECT.validate_python(content.get("context"))
    except (OSError, ValidationError) as error:
        raise SettingsError(f"{path.name}: no object `context` in it: {error}") from error


def read_settings(context: Callable[[str], object]) -> Settings:
    """The settings of the stage that the context names.

    Raises:
        SettingsError: the stage is unknown, or one of its settings is unknown or wrong.
    """
    stage = context("stage")
    try:
        stages = _STAGES.validate_python(context("stages"))
    except ValidationError as error:
        raise SettingsError(f"stages: not an object of objects: {error}") from error
    if stage is None:
        raise SettingsError(f"stage: not given; add -c stage=NAME ({', '.join(sorted(stages))})")
    if not isinstance(stage, str) or stage not in stages:
        raise SettingsError(f"stage: {stage!r} is not one of {', '.join(sorted(stages))}")
    given = dict(stages[stage])
    for name in Settings.model_fields:
        value = context(to_camel(name))
        if value is not None:
            given[to_camel(name)] = value
    given["stage"] = stage
    return _checked(given)


def _parsed(given: dict[str, object]) -> dict[str, object]:
    """Parse texts that are no valid values: the CDK command gives `-c name=value` as a text."""
    try:
        Settings.model_validate(given)
    except ValidationError as error:
        for name in {str(each["loc"][0]) for each in error.errors() if each["loc"]}:
            text = given.get(name)
            if isinstance(text, str):
                with contextlib.suppress(ValueError):
                    given = {**given, name: json.loads(text)}
    return given


def _checked(given: dict[str, object]) -> Settings:
    try:
        return Settings.model_validate(_parsed(given))
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # settings that do not fit together: the message names them
            fact = first["msg"].removeprefix("Value error, ")
            raise SettingsError(f"stages.{given['stage']}: {fact}") from error
        name = ".".join(str(part) for part in first["loc"])
        fact = f"{first['msg']} (given: {first['input']!r})"
        raise SettingsError(f"stages.{given['stage']}.{name}: {fact}") from error
