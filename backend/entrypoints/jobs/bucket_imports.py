"""The function that walks what stands in a bucket already."""

from backend.entrypoints import ready
from backend.entrypoints.bucket_sync import SyncWiring
from backend.spec.functions import BUCKET_IMPORT_WORKER

handler = ready(SyncWiring(BUCKET_IMPORT_WORKER).imports_handler)
