"""The table of MLflow's tracking store, as the store's package declares it, and its archive."""

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct
from vitrine_mlflow import table as declared

from backend.spec.buckets import ARTEFACTS_BUCKET
from backend.spec.key_layouts import TRACKING_PREFIX
from infra.constructs.naming import name_exactly, output
from infra.constructs.tracking_archive import add_archiver
from infra.constructs.updates import RETAINED
from infra.resources import Resources
from infra.settings import Settings

TABLE = "TrackingTable"


class TrackingStack(Stack):
    """Retained and protected from deletion, like the tables of the product."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, resources: Resources
    ) -> None:
        super().__init__(
            scope,
            name,
            description=f"Vitrine {settings.stage}: the table of MLflow's tracking store",
            termination_protection=True,
        )
        key = resources.key
        table = dynamodb.Table(
            self,
            TABLE,
            partition_key=_text(declared.PARTITION_KEY),
            sort_key=_text(declared.SORT_KEY),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=True,
            removal_policy=RETAINED,
            time_to_live_attribute=declared.EXPIRES_AT,
            stream=dynamodb.StreamViewType.OLD_IMAGE,
            encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED if key else None,
            encryption_key=key,
        )
        _add_indexes(table)
        name_exactly(table, TABLE)
        add_archiver(self, table, settings, resources)
        output(self, "TrackingTableName", table.table_name, "The table of MLflow's tracking store")
        bucket = resources.buckets[ARTEFACTS_BUCKET.name].bucket_name
        destination = f"s3://{bucket}/{TRACKING_PREFIX.removesuffix('/')}"
        output(self, "TrackingArtifacts", destination, "Where MLflow's server puts artifacts")


def _add_indexes(table: dynamodb.Table) -> None:
    for index in declared.GLOBAL_INDEXES:
        table.add_global_secondary_index(
            index_name=index.name,
            partition_key=_text(index.pk),
            sort_key=_text(index.sk),
            projection_type=_projection(index),
            non_key_attributes=list(index.projected) or None,
        )
    for index in declared.LOCAL_INDEXES:
        table.add_local_secondary_index(
            index_name=index.name,
            sort_key=_text(index.sk),
            projection_type=_projection(index),
            non_key_attributes=list(index.projected) or None,
        )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _projection(index: declared.Index) -> dynamodb.ProjectionType:
    return dynamodb.ProjectionType.INCLUDE if index.projected else dynamodb.ProjectionType.KEYS_ONLY
