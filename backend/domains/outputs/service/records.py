"""Stores the metadata and attributes that the pipelines of an execution wrote."""

from dataclasses import dataclass

from backend.core.errors import (
    InvalidInputError,
    NotFoundError,
    UnavailableError,
    VitrineError,
)
from backend.core.identity import Identity
from backend.core.objects import Objects
from backend.domains.assets.models import Asset
from backend.domains.files.errors import ChangeBusyError
from backend.domains.metadata.models import Entity
from backend.domains.metadata.service.commands import MetadataService
from backend.domains.outputs import rules
from backend.domains.outputs.rules import Outcome
from backend.domains.outputs.service.files import Written

# Keys that the reason names; `rules._MAX_REASON_CHARS` cuts it.
_FAILED_SHOWN = 5


@dataclass(eq=False, repr=False)
class RecordOutputs:
    """Writes records as the user who started the execution, with the user's current permissions."""

    metadata: MetadataService
    objects: Objects
    bucket: str

    def store(self, caller: Identity, asset: Asset, output: Written) -> Outcome:
        """Write the records of one metadata file, or return why they were not written.

        Raises:
            UnavailableError: a service does not respond, or the file is being moved; call it again.
        """
        path = output.name
        try:
            described = rules.described_by(output.name)
            path = described.path
            sent = rules.parsed_metadata(self._body(output))
            result = self.metadata.change_metadata(
                caller,
                Entity(asset.database_id, asset.asset_id, path, described.kind),
                sent.metadata,
                update_type=sent.update_type,
                or_folder=described.or_folder,
            )
        except UnavailableError:
            raise
        except ChangeBusyError as error:
            raise UnavailableError(error.message) from error
        except VitrineError as error:
            return Outcome("metadata", output.label, path, error.message)
        if not result.failed:
            return Outcome("metadata", output.label, path)
        shown = "; ".join(f"{key}: {reason}" for key, reason in result.failed[:_FAILED_SHOWN])
        failures = f"{len(result.failed)} of its keys were not written: {shown}"
        return Outcome("metadata", output.label, path, failures)

    def _body(self, output: Written) -> bytes:
        body = b""
        try:
            for chunk in self.objects.read_chunks(self.bucket, output.key):
                body += chunk
                # The size in the listing is not reliable: the object may have been replaced since.
                if len(body) > rules.MAX_METADATA_BYTES:
                    raise InvalidInputError(
                        f"has more than {rules.MAX_METADATA_BYTES} bytes, the maximum"
                    )
        except NotFoundError:
            raise InvalidInputError("no longer exists") from None
        return body
