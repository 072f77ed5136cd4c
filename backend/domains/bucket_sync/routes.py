"""The route that imports the objects of a bucket."""

from backend.domains.bucket_sync.models import ImportBucketReply
from backend.domains.bucket_sync.service.commands import BucketImports
from backend.domains.buckets.models import BucketPath
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(imports: BucketImports) -> Router:
    """Bind the route to the service."""
    router = Router()

    @router.bind(routes.IMPORT_BUCKET)
    def import_bucket(call: Call, path: BucketPath) -> ImportBucketReply:
        job = imports.import_bucket(call.caller, path.bucket_id)
        return ImportBucketReply(
            bucket_id=path.bucket_id,
            job_id=job.job_id,
            message="The import has started; the job reports its progress",
        )

    return router
