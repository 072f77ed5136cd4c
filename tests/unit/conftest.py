"""Unit tests have no network; AWS is moto, in the same process."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from moto import mock_aws
from moto.core.base_backend import BackendDict
from moto.core.model_instances import reset_model_data
from moto.s3.models import s3_backends

from backend.aws.clients import dynamodb, s3, sqs
from backend.aws.objects import S3Objects
from backend.aws.queues import SqsQueues
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.audit.service.commands import AuditService
from backend.spec.buckets import (
    ASSET_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
    AUXILIARY_BUCKET,
    FAILURE_BUCKET,
)
from backend.spec.queues import QUEUES
from backend.spec.tables import TABLES
from backend.spec.tables.model import Table
from backend.spec.topics import TOPICS, Topic
from tests.factories.audit import audit_service
from tests.factories.tables import create_table_request
from tests.fakes.moto_listing import mend_key_markers
from tests.fakes.tables import MemoryTables

# The machine may be busy, so the time of an example has no meaning. Every run tries the same
# examples, so that a change fails by its own fault only; `make prove` draws new ones.
hypothesis_settings.register_profile(
    "vitrine",
    deadline=None,
    derandomize=not os.environ.keys() & {"MODEL_HISTORIES", "POLICIES"},
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("vitrine")

REGION = "us-east-1"
ACCOUNT = "123456789012"
BUCKETS = {
    b.name: b.name.lower()
    for b in (ASSET_BUCKET, AUXILIARY_BUCKET, FAILURE_BUCKET, AUDIT_ARCHIVE_BUCKET)
}


def topic_arn(topic: Topic) -> str:
    """The ARN that a topic of the test's name has in moto."""
    return f"arn:aws:sns:{REGION}:{ACCOUNT}:test-{topic.name}"


@pytest.fixture(scope="session")
def moto() -> Iterator[None]:
    """Every request to AWS goes to moto. Starting it takes longer than most tests."""
    with mock_aws():
        yield


@pytest.fixture(autouse=True)
def aws_in_process(moto: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty AWS for each test. Clients are kept: creating one takes longer than most tests."""
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    yield
    BackendDict.reset()
    reset_model_data()


@pytest.fixture
def settings() -> Settings:
    """Physical names for everything that is declared."""
    environment = {f"TABLE_{table.name}": f"test-{table.name}" for table in TABLES}
    environment |= {f"BUCKET_{name}": physical for name, physical in BUCKETS.items()}
    environment |= {f"QUEUE_{queue.name}": f"test-{queue.name}" for queue in QUEUES}
    environment |= {f"TOPIC_{topic.name}": topic_arn(topic) for topic in TOPICS}
    return Settings(environment | {"AWS_REGION": REGION})


@pytest.fixture
def dynamo_tables(settings: Settings) -> DynamoTables:
    """All declared tables in moto, empty; each is created when it is first used."""
    client = dynamodb()
    created: set[str] = set()

    class TablesOnFirstUse(Settings):
        def table(self, table: Table) -> str:
            name = settings.table(table)
            if name not in created:
                created.add(name)
                client.create_table(**create_table_request(table, name))
            return name

    return DynamoTables(client, TablesOnFirstUse(settings.environment))


@pytest.fixture
def tables(request: pytest.FixtureRequest) -> Tables:
    """All declared tables, empty.

    In memory, which passes the same contract suite as DynamoDB and takes a fifth of moto's time.
    `TABLES=moto` runs the same tests through botocore and moto (`make prove PART=moto`). A module
    that counts requests or patches `DynamoTables` overrides this fixture with `dynamo_tables`.
    """
    if os.environ.get("TABLES") == "moto":
        return request.getfixturevalue("dynamo_tables")
    return MemoryTables()


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> S3Objects:
    """The asset (versioned), auxiliary, failure and audit archive buckets, empty."""
    mend_key_markers(monkeypatch)
    # Created in moto itself: five requests would take longer than most tests.
    backend = s3_backends[ACCOUNT]["aws"]
    for physical in BUCKETS.values():
        backend.create_bucket(physical, REGION)
    backend.put_bucket_versioning(BUCKETS[ASSET_BUCKET.name], "Enabled")
    return S3Objects(s3())


@pytest.fixture
def audit() -> AuditService:
    """The service that creates entries; large values need the buckets of `objects`."""
    return audit_service(S3Objects(s3()))


@pytest.fixture
def queues() -> SqsQueues:
    """All declared queues, empty."""
    client = sqs()
    urls = {
        f"QUEUE_{queue.name}": client.create_queue(QueueName=queue.name)["QueueUrl"]
        for queue in QUEUES
    }
    return SqsQueues(client, Settings(urls))


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def admin() -> Identity:
    return Identity("admin")


@pytest.fixture
def stranger() -> Identity:
    return Identity("stranger")
