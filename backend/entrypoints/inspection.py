"""The built-in pipelines: read a file in the confined process, and write the results."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from backend.aws.clients import at_first_use, s3
from backend.aws.settings import load
from backend.aws.work_files import S3WorkFiles
from backend.core.errors import InvalidInputError
from backend.core.models import WireModel
from backend.core.objects import NotRestoredError
from backend.core.work_files import WorkFiles
from backend.entrypoints.reading import AssetFiles, Place, Reading, RemoteReading, remote_reading
from backend.processing import limits
from backend.processing.jail.parent import Jail, Outcome
from backend.processing.remote.invoker import refused
from backend.spec.facts import READERS_VERSION
from backend.spec.formats import EXTENSIONS_OF, extension_of, reason_not_inspected
from backend.spec.functions import Function
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS
from backend.spec.settings import READERS, TURNTABLES

VERSION = 1
"""Version of the format of `inspection.json`."""
_NO_JAIL = "this deployment has no function that reads files"


class Body(WireModel):
    """The fields that this pipeline uses of the body that the state machine passes."""

    input_s3_asset_file_path: str
    output_s3_asset_files_path: str
    output_s3_asset_preview_path: str
    output_s3_asset_metadata_path: str
    bucket_asset: str = ""
    input_asset_location_key: str = ""
    input_s3_version_id: str = ""
    input_relative_path: str = ""
    execution_id: str = ""


@dataclass(eq=False, repr=False)
class Inspector:
    """One pipeline: reads files of some `extensions`. A file that it cannot read is no error.

    Without a `jail`, or where the jail cannot confine, files are read by the `remote` function.
    """

    files: WorkFiles
    jail: Jail | None
    extensions: frozenset[str]
    remote: RemoteReading | None = None

    def handle(self, event: Mapping[str, Any], context: object = None) -> dict[str, Any]:
        """Inspect the file of a run. Returns a summary for the history of the execution.

        Raises:
            InvalidInputError: the run has no file, or the pipeline before wrote several.
            ReadingStalledError: the file was not read in time, though it may be another time.
        """
        body = Body.model_validate(event["body"])
        source = self._single(body, _place(body.input_s3_asset_file_path))
        root = _root(body, source)
        version_id = body.input_s3_version_id if source.bucket == body.bucket_asset else ""
        run = _place(body.output_s3_asset_metadata_path).parent
        reading = Reading(body.execution_id, source, version_id or None, root, run)
        with tempfile.TemporaryDirectory() as temporary:
            outcome = self._inspect(reading, Path(temporary), context)
            self._write(body, source, outcome)
        return {"refused": outcome.result.refused, "facts": len(outcome.result.facts)}

    def _single(self, body: Body, source: Place) -> Place:
        """Return the file to read. That of an earlier pipeline is in a folder of the run."""
        if source.key and not source.key.endswith("/"):
            return source
        if not source.key or source.bucket == body.bucket_asset:
            raise InvalidInputError(
                "This pipeline inspects a single file: start the workflow with a file"
            )
        written = list(self.files.sizes(source.bucket, source.key, most=2))
        if len(written) != 1:
            raise InvalidInputError(
                "This pipeline inspects a single file; the pipeline before it wrote several"
            )
        return source.below(written[0])

    def _inspect(self, reading: Reading, folder: Path, context: object) -> Outcome:
        extension = extension_of(reading.path)
        if extension not in self.extensions:
            # The other pipeline may read it.
            reason = reason_not_inspected(extension)
            return refused(reason or f"files with the extension .{extension} cannot be read")
        source = reading.source
        size = self.files.size(source.bucket, source.key, reading.version_id)
        if size > limits.INPUT_BYTES:
            return refused(f"larger than {limits.INPUT_BYTES // limits.MIB} MiB")
        try:
            lacking = _NO_JAIL if self.jail is None else self.jail.obstacle(reading.path)
            if self.jail is not None and lacking is None:
                content, asset = folder / "content", AssetFiles(self.files, reading.asset)
                self.files.download(source.bucket, source.key, reading.version_id, content)
                return self.jail.inspect(reading.path, content, asset, folder)
            if self.remote is not None:
                return self.remote.read(reading, size, folder, context)
        except NotRestoredError as error:
            return refused(str(error))
        return refused(str(lacking))

    def _write(self, body: Body, source: Place, outcome: Outcome) -> None:
        """Write the result."""
        folders = {
            "previews": _place(body.output_s3_asset_preview_path),
            "files": _place(body.output_s3_asset_files_path),
        }
        for output in INSPECTION_OUTPUTS:
            path = outcome.path_of(output)
            if path is not None:
                target = folders[output.folder].below(output.file)
                kind = output.content_type
                self.files.upload(path, target.bucket, target.key, content_type=kind)
        # Written last: a reader who finds it finds the other objects too.
        target = _place(body.output_s3_asset_metadata_path).below("inspection.json")
        result = outcome.result
        content = {
            "version": VERSION,
            "readersVersion": READERS_VERSION,
            "source": {
                "bucket": source.bucket,
                "key": source.key,
                "versionId": body.input_s3_version_id,
                "relativePath": body.input_relative_path,
            },
            "facts": result.facts,
            "refused": result.refused,
            "descriptor": result.descriptor,
            "references": [asdict(reference) for reference in result.references],
            **{
                output.name: None if outcome.path_of(output) is None else output.file
                for output in INSPECTION_OUTPUTS
            },
        }
        with tempfile.NamedTemporaryFile() as file:
            file.write(json.dumps(content, allow_nan=False).encode())
            file.flush()
            path = Path(file.name)
            self.files.upload(path, target.bucket, target.key, content_type="application/json")


def inspector(function: Function) -> Inspector:
    """Return the pipeline of a function, with S3 behind it."""
    settings = load(function)
    files = S3WorkFiles(at_first_use(s3))
    jail = None
    if settings.text(READERS) != "always":
        jail = Jail(settings.library_path, turntable=settings.number(TURNTABLES) == 1)
    remote = remote_reading(function, settings, files)
    return Inspector(files, jail, EXTENSIONS_OF[function.name], remote)


def _place(uri: str) -> Place:
    """Return the bucket and the key of an `s3://` URI."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not uri.startswith("s3://") or not bucket:
        raise InvalidInputError(f"not an S3 URI: {uri:.200}")
    return Place(bucket, key)


def _root(body: Body, source: Place) -> Place:
    """Return the asset's folder.

    For a file that another pipeline wrote, the folder of its outputs.
    """
    location = body.input_asset_location_key
    if source.bucket == body.bucket_asset and location and source.key.startswith(location):
        return Place(source.bucket, location)
    return Place(source.bucket, source.key.rpartition("/")[0] + "/")
