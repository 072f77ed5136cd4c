"""The routes of asset buckets."""

from backend.core.models import PageQuery
from backend.domains.buckets.models import (
    BucketsReply,
    RegisterBucketBody,
    RegisterBucketReply,
)
from backend.domains.buckets.service import BucketRegistration, BucketService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: BucketService, registration: BucketRegistration) -> Router:
    """Bind the routes of buckets to the services."""
    router = Router()

    @router.bind(routes.LIST_BUCKETS)
    def list_buckets(call: Call, query: PageQuery) -> BucketsReply:
        page = service.list_buckets(call.caller, call.page(query))
        return BucketsReply(items=list(page.items), next_token=call.next_token(page.after))

    @router.bind(routes.REGISTER_BUCKET)
    def register_bucket(call: Call, body: RegisterBucketBody) -> RegisterBucketReply:
        bucket = registration.register_bucket(call.caller, body)
        message = f"Bucket {bucket.bucket_name} is registered; existing objects can now be imported"
        return RegisterBucketReply(**bucket.model_dump(), message=message)

    return router
