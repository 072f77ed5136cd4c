"""The OpenSearch domain. It is not retained: its content can be rebuilt from tables and buckets."""

from typing import cast

from aws_cdk import Fn, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_opensearchservice as opensearch
from constructs import Construct

from backend.spec.functions import FUNCTIONS
from backend.spec.search_indexes import MAX_CLAUSES
from infra.constructs.logs import log_group
from infra.constructs.naming import name_exactly, output
from infra.constructs.network import Network, Plan, declared_network, imported_network
from infra.constructs.updates import export
from infra.resources import Resources
from infra.settings import Settings
from infra.settings.network import subnet_ranges, zones_of

LOGS = {
    "ES_APPLICATION_LOGS": "SearchErrorLogs",
    "SEARCH_SLOW_LOGS": "SlowSearchLogs",
    "INDEX_SLOW_LOGS": "SlowWriteLogs",
}
"""Log groups by the type of the domain's logs. The indexes declare the thresholds of slow logs."""

# Free part of a node's volume below which an alarm is raised. A reindex needs space for a second
# copy of the documents.
FREE_STORAGE = 0.25

SERVER_ERRORS = 5
"""Server errors in five minutes above which an alarm is raised."""

# Source: OpenSearch Service Developer Guide, "Recommended CloudWatch alarms".
LOAD = (
    ("Yellow", "ClusterStatus.yellow", 0, 12, "has lacked copies of an index for an hour"),
    ("Memory", "JVMMemoryPressure", 95, 1, "lacks memory: choose larger nodes"),
    ("Processor", "CPUUtilization", 80, 3, "lacks processor time: choose larger nodes"),
    ("Snapshots", "AutomatedSnapshotFailure", 0, 1, "took no snapshot"),
)
"""States that precede failures: name, metric, threshold, periods of five minutes, description."""


class SearchStack(Stack):
    """A provisioned domain, for signed requests of this account whose own policies allow them."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, resources: Resources
    ) -> None:
        super().__init__(scope, name, description="Vitrine: the OpenSearch domain")
        domain = self._domain(settings, resources)
        resource = domain.node.default_child
        if not isinstance(resource, opensearch.CfnDomain):
            raise TypeError(f"{domain.node.path} is not a domain")
        self._close(resource)
        if settings.search_in_vpc:
            resources.network = self._place(resource, settings, resources)
        if settings.search_logs:
            self._log(resource, settings, resources)
        self._watch(domain, settings, resources)
        resources.domain = domain
        export(self, domain.domain_arn, domain.domain_endpoint)
        if resources.network is not None:
            made = () if settings.search_vpc_id else resources.network.subnets
            export(self, resources.network.functions_group, *made)
        output(self, "SearchEndpoint", domain.domain_endpoint, "The host of the search service")

    def _domain(self, settings: Settings, resources: Resources) -> opensearch.Domain:
        zones = zones_of(settings.search_instance_count)
        domain = opensearch.Domain(
            self,
            "SearchDomain",
            version=opensearch.EngineVersion.OPENSEARCH_3_7,
            capacity=opensearch.CapacityConfig(
                data_nodes=settings.search_instance_count,
                data_node_instance_type=settings.search_instance_type,
                multi_az_with_standby_enabled=False,
            ),
            zone_awareness=opensearch.ZoneAwarenessConfig(
                enabled=zones > 1,
                availability_zone_count=zones if zones > 1 else None,
            ),
            ebs=opensearch.EbsOptions(
                volume_size=settings.search_volume_gb,
                volume_type=ec2.EbsDeviceVolumeType.GP3,
            ),
            enforce_https=True,
            node_to_node_encryption=True,
            encryption_at_rest=opensearch.EncryptionAtRestOptions(
                enabled=True, kms_key=resources.key
            ),
            tls_security_policy=opensearch.TLSSecurityPolicy.TLS_1_2_PFS,
            # Bootstrap sets the circuit breakers: a domain accepts them by its own API only.
            advanced_options={"indices.query.bool.max_clause_count": str(MAX_CLAUSES)},
            removal_policy=RemovalPolicy.DESTROY,
            # Without it, a new version would replace the domain by an empty one with another name,
            # and CloudFormation would refuse the change of an export that other stacks use.
            enable_version_upgrade=True,
        )
        name_exactly(domain, "SearchDomain")
        return domain

    def _place(
        self, resource: opensearch.CfnDomain, settings: Settings, resources: Resources
    ) -> Network:
        """Put the domain into a network, where only functions that use search reach it."""
        if settings.search_vpc_id:
            network = imported_network(self, settings.search_vpc_id, settings.search_subnet_ids)
        else:
            zones = zones_of(settings.search_instance_count)
            ranges = tuple(subnet_ranges(settings.search_vpc_range)[:zones])
            days, key = settings.log_retention_days, resources.key
            network = declared_network(
                self,
                Plan(settings.search_vpc_range, ranges, settings.search_vpc_zones),
                functions=FUNCTIONS,
                refusals=log_group(self, "SearchNetworkRefusals", days=days, key=key),
            )
        resource.vpc_options = opensearch.CfnDomain.VPCOptionsProperty(
            subnet_ids=list(network.subnets), security_group_ids=[network.services_group]
        )
        return network

    def _log(
        self, resource: opensearch.CfnDomain, settings: Settings, resources: Resources
    ) -> None:
        """Log errors, slow searches and slow writes, each to a separate log group."""
        groups = {
            kind: log_group(self, name, days=settings.log_retention_days, key=resources.key)
            for kind, name in LOGS.items()
        }
        service = cast("iam.IPrincipal", iam.ServicePrincipal("es.amazonaws.com"))
        policy = logs.ResourcePolicy(
            self,
            "SearchLogsPolicy",
            policy_statements=[
                iam.PolicyStatement(
                    principals=[service],
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                    resources=[group.log_group_arn for group in groups.values()],
                    conditions={"StringEquals": {"aws:SourceAccount": self.account}},
                )
            ],
        )
        name_exactly(policy, "SearchLogsPolicy")
        resource.log_publishing_options = {
            kind: opensearch.CfnDomain.LogPublishingOptionProperty(
                cloud_watch_logs_log_group_arn=group.log_group_arn, enabled=True
            )
            for kind, group in groups.items()
        }
        # OpenSearch Service checks its permission to write when logs are enabled.
        resource.node.add_dependency(policy)

    def _close(self, resource: opensearch.CfnDomain) -> None:
        """Allow only principals of this account.

        Other accounts and unsigned requests are denied.
        """
        # The property itself: the construct sets a policy by a custom resource, because a policy
        # may contain the domain's ARN. This one does not contain it, because it applies to its own
        # domain only.
        resource.access_policies = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"AWS": f"arn:{self.partition}:iam::{self.account}:root"},
                    "Action": "es:ESHttp*",
                    "Resource": "*",
                }
            ],
        }

    def _watch(self, domain: opensearch.Domain, settings: Settings, resources: Resources) -> None:
        """Create the alarms that AWS recommends for a domain, before searches or writes fail."""
        alarms = resources.alarms
        name = Fn.select(1, Fn.split("/", domain.domain_arn))
        watched = {"DomainName": name, "ClientId": self.account}
        for what, metric, description in (
            ("Red", domain.metric_cluster_status_red(), "has lost a part of an index: reindex"),
            (
                "WritesBlocked",
                domain.metric_cluster_index_writes_blocked(),
                "takes no writes: it lacks storage or memory",
            ),
            (
                "Key",
                domain.metric_kms_key_inaccessible(),
                "cannot use its key: allow that, or it is lost",
            ),
        ):
            alarms.above(
                f"Search{what}Alarm",
                metric.with_(dimensions_map=watched),
                threshold=0,
                description=f"The search domain {description}",
            )
        alarms.below(
            "SearchStorageAlarm",
            domain.metric_free_storage_space().with_(dimensions_map=watched),
            threshold=settings.search_volume_gb * 1024 * FREE_STORAGE,
            description="A node of the search domain has little storage left: raise its volume",
        )
        for what, metric, threshold, periods, description in LOAD:
            alarms.above(
                f"Search{what}Alarm",
                domain.metric(metric, dimensions_map=watched),
                threshold=threshold,
                description=f"The search domain {description}",
                periods=periods,
            )
        for what in ("Write", "Search"):
            # Counted since a node started.
            rejected = domain.metric(f"Threadpool{what}Rejected", dimensions_map=watched)
            alarms.positive(
                f"Search{what}RejectedAlarm",
                "DIFF(rejected)",
                metrics={"rejected": cast("cloudwatch.IMetric", rejected)},
                description=f"The search domain rejected requests: too many at once ({what})",
            )
        alarms.above(
            "SearchServerErrorsAlarm",
            domain.metric("5xx", dimensions_map=watched),
            statistic="Sum",
            threshold=SERVER_ERRORS,
            description="The search domain answered with more than a few server errors",
        )
