"""The settings of a deployment: typed, checked at synthesis, one set per stage.

They are in cdk.json, under `stages`. The stage is the context value `stage`. Any setting can also
be passed as context (`-c bundle=true`), which overrides the stage's value. Defaults are those for
production.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from backend.spec import settings as declared
from backend.spec.routes import ThrottleGroup
from infra.concurrency_settings import ConcurrencySettings
from infra.execution_settings import ExecutionSettings
from infra.network_settings import NetworkSettings
from infra.setting_messages import is_name_of_cdk, nearest_name, refusal
from infra.setting_texts import TextError, parsed
from infra.setting_types import (
    SETTINGS_CONFIG,
    AddressRange,
    Audience,
    BucketName,
    BusArn,
    FunctionArn,
    InstanceType,
    KeyArn,
    LogRetentionDays,
    MfaValue,
    QueueArn,
    StageName,
    Throttle,
    TopicArn,
    field_of,
    fit_variables,
    flag_field,
    list_field,
)
from infra.without_effect import resources_elsewhere, without_effect
from infra.zones import spread_evenly, zones_of

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / "cdk.json"

_OBJECT = TypeAdapter(dict[str, object])
_STAGES = TypeAdapter(dict[str, dict[str, object]])

# Characters that remain for additions to the largest role. IAM accepts 10,240 characters, for any
# stage name and partition.
POLICY_CHARS = 1_150
_STATEMENT_CHARS = 200  # of the statement about imported keys, without their ARNs
# the remaining characters of both ARNs of a bucket: its own, and that of its objects
_POLICY_CHARS_BESIDE = 48


class SettingsError(Exception):
    """A setting is missing, unknown or wrong; the message names it."""


class Settings(ConcurrencySettings, ExecutionSettings, NetworkSettings):
    """The settings of a deployment. Names in cdk.json are in camelCase."""

    model_config = SETTINGS_CONFIG

    stage: StageName
    """The name of the stage, which is part of the names of its stacks."""

    bundle: bool = False
    """Whether to build the dependency layer: required to deploy, not used locally."""

    search: Literal["provisioned", "none"] = "provisioned"
    """Whether to create an OpenSearch domain. Without one, search is not available."""

    search_instance_type: InstanceType = "t3.small.search"
    """The instance type of the domain's data nodes."""

    search_instance_count: Annotated[int, Field(ge=1, le=80), AfterValidator(spread_evenly)] = 1
    """One, or a multiple of three: with three zones, each has the same number of nodes. With two
    nodes, or nodes in two zones, the loss of one stops the domain, because the rest is not a
    majority."""

    search_volume_gb: Annotated[int, Field(ge=10, le=3000)] = 20
    """The size of the volume of each data node."""

    search_logs: bool = False
    """Whether the search domain logs errors, and slow searches and writes, to CloudWatch. The entry
    of a slow search contains its words."""

    user_pool: bool = False
    """Whether to create a Cognito user pool in which users sign in."""

    user_pool_firewall: bool = False
    """Whether AWS WAF protects the user pool: it limits the requests of each address, and blocks
    addresses and requests on AWS's lists of threats. WAF is charged by month and request."""

    user_pool_requests_per_address: Annotated[int, Field(ge=10, le=2_000_000_000)] = 300
    """Maximum requests from one address in five minutes. A sign-in takes three; users behind one
    router share an address."""

    oidc_issuer: str = field_of(declared.OIDC_ISSUER)
    oidc_audiences: tuple[Audience, ...] = list_field(declared.OIDC_AUDIENCES)
    oidc_user_claim: str = field_of(declared.OIDC_USER_CLAIM)
    oidc_user_prefix: str = field_of(declared.OIDC_USER_PREFIX)
    oidc_email_claim: str = field_of(declared.OIDC_EMAIL_CLAIM)
    oidc_mfa_claim: str = field_of(declared.OIDC_MFA_CLAIM)
    oidc_mfa_values: tuple[MfaValue, ...] = list_field(declared.OIDC_MFA_VALUES)
    oidc_client_id: str = field_of(declared.OIDC_CLIENT_ID)
    oidc_scope: str = field_of(declared.OIDC_SCOPE)
    oidc_scope_mfa: str = field_of(declared.OIDC_SCOPE_MFA)

    allowed_ip_ranges: Annotated[tuple[AddressRange, ...], AfterValidator(fit_variables)] = (
        list_field(declared.ALLOWED_ADDRESSES)
    )

    customer_managed_key: bool = False
    """Whether to encrypt all data with a KMS key of the account instead of keys managed by AWS."""

    settle_delay_seconds: int = field_of(declared.SETTLE_DELAY_SECONDS)
    search_grace_seconds: int = field_of(declared.SEARCH_GRACE_SECONDS)
    search_keep_seconds: int = field_of(declared.SEARCH_KEEP_SECONDS)
    upload_rate_per_minute: int = field_of(declared.UPLOAD_RATE_PER_MINUTE)
    subscribers_per_minute: int = field_of(declared.SUBSCRIBERS_PER_MINUTE)
    presigned_url_seconds: int = field_of(declared.PRESIGNED_URL_SECONDS)
    large_file_bytes: int = field_of(declared.LARGE_FILE_BYTES)
    admin_user_id: str = field_of(declared.ADMIN_USER_ID)
    sync_database_id: str = field_of(declared.SYNC_DATABASE_ID)
    imported_buckets: tuple[BucketName, ...] = list_field(declared.IMPORTED_BUCKETS)

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

    name_hidden_assets: bool = flag_field(declared.NAME_HIDDEN_ASSETS)
    audit_days: int = field_of(declared.AUDIT_DAYS)
    audit_reads: bool = flag_field(declared.AUDIT_READS)

    audit_lock: Literal["none", "governance", "compliance"] = "none"
    """Whether archived audit entries are protected from deletion and replacement (S3 Object Lock).
    This cannot be undone; with `compliance`, not even by the account's owner."""
    audit_lock_days: Annotated[int, Field(ge=1, le=36_500)] = 365
    """Period of that protection, from the day of archiving."""

    malware_scan: bool = flag_field(declared.MALWARE_SCAN)

    cloud_trail: bool = False
    """Whether a CloudTrail trail records the account's management calls of all regions. It writes
    below `cloudtrail-logs/` in the access-log bucket. An account's second trail is charged for."""

    web_url: str = field_of(declared.WEB_URL)

    api_requests_per_second: Annotated[int, Field(ge=1)] = 1000
    """Maximum requests to the API in a second; further ones return 429."""

    api_burst: Annotated[int, Field(ge=1)] = 2000
    """Maximum burst of requests to the API."""

    route_throttles: dict[ThrottleGroup, Throttle] = {}
    """Limits for each route of a group, apart from the API's: `requestsPerSecond` and `burst` for
    `search`, `export`, `signIn` and `public` (routes without credentials). A group that is not
    named has the API's limits."""

    alarm_topic_arn: TopicArn = ""
    """The SNS topic that CloudWatch alarms notify. Without a topic, no alarms are created; each is
    charged by the month."""

    detailed_route_metrics: bool = False
    """Whether API Gateway also emits metrics for each route. CloudWatch charges for each of them by
    the month."""

    log_retention_days: LogRetentionDays = 30
    """Days for which CloudWatch keeps logs."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Minimum level of the functions' log messages."""

    @model_validator(mode="after")
    def _check_zones(self) -> Self:
        self.check_zones(zones_of(self.search_instance_count))
        return self

    @property
    def allowed_pipelines(self) -> tuple[str, ...]:
        """ARNs that executions may call in addition to the functions of the product."""
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
            return self
        if not (self.oidc_audiences or self.oidc_client_id):
            raise ValueError("oidcIssuer needs oidcAudiences or an oidcClientId")
        if self.user_pool and not self.oidc_user_prefix:
            raise ValueError("oidcIssuer beside a userPool needs an oidcUserPrefix")
        return self

    def environment(self) -> dict[str, str]:
        """The value of each declared setting, by its name."""
        computed: dict[declared.Setting, object] = {
            declared.EXECUTIONS_AT_ONCE: self.concurrent_executions(self.account_concurrency),
            declared.OIDC_AUDIENCES: self.oidc_audiences or self.oidc_client_id,
            declared.ALLOWED_ADDRESSES: self.allowed_ip_ranges,
        }
        return {
            each.name: _as_text(
                computed[each] if each in computed else getattr(self, each.name.lower())
            )
            for each in declared.SETTINGS
        }


def _as_text(value: object) -> str:
    """Return a value in the form in which functions read it."""
    if isinstance(value, tuple):
        return ",".join(cast("tuple[str, ...]", value))
    return str(int(value) if isinstance(value, bool) else value)


def described() -> Iterator[tuple[str, object, str]]:
    """Name in cdk.json, default and meaning of each optional setting."""
    for name, field in Settings.model_fields.items():
        if not field.is_required():
            yield to_camel(name), field.default, " ".join((field.description or "").split())


def default_context(path: Path = CONFIGURATION) -> dict[str, object]:
    """The context of cdk.json, which the CDK command passes and a plain `python app.py` does not.

    Raises:
        SettingsError: the file is not valid.
    """
    try:
        content = _OBJECT.validate_json(path.read_bytes())
        return _OBJECT.validate_python(content.get("context"))
    except (OSError, ValidationError) as error:
        fact = "must be an object with an object `context`"
        if isinstance(error, ValidationError) and error.errors()[0]["type"] == "json_invalid":
            fact = error.errors()[0]["msg"]  # with the line
        raise SettingsError(f"{path.name}: {fact}") from error


def read_settings(
    context: Callable[[str], object], *, names: Iterable[str] = (), region: str | None = None
) -> Settings:
    """The settings of the stage that the context names.

    `names` are all names in the context, if they are known, and `region` is the stage's.

    Raises:
        SettingsError: the stage or a setting is unknown, or a setting is wrong, without effect,
            or of another region.
    """
    stage, of_stage = _stage(context)
    known = [to_camel(name) for name in Settings.model_fields]
    for name in names:
        if name not in (*known, "stages") and not is_name_of_cdk(name):
            raise SettingsError(
                f"{name}: is not a setting; the nearest is {nearest_name(name, known)}"
            )
    if "stage" in of_stage:
        raise SettingsError(f"stages.{stage}.stage: a stage is named by its key")
    given = {name: context(name) for name in known if name != "stage"}
    of_command = {name: value for name, value in given.items() if value is not None}
    try:
        of_both = of_stage | parsed(of_command, Settings)
        settings = Settings.model_validate({**of_both, "stage": stage})
    except TextError as error:
        raise SettingsError(f"stages.{stage}.{error}") from error
    except ValidationError as error:
        raise SettingsError(f"stages.{stage}{refusal(error, Settings)}") from error
    for fact in (
        *without_effect(settings, of_stage, of_command),
        *resources_elsewhere(settings, region),
    ):
        raise SettingsError(f"stages.{stage}: {fact}")
    return settings


def _stage(context: Callable[[str], object]) -> tuple[str, dict[str, object]]:
    """Return the name of the stage, and its entry in cdk.json."""
    stage = context("stage")
    try:
        stages = _STAGES.validate_python(context("stages"))
    except ValidationError as error:
        raise SettingsError("stages: must be an object of objects, by name of stage") from error
    if stage is None:
        raise SettingsError(f"stage: not given; add -c stage=NAME ({', '.join(sorted(stages))})")
    if not isinstance(stage, str) or stage not in stages:
        raise SettingsError(f"stage: {stage!r} is not one of {', '.join(sorted(stages))}")
    return stage, stages[stage]
