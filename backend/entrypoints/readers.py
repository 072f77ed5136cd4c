"""The functions that read one file each, without permissions, for the pipelines that call them."""

from backend.aws.settings import running
from backend.entrypoints import ready
from backend.entrypoints.reading import reader
from backend.spec.functions.inspection import READERS

handler = ready(reader(running(READERS)).handle)
