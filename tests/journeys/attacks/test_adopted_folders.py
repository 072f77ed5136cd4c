"""A folder in a shared bucket becomes an asset only with a permission for the bucket."""

from typing import Any

from tests.journeys.attacks.actors import ANY_ROUTE, Rule, connect, new_role, new_user, unique
from tests.journeys.runtime import Api, Runtime
from tests.journeys.test_bucket_sync import OTHERS, own_bucket, s3

__all__ = ["s3"]


def user_with(runtime: Runtime, *rules: Rule) -> Api:
    admin = runtime.client()
    return connect(runtime, new_user(admin, new_role(admin, ANY_ROUTE, *rules)))


def test_a_folder_is_adopted_by_a_right_to_its_bucket_alone(runtime: Runtime, s3: Any) -> None:
    own_bucket(s3)
    admin = runtime.client()
    base = unique("attack")
    s3.put_object(Bucket=OTHERS, Key=f"{base}/payroll/salaries.csv", Body=b"secret")
    # If the bucket were registered before the event arrives, the event would create the asset.
    runtime.drain()
    record = admin.ok("POST", "/admin/buckets", {"bucketName": OTHERS, "baseAssetsPrefix": base})
    bucket_id = record["bucketId"]
    made = {"databaseId": base, "description": "made by a test", "defaultBucketId": bucket_id}
    admin.ok("POST", "/database", made)
    own = ("asset", "databaseId", "equals", base)
    attacker = user_with(runtime, own, ("bucket", "bucketId", "equals", unique("another")))
    body = {
        "databaseId": base,
        "assetName": "Mine",
        "description": "made by a test",
        "isDistributable": True,
    }
    for key in ("payroll", "nothing"):
        status, reply = attacker.refused("POST", "/assets", {**body, "bucketExistingKey": key})
        assert (status, reply["code"]) == (403, "PermissionDenied")
    assert attacker.refused("POST", f"/admin/buckets/{bucket_id}/import")[0] == 403
    assert attacker.new_asset(base, "A folder of its own")
    keeper = user_with(runtime, own, ("bucket", "bucketId", "equals", bucket_id))
    assert keeper.new_asset(base, "Payroll", bucketExistingKey="payroll")
