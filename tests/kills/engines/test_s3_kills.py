"""versitygw killed while delete markers come and go: every key is as before or as after.

The released one removes a version and then puts the one before it in its place; what a kill leaves
there is why it is built with a patch (decision 0034). On a machine at rest about one kill in five
showed it.
"""

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from tests.integration.local.engines.support import Site

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

ENGINE = "s3"
BUCKET = "killed"
KEYS = [f"asset/d{number % 7}/{number}.stl" for number in range(120)]
KILLS = 8
MOST_SECONDS = 0.3


class Version(NamedTuple):
    id: str
    is_marker: bool
    is_latest: bool


def versions(site: Site) -> dict[str, list[Version]]:
    """The versions of each key, as listed."""
    found: dict[str, list[Version]] = {}
    for page in site.clients.s3.get_paginator("list_object_versions").paginate(Bucket=BUCKET):
        for one in page.get("Versions", []):
            result = Version(one.get("VersionId", ""), False, one.get("IsLatest", False))
            found.setdefault(one.get("Key", ""), []).append(result)
        for one in page.get("DeleteMarkers", []):
            result = Version(one.get("VersionId", ""), True, one.get("IsLatest", False))
            found.setdefault(one.get("Key", ""), []).append(result)
    return found


def left_to_hide(site: Site) -> list["ObjectIdentifierTypeDef"]:
    found = versions(site)
    return [{"Key": k} for k in KEYS if not any(v.is_latest and v.is_marker for v in found[k])]


def left_to_show(site: Site) -> list["ObjectIdentifierTypeDef"]:
    return [
        {"Key": key, "VersionId": version.id}
        for key, some in versions(site).items()
        for version in some
        if version.is_latest and version.is_marker
    ]


def delete(site: Site, wanted: list["ObjectIdentifierTypeDef"]) -> None:
    with suppress(BotoCoreError, ClientError):
        for one in range(0, len(wanted), 50):
            site.clients.s3.delete_objects(
                Bucket=BUCKET, Delete={"Objects": wanted[one : one + 50]}
            )


def kill_amid(site: Site, wanted: list["ObjectIdentifierTypeDef"], seconds: float) -> None:
    deleting = threading.Thread(target=delete, args=(site, wanted))
    deleting.start()
    time.sleep(seconds)
    site.running.kill()
    deleting.join()
    site.crash_and_restart()


def wrong(site: Site, first: dict[str, str]) -> dict[str, list[Version]]:
    """The keys that are neither hidden by one marker nor visible with their one version."""
    found = versions(site)
    bad = {key: some for key, some in found.items() if key not in first}
    for key in KEYS:
        some = found.get(key, [])
        contents = [version.id for version in some if not version.is_marker]
        if contents != [first[key]] or sum(version.is_latest for version in some) != 1:
            bad[key] = some
    return bad


def test_a_kill_leaves_every_key_as_before_or_as_after(site: Site) -> None:
    s3 = site.clients.s3
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    bodies = {key: key.encode() * 20 for key in KEYS}
    first = {
        key: s3.put_object(Bucket=BUCKET, Key=key, Body=body)["VersionId"]
        for key, body in bodies.items()
    }
    moments = random.Random(4)
    left: Callable[[Site], list[ObjectIdentifierTypeDef]]
    for number in range(KILLS):
        left = left_to_show if number % 2 else left_to_hide
        kill_amid(site, left(site), moments.uniform(0, MOST_SECONDS))
        assert wrong(site, first) == {}, f"kill {number}"
        while wanted := left(site):
            delete(site, wanted)
    assert left_to_show(site) == []
    s3 = site.clients.s3
    assert {key: s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in KEYS} == bodies
    for key, version in first.items():
        s3.delete_object(Bucket=BUCKET, Key=key, VersionId=version)
    assert versions(site) == {}
