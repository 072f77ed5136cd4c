"""Parts of the product whose engine or writer is killed: the audit log, and a late writer."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

from backend.core.paging import PageRequest
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata.service.commands import MetadataService
from tests.engines import OPTIONS
from tests.factories.assets import ADMIN
from tests.integration.audit.conftest import Place
from tests.integration.audit.test_history import STATUE, entries, followed
from tests.integration.conftest import Deployment, search_engine
from tests.integration.indexing.conftest import OwnSearch, world_of
from tests.integration.indexing.test_delivery import late_writer_is_refused

ROUNDS = 4


def test_a_writer_that_is_killed_leaves_no_write_without_entry_and_none_without_write(
    place: Place, metadata: MetadataService
) -> None:
    for _ in range(ROUNDS):
        editor = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.audit.editor"],
            env=environment_of(place),
            stdout=subprocess.PIPE,
        )
        assert editor.stdout is not None
        assert editor.stdout.readline(), "it did not begin"
        time.sleep(0.3)  # so that the kill happens at any point of an edit
        editor.kill()
        editor.wait()
        editor.stdout.close()
    result = settled(metadata.assets)
    assert len(entries(place, "update_asset")) == result.revision - 1 > 0
    made = entries(place, "update_asset_metadata")
    values = followed(place, made, "metadata.note")
    assert len(values) == len(made) + 1
    (now,) = metadata.list_metadata(ADMIN, STATUE, PageRequest(10)).items
    assert json.loads(values[-1])["value"] == now.record.metadata_value


def settled(assets: AssetService) -> Asset:
    """The asset after its editor's last request was carried out: it is unchanged for a second."""
    asset = assets.get_asset(ADMIN, "museum", "statue")
    while True:
        time.sleep(1)
        now = assets.get_asset(ADMIN, "museum", "statue")
        if now == asset:
            return now
        asset = now


def environment_of(place: Place) -> dict[str, str]:
    """The environment of a process that uses the tables and buckets of a test."""
    return {
        "PYTHONPATH": os.pathsep.join(sys.path),
        **place.settings.environment,
        "AWS_ENDPOINT_URL_DYNAMODB": place.engines.url("dynamodb"),
        "AWS_ENDPOINT_URL_S3": place.engines.url("s3"),
        "AWS_ACCESS_KEY_ID": OPTIONS.access_key,
        "AWS_SECRET_ACCESS_KEY": OPTIONS.secret_key,
        "AWS_REGION": OPTIONS.region,
        "AWS_DEFAULT_REGION": OPTIONS.region,
    }


def test_a_writer_that_comes_after_a_delete_and_a_restart_is_refused(
    deployment: Deployment, own_search: OwnSearch
) -> None:
    world = world_of(replace(deployment, engine=search_engine(own_search.url)))
    late_writer_is_refused(world, own_search.kill_and_start)
