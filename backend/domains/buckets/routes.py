"""The route of asset buckets."""

from backend.core.models import PageQuery
from backend.domains.buckets.models import BucketsReply
from backend.domains.buckets.service import BucketService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: BucketService) -> Router:
    """Bind the route of buckets to the service."""
    router = Router()

    @router.bind(routes.LIST_BUCKETS)
    def list_buckets(call: Call, query: PageQuery) -> BucketsReply:
        page = service.list_buckets(call.caller, call.page(query))
        return BucketsReply(items=list(page.items), next_token=call.next_token(page.after))

    return router
