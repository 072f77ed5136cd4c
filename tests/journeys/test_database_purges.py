"""A purged database: no table, bucket or index contains any of its data except the audit log."""

import json
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote
from uuid import uuid4

import boto3
import httpx
import pytest
from botocore.config import Config

from local.engines import Options
from tests.journeys.runtime import Api, Runtime, noise, wait_until

RECORD = {"metadataKey": "maker", "metadataValue": "Boulton", "metadataValueType": "string"}
FIELDS = {"fields": [{"metadataFieldKeyName": "maker", "metadataFieldValueType": "string"}]}
CONFIRMED = {"confirmPermanentDelete": True}
TRAIL = ("Audit", "AuditArchiveBucket", "AccessLogsBucket", "AssetHistoryStorageTable")
"""The places of the audit log, of access logs and of the histories of assets."""


def client_of(runtime: Runtime, service: str) -> Any:
    """Another program's client, directly at an engine."""
    options = Options()
    return cast("Any", boto3).client(
        service,
        endpoint_url=runtime.endpoint[service],
        region_name=options.region,
        **runtime.keys,
        config=Config(signature_version="s3v4") if service == "s3" else None,
    )


def rows(runtime: Runtime, words: set[str]) -> dict[str, list[str]]:
    """By table the rows that hold one of the words anywhere."""
    dynamodb = client_of(runtime, "dynamodb")
    result: dict[str, list[str]] = {}
    names = [
        n for page in dynamodb.get_paginator("list_tables").paginate() for n in page["TableNames"]
    ]
    assert len(names) > 20
    for name in names:
        for page in dynamodb.get_paginator("scan").paginate(TableName=name):
            texts = (json.dumps(item, default=str, ensure_ascii=False) for item in page["Items"])
            for text in texts:
                # The counter of an asset's versions expires later: a late worker may hold a number.
                if '"Versions#' in text and '"expiresAt"' in text:
                    continue
                if any(word in text for word in words):
                    result.setdefault(name, []).append(text)
    return result


def objects(runtime: Runtime, words: set[str]) -> Iterator[str]:
    """Versions, markers and multipart uploads of all buckets whose key holds one of the words."""
    s3 = client_of(runtime, "s3")
    for bucket in (item["Name"] for item in s3.list_buckets()["Buckets"]):
        pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket)
        keys = [
            item["Key"]
            for page in pages
            for kind in ("Versions", "DeleteMarkers")
            for item in page.get(kind, [])
        ]
        keys += [item["Key"] for item in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
        keys += [
            item["Key"] for item in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
        ]
        yield from (f"{bucket}/{key}" for key in keys if any(word in key for word in words))


def documents(runtime: Runtime, database: str) -> list[dict[str, Any]]:
    """Documents of both indexes, including archived ones.

    Tombstones contain ids only, for a day.
    """
    url = f"{runtime.endpoint['opensearch']}/assets-*,files-*/_search"
    query = {"size": 1000, "query": {"term": {"str_databaseid.keyword": database}}}
    httpx.post(url.replace("_search", "_refresh"), timeout=30).raise_for_status()
    hits = httpx.post(url, json=query, timeout=30).json()["hits"]["hits"]
    return [hit["_source"] for hit in hits if not hit["_source"].get("deleted")]


def furnished(api: Api, s3: Any, database: str, neighbour: str) -> list[str]:
    """Create two archived assets with everything that an asset can have; return their ids."""
    bucket = api.own_bucket()["bucketName"]
    (auxiliary,) = (b["Name"] for b in s3.list_buckets()["Buckets"] if "auxiliary" in b["Name"])
    other = api.new_asset(neighbour, "Other", assetId=f"other-{uuid4().hex[:8]}")
    api.ok("POST", f"/database/{database}/metadata", {"metadata": [RECORD]})
    schema = {"databaseId": database, "metadataSchemaEntityType": "assetMetadata"}
    api.ok("POST", "/metadataschema", {**schema, "schemaName": "Makers", "fields": FIELDS})
    assets = [f"lion-{uuid4().hex[:8]}", f"Löwe 1+1 {uuid4().hex[:8]}"]
    for asset in assets:
        path = f"/database/{database}/assets/{quote(asset)}"
        api.new_asset(database, "Lion", assetId=asset)
        for turn in ("one", "two"):
            api.upload(
                database, asset, {"/a b.stl": [noise(20, turn)], "/d/ä.stl": [noise(9, turn)]}
            )
        api.ok("POST", f"{path}/metadata", {"metadata": [RECORD]})
        on_file = {"filePath": "/a b.stl", "type": "attribute", "metadata": [RECORD]}
        api.ok("POST", f"{path}/metadata/file", on_file)
        api.ok("POST", f"{path}/createVersion", {"comment": "as it is", "useLatestFiles": True})
        comment = f"/comments/assets/{quote(asset)}/assetVersionId:commentId/1:{uuid4().hex}"
        api.ok("POST", comment, {"commentBody": "Nice"})
        ends = {"fromAssetDatabaseId": database, "fromAssetId": asset}
        ends |= {"toAssetDatabaseId": neighbour, "toAssetId": other}
        api.ok("POST", "/asset-links", {**ends, "relationshipType": "related"})
        s3.put_object(Bucket=auxiliary, Key=f"{asset}/octree/1.bin", Body=b"x")
        s3.put_object(Bucket=bucket, Key=f"previews/{asset}/front.png", Body=b"x")
        begun = {"assetId": asset, "databaseId": database, "uploadType": "assetFile"}
        files = [{"relativeKey": "/never.stl", "num_parts": 1, "file_size": 10}]
        api.ok("POST", "/uploads", {**begun, "files": files})
        api.completed("DELETE", f"{path}/archiveFile", {"filePath": "/d/ä.stl"})
        api.ok("DELETE", f"{path}/archiveAsset", {"confirmArchive": True})
    return assets


def defined(api: Api, database: str) -> None:
    """A pipeline and a workflow, without whose deletion the database cannot be deleted."""
    settings = {"pipelineType": "standardFile", "pipelineExecutionType": "Lambda"}
    pipeline = {"pipelineId": "look-closer", "databaseId": database, "lambdaName": "Inspect"}
    described = {"description": "Looks at models", "assetType": ".glb", "outputType": ""}
    api.ok("PUT", "/pipelines", {**settings, **pipeline, **described})
    used = {"functions": [{"name": "look-closer", "databaseId": database}]}
    workflow = {"workflowId": "look", "databaseId": database, "description": "Looks"}
    api.ok("PUT", "/workflows", {**workflow, "specifiedPipelines": used})
    path = f"/database/{database}"
    for kind in ("workflows/look", "pipelines/look-closer"):
        status, body = api.refused("DELETE", path)
        assert (status, body["code"]) == (409, "DatabaseHoldsDefinitions")
        api.ok("DELETE", f"{path}/{kind}")


def without_trail(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: texts for name, texts in found.items() if not name.endswith(TRAIL)}


def test_nothing_of_a_purged_database_is_left_but_audit_and_histories(
    runtime: Runtime, api: Api, database: str
) -> None:
    neighbour = api.new_database(f"db-{uuid4().hex[:12]}")
    s3 = client_of(runtime, "s3")
    assets = furnished(api, s3, database, neighbour)
    defined(api, database)
    path, words = f"/database/{database}", {database, *assets}
    runtime.drain()
    status, body = api.refused("DELETE", f"{path}?purge=true", CONFIRMED)
    assert (status, body["code"]) == (409, "DatabaseActive")
    api.ok("DELETE", path)
    listed = api.ok("GET", f"{path}/assets?showArchived=true")["Items"]
    assert sorted(item["assetId"] for item in listed) == sorted(assets)
    assert len(documents(runtime, database)) >= len(assets)
    assert len(without_trail(rows(runtime, words))) > 10

    status, body = api.refused("DELETE", f"{path}?purge=true", {})
    assert (status, body["errors"][0]["field"]) == (400, "confirmPermanentDelete")
    job_id = api.ok("DELETE", f"{path}?purge=true", CONFIRMED)["jobId"]
    status, body = api.refused("DELETE", f"{path}?purge=true", CONFIRMED)
    assert (status, body["code"]) in {(409, "DatabasePurging"), (404, "DatabaseNotFound")}
    wait_until(lambda: api.ok("GET", f"/jobs/{quote(job_id)}")["state"] == "done", seconds=240)
    runtime.drain()

    left = without_trail(rows(runtime, words))
    own = [text for texts in left.values() for text in texts if job_id not in text]
    # Rules may still mention the name: the record reserves it for administrators.
    assert [text for text in own if f"DeletedName#databaseId#{database}" not in text] == []
    kept = [key for key in objects(runtime, words) if not key.startswith("auditarchive")]
    assert [key for key in kept if not any(word in key.partition("/")[0] for word in TRAIL)] == []
    assert documents(runtime, database) == []
    entries = api.ok("GET", "/audit", params={"entity": f"database:{database}"})["Items"]
    assert "purge_database" in {entry["operation"] for entry in entries}
    assert api.new_database(database) == database


def test_the_id_of_a_database_is_taken_while_it_is_purged(
    runtime: Runtime, api: Api, database: str
) -> None:
    asset = api.new_asset(database, "Lion")
    archive = f"/database/{database}/assets/{asset}/archiveAsset"
    api.ok("DELETE", archive, {"confirmArchive": True})
    api.ok("DELETE", f"/database/{database}")
    job_id = api.ok("DELETE", f"/database/{database}?purge=true", CONFIRMED)["jobId"]
    bucket = api.own_bucket()["bucketId"]
    made = {"databaseId": database, "description": "again", "defaultBucketId": bucket}
    status, body = api.refused("POST", "/database", made)
    assert (status, body["code"]) == (409, "DatabasePurging")
    shown = api.ok("GET", f"/database/{database}?showDeleted=true")
    assert shown["purgeJobId"] == job_id
    wait_until(lambda: api.ok("GET", f"/jobs/{quote(job_id)}")["state"] == "done", seconds=240)
    assert api.ok("POST", "/database", made)["databaseId"] == database
    assert api.ok("GET", f"/database/{database}/assets?showArchived=true")["Items"] == []
    with pytest.raises(AssertionError, match="404"):
        api.ok("GET", f"/database/{database}?showDeleted=true")
