"""The function that imports the existing objects of a bucket."""

from backend.entrypoints.wiring.bucket_workers import imports
from backend.entrypoints.wiring.events import handle
from backend.spec.functions.workers import BUCKET_IMPORT_WORKER

handler = handle(BUCKET_IMPORT_WORKER, imports)
