"""The function that is called to read one file: it has no permissions except the URLs it gets."""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from backend.processing import limits
from backend.processing.files import State
from backend.processing.jail.conversation import Budget
from backend.processing.jail.parent import Jail, Outcome
from backend.processing.remote import NAME_CHARACTERS, NAMES
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS


class OtherTenantError(Exception):
    """An instance that has served one file was called for another one."""


class Transfers(Protocol):
    """Moves files by presigned URLs."""

    def download(self, url: str, destination: Path, *, most_bytes: int) -> None:
        """Write what the URL returns to a file.

        Nothing is returned that is larger than `most_bytes`.
        """
        ...

    def upload(self, source: Path, url: str, headers: Mapping[str, str]) -> None:
        """Put a file to the URL."""
        ...


class Reader:
    """Reads the one file of this instance, in as many rounds as it takes. Keeps it in between."""

    def __init__(self, jail: Jail, transfers: Transfers, folder: Path) -> None:
        self._jail = jail
        self._transfers = transfers
        self._folder = folder
        self._tenant: str | None = None

    def handle(self, event: Mapping[str, Any], _context: object = None) -> dict[str, Any]:
        """Return the names that are needed, or else the result and the outputs that were written.

        Raises:
            OtherTenantError: this instance has served another file.
        """
        tenant = str(event["tenant"])
        if self._tenant not in {None, tenant}:
            raise OtherTenantError("this instance has served another file")
        self._tenant = tenant
        self._folder.mkdir(parents=True, exist_ok=True)
        self._jail.turntable = bool(event["turntable"])
        path = str(event["path"])
        content = self._kept("content", event["content"])
        files = _Given(event["files"], self._kept)
        outcome = self._jail.inspect_with(path, content, files, self._folder)
        if files.needs:
            return {"needs": files.needs}
        wrote = self._write(outcome, event["outputs"])
        shutil.rmtree(self._folder)
        return {"result": _describe(outcome), "wrote": wrote}

    def _kept(self, name: str, file: Mapping[str, Any]) -> Path:
        """Return a file, which an earlier round may have fetched already."""
        path = self._folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        if not path.exists():
            part = path.with_suffix(".part")
            self._transfers.download(file["url"], part, most_bytes=int(file["size"]))
            part.rename(path)
        return path

    def _write(self, outcome: Outcome, outputs: Mapping[str, Any]) -> list[str]:
        written: list[str] = []
        for output in INSPECTION_OUTPUTS:
            path = outcome.path_of(output)
            if path is not None and output.name in outputs:
                target = outputs[output.name]
                self._transfers.upload(path, target["url"], target["headers"])
                written.append(output.name)
        return written


class _Given:
    """The files whose URLs came with the call. Notes the names of others."""

    def __init__(self, files: Mapping[str, Mapping[str, Any]], kept: "_Kept") -> None:
        self._files = files
        self._kept = kept
        self._bytes = 0
        self._counted: set[str] = set()
        self.needs: list[str] = []

    def find(self, name: str, budget: Budget) -> tuple[str, State, Path | None]:
        file = self._files.get(name)
        if file is None:
            # With one more than the limit, the caller refuses the file.
            if name not in self.needs and len(self.needs) <= NAMES:
                self.needs.append(name[:NAME_CHARACTERS])
            return name, "missing", None
        path, state = str(file["path"]), file["state"]
        if "url" not in file or not self._fits(path, int(file["size"])):
            return path, state, None
        with budget.count_fetch(int(file["size"])):
            return path, state, self._kept(f"file {path}", file)

    def _fits(self, path: str, size: int) -> bool:
        if path not in self._counted:
            self._counted.add(path)
            self._bytes += size
        return self._bytes <= limits.INPUT_BYTES


class _Kept(Protocol):
    def __call__(self, name: str, file: Mapping[str, Any]) -> Path: ...


def _describe(outcome: Outcome) -> dict[str, Any]:
    result = outcome.result
    return {**asdict(result), **{output.name: False for output in INSPECTION_OUTPUTS}}
