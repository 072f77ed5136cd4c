"""A DynamoDB table as declared: exact keys, indexes, projections, stream, TTL."""

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from backend.spec.tables.model import Index, KeyAttribute, Table
from infra.constructs.naming import name_exactly
from infra.constructs.updates import RETAINED

# `Table` and not `TableV2`: the latter cannot render a customer-managed key in a stack that is not
# bound to a region.

_TYPES = {
    "S": dynamodb.AttributeType.STRING,
    "N": dynamodb.AttributeType.NUMBER,
    "B": dynamodb.AttributeType.BINARY,
}
_PROJECTIONS = {
    "ALL": dynamodb.ProjectionType.ALL,
    "KEYS_ONLY": dynamodb.ProjectionType.KEYS_ONLY,
}
_STREAMS = {
    "NEW_IMAGE": dynamodb.StreamViewType.NEW_IMAGE,
    "NEW_AND_OLD_IMAGES": dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
}


def declared_table(scope: Construct, spec: Table, *, key: kms.IKey | None) -> dynamodb.Table:
    """Return the table, which is retained and protected from deletion.

    It is encrypted by `key` if there is one.
    """
    table = dynamodb.Table(
        scope,
        spec.name,
        partition_key=_attribute(spec.partition_key),
        sort_key=_attribute(spec.sort_key) if spec.sort_key else None,
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        deletion_protection=True,
        removal_policy=RETAINED,
        stream=_STREAMS[spec.stream] if spec.stream else None,
        time_to_live_attribute=spec.ttl,
        encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED if key else None,
        encryption_key=key,
    )
    for index in spec.indexes:
        _add_index(table, index)
    name_exactly(table, spec.name)
    return table


def _add_index(table: dynamodb.Table, index: Index) -> None:
    projection = _PROJECTIONS[index.projection]
    sort_key = _attribute(index.sort_key) if index.sort_key else None
    if index.partition_key is not None:
        table.add_global_secondary_index(
            index_name=index.name,
            partition_key=_attribute(index.partition_key),
            sort_key=sort_key,
            projection_type=projection,
        )
    elif sort_key is not None:
        table.add_local_secondary_index(
            index_name=index.name, sort_key=sort_key, projection_type=projection
        )
    else:
        raise ValueError(f"the index {index.name} has no key")


def _attribute(key: KeyAttribute) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=key.name, type=_TYPES[key.type])
