"""Limits and rules of AWS that a deployment would only meet while it is created."""

import json
import re

import pytest

from backend.domains.jobs.service.runner import LONGEST_LEASE_SECONDS
from backend.spec.buckets import ASSET_BUCKET, BUCKETS
from backend.spec.functions import FUNCTIONS
from backend.spec.jobs import JOB_QUEUES
from backend.spec.queues import QUEUE_SUBSCRIPTIONS, QUEUES, Queue
from backend.spec.routes import LIST_SIMILAR_FILES, ROUTES
from backend.spec.secrets import SECRETS
from backend.spec.tables import TABLES
from infra.settings.contradictions import POLICY_CHARS
from tests.infra.templates import ROOT, Assembly

MOST_RESOURCES = 450  # of a stack; CloudFormation takes 500
MOST_OUTPUTS = 200  # of a stack; source: "Understand CloudFormation quotas"
INLINE_POLICY_CHARS = 10_240  # of all policies of a role, white space not counted
KEPT = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::KMS::Key")
SUSPICIOUS = {
    "an access key": r"\b(AKIA|ASIA)[A-Z0-9]{16}\b",
    "a private key": r"PRIVATE KEY",
    "a time": r"\b20\d\d-\d\d-\d\dT\d\d",
    "a folder of this machine": r'"/(home|root|tmp|Users|work)/',
    "an account": r":(?!111122223333)\d{12}:",  # except the topic of this test
}


def test_every_stack_stays_below_the_limits_of_cloudformation(hardened: Assembly) -> None:
    for template in hardened.templates.values():
        assert len(template["Resources"]) < MOST_RESOURCES
        assert len(template.get("Outputs", {})) <= MOST_OUTPUTS


def test_a_logical_id_is_used_once_in_the_whole_deployment_but_for_the_layers(
    hardened: Assembly,
) -> None:
    named = [resource.name for resource in hardened.all]
    names = [name for name in named if not name.endswith("Dependencies")]
    assert len(set(names)) == len(names)


def test_a_role_fits_into_what_iam_takes(hardened: Assembly, subtests: pytest.Subtests) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            role = hardened.resource(f"{spec.name}Role")
            length = sum(
                len("".join(actions)) + sum(map(_most_arn_chars, resources)) + 60
                for actions, resources in hardened.statements(role)
            )
            more = POLICY_CHARS if ASSET_BUCKET in spec.buckets else 0
            assert length + more < INLINE_POLICY_CHARS


def _most_arn_chars(resource: str) -> int:
    """An upper bound for an ARN: physical names have the stack, the logical id and 13 more."""
    return len(resource) + len("arn:aws-us-gov:secretsmanager:us-gov-west-1:111122223333:") + 40


def test_whatever_holds_data_outlives_its_stack(prod: Assembly) -> None:
    kept = [resource for resource in prod.all if resource.type in KEPT]
    assert len(kept) == len(TABLES) + len(BUCKETS) + len(SECRETS) + 1
    for resource in kept:
        assert resource.body["DeletionPolicy"] == "RetainExceptOnCreate", resource.name
        assert resource.body["UpdateReplacePolicy"] == "Retain", resource.name


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.name)
def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run_one_of_a_job_twice(
    prod: Assembly, queue: Queue
) -> None:
    properties = prod.resource(queue.name).properties
    consumers = {s.consumer for s in QUEUE_SUBSCRIPTIONS if s.source is queue}
    longest = max(spec.timeout_seconds for spec in FUNCTIONS if spec.name in consumers)
    hidden = properties["VisibilityTimeout"]
    if queue in JOB_QUEUES:
        assert hidden == 2 * longest == LONGEST_LEASE_SECONDS
    else:
        assert hidden == 6 * longest
    tried_seconds = properties["RedrivePolicy"]["maxReceiveCount"] * hidden
    assert tried_seconds <= properties["MessageRetentionPeriod"] / 2


def test_a_function_that_may_loop_sends_to_a_queue_that_it_receives(
    subtests: pytest.Subtests,
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            received = {s.source for s in QUEUE_SUBSCRIPTIONS if s.consumer == spec.name}
            assert spec.loops <= bool(received & set(spec.sends))


def test_only_tables_with_indexes_are_queried_by_index(subtests: pytest.Subtests) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            without = [table for table in spec.tables if not table.indexes]
            assert not [table.name for table in without if "QueryIndexes" in spec.uses[table]]


@pytest.mark.parametrize("what", sorted(SUSPICIOUS))
def test_no_template_holds(prod: Assembly, what: str) -> None:
    for path in prod.folder.glob("*.json"):
        assert re.search(SUSPICIOUS[what], path.read_text()) is None, path.name


def test_nothing_reads_the_callers_address_from_a_header(prod: Assembly) -> None:
    """Any client may send such a header: only the gateway's own `sourceIp` counts."""
    folders = (ROOT / "backend", ROOT / "infra")
    sources = [path.read_text() for folder in folders for path in folder.rglob("*.py")]
    header = re.compile("x-forwarded-for|x-real-ip|forwardedipconfig|client-ip", re.IGNORECASE)
    for text in (json.dumps(prod.templates), *sources):
        assert header.search(text) is None


def test_a_route_that_costs_or_needs_no_credentials_is_in_a_group(
    subtests: pytest.Subtests,
) -> None:
    for route in ROUTES:
        with subtests.test(route.key):
            groups = {"search": "search", "exports": "export"}
            expected = "public" if route.public else groups.get(route.domain)
            if route is LIST_SIMILAR_FILES:
                expected = "search"
            assert route.throttle == (expected or route.throttle)
            assert (expected is None) == (route.throttle in {None, "signIn"})
    signing_in = {route.path for route in ROUTES if route.throttle == "signIn"}
    assert signing_in == {"/auth/routes", "/auth/loginProfile/{userId}"}
