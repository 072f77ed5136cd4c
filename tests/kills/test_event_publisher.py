"""Events of changes, while the process that hands them over and publishes them is killed."""

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backend.core.ids import new_uuid
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.assets.service.commands import AssetService
from backend.spec.queues import EVENT_FEED, OUTGOING_EVENTS
from tests.amounts import amount
from tests.factories.assets import ADMIN
from tests.integration.audit.conftest import Place
from tests.integration.audit.publisher import POSITION, audit_stream, rounds
from tests.kills.test_audit_writer import environment_of

EDITS = 12
"""Changes before each kill, which take a worker more than one batch."""
# Messages of a killed worker are hidden for two seconds.
QUIET_SECONDS = 5


def test_a_publisher_that_is_killed_loses_no_event_and_leaves_no_gap(
    place: Place, assets: AssetService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs, name = place.engines.sqs, new_uuid()[:8]
    environment = environment_of(place) | {
        f"QUEUE_{queue.name}": sqs.create_queue(QueueName=f"{name}-{queue.name}")["QueueUrl"]
        for queue in (OUTGOING_EVENTS, EVENT_FEED)
    }
    environment |= {
        "AWS_ENDPOINT_URL_SQS": place.engines.url("queues"),
        "SETTING_EVENTS": "queue",
        POSITION: str(tmp_path / "position"),
    }
    # Other tests have changed the same asset.
    earlier = len(audit_stream(environment).take())
    Path(environment[POSITION]).write_text(str(earlier), encoding="utf-8")
    kills = amount("EVENT_KILLS")
    for kill in range(kills):
        for edit in range(EDITS):
            body = UpdateAssetBody(description=f"edit {kill}.{edit}")
            assets.update_asset(ADMIN, "museum", "statue", body)
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.audit.publisher"],
            env=environment,
            stdout=subprocess.PIPE,
        )
        assert worker.stdout is not None
        assert worker.stdout.readline(), "it did not begin"
        time.sleep(0.013 * (kill % 20))  # so that the kills happen at any point of a round
        worker.kill()
        worker.wait()
        worker.stdout.close()
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    quiet_since = time.monotonic()
    for had_work in rounds():
        quiet_since = time.monotonic() if had_work else quiet_since
        if time.monotonic() - quiet_since > QUIET_SECONDS:
            break
        time.sleep(0 if had_work else 0.2)
    numbers: dict[str, set[int]] = {}
    while messages := sqs.receive_message(
        QueueUrl=environment[f"QUEUE_{EVENT_FEED.name}"], MaxNumberOfMessages=10
    ).get("Messages"):
        for message in messages:
            detail = json.loads(message.get("Body", ""))["detail"]
            numbers.setdefault(detail["id"], set()).add(detail["number"])
    assert all(len(of_event) == 1 for of_event in numbers.values())
    drawn = sorted(itertools.chain(*numbers.values()))
    assert drawn == list(range(1, len(drawn) + 1))
    assert len(drawn) == kills * EDITS
