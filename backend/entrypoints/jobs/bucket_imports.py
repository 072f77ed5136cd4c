"""The function that imports the existing objects of a bucket."""

from backend.entrypoints import ready
from backend.entrypoints.bucket_sync import SyncWiring
from backend.spec.functions.workers import BUCKET_IMPORT_WORKER

handler = ready(SyncWiring(BUCKET_IMPORT_WORKER).imports_handler)
