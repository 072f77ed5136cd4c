"""No log contains a key, a token or a presigned URL, wherever a client puts one."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.factories.identity_provider import encoded
from tests.journeys.canaries import found_in, leaks, plant, planted, secrets_of
from tests.journeys.runtime import Api, Runtime

KEY = "vams_" + "canary-" * 8
TOKEN = ".".join([encoded({"alg": "RS256", "kid": "c"}), encoded({"sub": "canary"}), "c2ln" * 8])
SIGNED = "https://bucket.example/key?X-Amz-Signature=" + "ca" * 32
SECRETS = {"key": KEY, "token": TOKEN, "url": SIGNED}


@pytest.mark.parametrize("name", SECRETS)
def test_a_log_with_a_secret_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "functions").mkdir()
    log = tmp_path / "functions" / "Api.log"
    log.write_text(f'quiet\n{{"message": "{SECRETS[name]}"}}\n')
    assert len(leaks(tmp_path, [])) == 1
    log.write_text("quiet\n")
    assert leaks(tmp_path, []) == []


def test_a_secret_of_no_known_form_is_found(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "runner.log").write_text("the pepper is " + "p" * 32)
    assert leaks(tmp_path, []) == []
    assert leaks(tmp_path, ["p" * 32]) == ["runner.log:1: pppppppppppp…"]


def test_a_part_of_a_reply_in_a_log_is_found(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    # of this test only; those of other tests of the process are found, too
    signature = uuid4().hex * 2
    (tmp_path / "functions" / "Api.log").write_text(f"signed with {signature}")
    assert leaks(tmp_path, []) == []
    plant(f"https://bucket.example/key?X-Amz-Signature={signature}&x=1")
    assert leaks(tmp_path, []) == [f"Api.log:1: {signature[:12]}…"]


def test_secrets_sent_in_odd_places_are_in_no_log(runtime: Runtime, database: str) -> None:
    """The rest of the suite's secrets are searched for when it has ended."""
    api = runtime.client()
    for secret in SECRETS.values():
        plant(secret)
        _send_everywhere(runtime, api, database, secret)
    asset = api.new_asset(database, "with a file")
    api.upload(database, asset, {"/a.txt": [b"text"]})
    path = f"/database/{database}/assets/{asset}"
    api.ok("POST", f"{path}/download", {"downloadType": "assetFile", "key": "/a.txt"})
    signatures = {each for each in planted if re.fullmatch("[0-9a-f]{64}", each)}
    assert len(signatures) > 1, "those of the upload are not planted"
    secrets = secrets_of(runtime.state)
    assert len(secrets) >= 3
    assert leaks(runtime.state / "logs", secrets) == []
    runtime.drain()
    trail = api.send("GET", "/audit", params={"entity": f"asset:{database}:{asset}"}).text
    assert asset in trail
    assert found_in(trail) == set()


def _send_everywhere(runtime: Runtime, api: Api, database: str, secret: str) -> None:
    for header in (secret, f"Bearer {secret}", f"Basic {secret}", f"{secret},{secret}"):
        assert runtime.client(header).refused("GET", "/database")[0] == 403
    body: dict[str, Any] = {"databaseId": secret, "description": secret, secret: secret}
    for path in ("/database", "/assets", "/auth/api-keys", "/uploads", "/search", "/tags"):
        api.send("POST", path, {**body, "assetName": {"secret": secret}})
        api.send("GET", path, params={"startingToken": secret, "maxItems": secret})
    api.send("POST", "/database", content=secret, headers={"Content-Type": "application/json"})
    api.send("GET", f"/database/{database}", headers={"If-Match": secret, "Cookie": secret})
