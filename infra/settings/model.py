"""The model of a stage's settings: names, types, defaults, meanings, and what follows from them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast
from urllib.parse import urlsplit

from aws_cdk import Aws
from pydantic import AfterValidator, BaseModel, Field
from pydantic.alias_generators import to_camel

from backend.spec import settings as declared
from backend.spec.functions import Function
from backend.spec.queues import QUEUE_SUBSCRIPTIONS, Queue, QueueSubscription
from backend.spec.routes import ThrottleGroup
from infra.settings.network import VPC_RANGE, check_vpc_range, spread_evenly
from infra.settings.values import (
    SETTINGS_CONFIG,
    AddressRange,
    Audience,
    BrowserOrigin,
    BucketName,
    BusArn,
    CertificateArn,
    DomainName,
    FirewallArn,
    FunctionArn,
    HttpsOrigin,
    InstanceType,
    KeyArn,
    LogRetentionDays,
    MfaValue,
    PoolDomain,
    Positive,
    ProviderName,
    QueueArn,
    SecretVersion,
    SignInProvider,
    StageName,
    SubnetId,
    Throttle,
    TopicArn,
    VpcId,
    ZoneName,
    check_functions,
    check_port,
    field_of,
    fit_variables,
    flag_field,
    list_field,
    not_of_administrators,
)

ROOT = Path(__file__).resolve().parents[2]

# Instances of an account that cannot be reserved. Source: Lambda Developer Guide, "Configuring
# reserved concurrency for a function".
UNRESERVED = 100
# Minimum value of a queue mapping's maximum concurrency. Source: Lambda Developer Guide,
# "Configuring scaling behavior for SQS event source mappings".
LEAST_OF_QUEUE = 2
# Instances of functions per execution: its pipeline, and the reader for which it waits. Queues may
# use the other half of the account's instances (decision 49).
_INSTANCES_OF_EXECUTION = 2


class Settings(BaseModel):
    """The settings of a deployment. Names in cdk.json are in camelCase."""

    model_config = SETTINGS_CONFIG

    stage: StageName
    """The name of the stage, which is part of the names of its stacks."""

    search_in_vpc: bool = False
    """Whether to create the search domain in a network (VPC) without internet access, with the
    functions that use search. Choose it before the first deployment: AWS cannot move a domain. Its
    endpoints are charged by the hour."""

    search_vpc_range: Annotated[str, AfterValidator(check_vpc_range)] = VPC_RANGE
    """Addresses of that network, from /16 to /22. Each subnet has a sixteenth of them."""

    search_vpc_zones: tuple[ZoneName, ...] = ()
    """Names of the availability zones of that network, as many as the nodes of the domain use: one
    for one node, otherwise three. Default: the first zones of the region."""

    search_vpc_id: VpcId = ""
    """An existing VPC to use instead of creating one, with `searchSubnetIds`. Its owner provides
    the endpoints or routes to other services."""

    search_subnet_ids: tuple[SubnetId, ...] = ()
    """Subnets of `searchVpcId`, each in a different zone, as many as the nodes use."""

    processing: bool = flag_field(declared.PROCESSING)
    turntables: bool = flag_field(declared.TURNTABLES)
    readers: Literal["off", "fallback", "always"] = field_of(declared.READERS)

    events: Literal["off", "bus", "queue"] = field_of(declared.EVENTS)

    event_archive_days: Annotated[int, Field(ge=0, le=3650)] = 0
    """Days for which EventBridge archives the events of the bus, so that they can be replayed; 0:
    none. Charged by the gigabyte."""

    readers_in_vpc: bool = False
    """Whether these functions run in a network (VPC) of their own, from which they reach only the
    objects of the deployment's buckets. Without it they have internet access, as other functions of
    Lambda have. The network itself costs nothing."""

    probe: bool = False
    """Whether to create a stack with a function that reports what Lambda allows its functions."""

    executions_at_once: int = field_of(declared.EXECUTIONS_AT_ONCE)
    execution_silence_seconds: int = field_of(declared.EXECUTION_SILENCE_SECONDS)

    reconcile_minutes: Positive = 5
    """Minutes between two comparisons of executions with their state in Step Functions."""

    reserved_concurrency: Annotated[dict[str, Positive], AfterValidator(check_functions)] = {}
    """Reserved concurrency by function name, which is also the maximum of the function. Other
    functions share the rest, which must be at least 100: new accounts have 10 in total and
    cannot reserve any."""

    account_concurrency: Positive = 1000
    """The account's quota "Concurrent executions" of Lambda in the region. New accounts have ten:
    with fewer instances than twice what the queues may use, synthesis warns."""

    queue_concurrency: Annotated[int, Field(ge=LEAST_OF_QUEUE, le=10)] = 10
    """Maximum concurrent instances by queue. Above 2, which is the least that Lambda allows, all
    queues together may use half of `accountConcurrency`; the rest is for requests and streams."""

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

    user_pool_domain: PoolDomain = ""
    """The prefix of a Cognito domain, unique in its region, at which users of the pool sign in to
    the page. Without one, they cannot."""

    user_pool_providers: dict[ProviderName, SignInProvider] = {}
    """SAML and OpenID Connect providers whose users may sign in at `userPoolDomain`, by name:
    `metadataUrl`, or `issuer`, `clientId` and `clientSecret` (the name of a secret in Secrets
    Manager), and `attributes` such as `{"email": "mail"}`. Their user ids begin with the name and
    `_`."""

    user_pool_firewall: bool = False
    """Whether AWS WAF protects the user pool: it limits the requests of each address, and blocks
    addresses and requests on AWS's lists of threats. WAF is charged by month and request."""

    user_pool_requests_per_address: Annotated[int, Field(ge=10, le=2_000_000_000)] = 300
    """Maximum requests from one address in five minutes. A sign-in takes three; users behind one
    router share an address."""

    oidc_issuer: Annotated[str, AfterValidator(check_port)] = field_of(declared.OIDC_ISSUER)
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
    default_user_role: Annotated[str, AfterValidator(not_of_administrators)] = field_of(
        declared.DEFAULT_USER_ROLE
    )
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

    web_url: BrowserOrigin = field_of(declared.WEB_URL)

    page: bool = flag_field(declared.PAGE)
    api_only_through_page: bool = flag_field(declared.API_ONLY_THROUGH_PAGE)
    page_domain: DomainName = ""
    """A domain name for the page, with `pageCertificateArn`. Its DNS record is yours to create."""
    page_certificate_arn: CertificateArn = ""
    """The certificate of `pageDomain` in AWS Certificate Manager, in us-east-1."""
    page_firewall_arn: FirewallArn = ""
    """A web ACL of AWS WAF for CloudFront, in us-east-1. Metadata may hold HTML: let rules about
    request bodies count instead of block."""
    page_edge_version: SecretVersion = ""
    """The version of the secret `PageEdgeKey` that CloudFront sends. CloudFormation reads the
    secret again only if this changes (docs/guides/deploying.md)."""
    page_sign_in_origins: tuple[HttpsOrigin, ...] = ()
    """Origins of the sign-in provider's endpoints, besides that of `oidcIssuer`, which the page
    may call."""
    session_hours: int = field_of(declared.SESSION_HOURS)

    api_requests_per_second: Positive = 1000
    """Maximum requests to the API in a second; further ones return 429."""

    api_burst: Positive = 2000
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

    @property
    def allowed_pipelines(self) -> tuple[str, ...]:
        """ARNs that executions may call in addition to the functions of the product."""
        return (
            *self.allowed_pipeline_functions,
            *self.allowed_pipeline_queues,
            *self.allowed_pipeline_buses,
        )

    @property
    def concurrency_of_queues(self) -> int:
        """Maximum number of instances that all queues together start."""
        return sum(map(self.concurrency_of, self.queue_subscriptions))

    @property
    def queue_subscriptions(self) -> tuple[QueueSubscription, ...]:
        """Queues whose messages the deployment receives."""
        return tuple(s for s in QUEUE_SUBSCRIPTIONS if self.deploys(s.source))

    def deploys(self, declared: Queue | Function) -> bool:
        """Return whether the deployment has a queue or function, as far as events decide it."""
        return not declared.with_events or self.events in declared.with_events

    def deployed(self, spec: Function) -> Function:
        """Return a function without the queues that the deployment lacks."""
        sends, redrives = filter(self.deploys, spec.sends), filter(self.deploys, spec.redrives)
        return replace(spec, sends=tuple(sends), redrives=tuple(redrives))

    def web_origins(self) -> tuple[str, ...]:
        """Return the origins whose pages may write to buckets by presigned URLs."""
        # The name of the distribution is not known: it needs the API, and the API the buckets. A
        # page of another distribution has no presigned URL to use.
        page = f"https://{self.page_domain or '*.cloudfront.net'}" if self.page else ""
        return tuple(dict.fromkeys(filter(None, (self.web_url, page))))

    def sign_in_origins(self) -> tuple[str, ...]:
        """Return the origins of the sign-in providers."""
        parts = urlsplit(self.oidc_issuer)
        issuer = (f"{parts.scheme}://{parts.netloc}",) if self.oidc_issuer else ()
        pool: tuple[str, ...] = ()
        if self.user_pool_domain:
            pool = (
                f"https://cognito-idp.{Aws.REGION}.amazonaws.com",
                f"https://{self.user_pool_domain}.auth.{Aws.REGION}.amazoncognito.com",
            )
        return (*issuer, *self.page_sign_in_origins, *pool)

    def warnings(self) -> Iterator[str]:
        """Yield a sentence for each setting that works, but has disadvantages."""
        by_queues, account = self.concurrency_of_queues, self.account_concurrency
        if by_queues > account // 2:
            yield (
                f"accountConcurrency is {account}, and queues may start {by_queues} instances at "
                "once: requests are throttled (503) while queues are busy; raise the account's "
                f'quota "Concurrent executions" to at least {2 * by_queues}'
            )

    def instances_needed(self) -> dict[str, str]:
        """Return the values that bootstrap compares with the account's quota.

        They are properties of its custom resource.
        """
        reserved = sum(self.reserved_concurrency.values())
        sharing = [
            s for s in self.queue_subscriptions if s.consumer not in self.reserved_concurrency
        ]
        needed = {
            "InstancesRequired": reserved + UNRESERVED if reserved else 0,
            "InstancesAdvised": 2 * self.concurrency_of_queues,
            "UnreservedAdvised": 2 * sum(map(self.concurrency_of, sharing)),
        }
        return {name: str(value) for name, value in needed.items()}

    def concurrency_of(self, subscription: QueueSubscription) -> int:
        """Return how many instances of its consumer a queue starts at most."""
        return min(subscription.max_concurrency, self.queue_concurrency)

    def environment(self) -> dict[str, str]:
        """Return the values that functions read, by the names of their declarations."""
        half = self.account_concurrency // 2
        computed: dict[declared.Setting, object] = {
            declared.EXECUTIONS_AT_ONCE: min(
                self.executions_at_once, max(1, half // _INSTANCES_OF_EXECUTION)
            ),
            declared.OIDC_AUDIENCES: self.oidc_audiences or self.oidc_client_id,
            declared.ALLOWED_ADDRESSES: self.allowed_ip_ranges,
        }
        texts: dict[str, str] = {}
        for setting in declared.SETTINGS:
            value = (
                computed[setting] if setting in computed else getattr(self, setting.name.lower())
            )
            if isinstance(value, tuple):
                texts[setting.name] = ",".join(cast("tuple[str, ...]", value))
            else:
                texts[setting.name] = str(int(value) if isinstance(value, bool) else value)
        return texts


def described() -> Iterator[tuple[str, object, str]]:
    """Name in cdk.json, default and meaning of each optional setting."""
    for name, field in Settings.model_fields.items():
        if not field.is_required():
            yield to_camel(name), field.default, " ".join((field.description or "").split())
