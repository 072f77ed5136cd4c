"""Calls the reader function in rounds, and trusts nothing of what it returns."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from backend.processing import limits
from backend.processing.jail.conversation import has_form
from backend.processing.jail.parent import Outcome, Usage
from backend.processing.jail.results import ReadingStalledError, Result, check_result
from backend.processing.readers.json_values import listing, mapping
from backend.processing.references import Resolver
from backend.processing.remote import NAME_CHARACTERS, NAMES, ROUNDS
from backend.processing.texts import printable_line
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS, InspectionOutput


class ReaderFailedError(Exception):
    """The reader function ended without a reply; the message is the reason."""


class ReaderLateError(ReaderFailedError):
    """The reader function did not end by itself, although it limits its own time."""


class RefusedReplyError(Exception):
    """The reply is not what a reader returns; the message is the reason."""


class ReaderFunction(Protocol):
    """The function that reads a file."""

    def call(self, tenant: str, request: Mapping[str, Any]) -> object:
        """Return its reply.

        Raises:
            ReaderFailedError: it failed.
            ReaderLateError: it did not end before its time-out.
            ReadingStalledError: it takes too long for a reason that is not in the file.
            UnavailableError: it cannot be called now.
        """
        ...


class SignedFiles(Protocol):
    """The files of the asset and the outputs of the run, which the reader gets by URLs."""

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes of the asset's files by their path in the asset."""
        ...

    def content(self) -> dict[str, Any]:
        """Return `url` and `size` of the file to read."""
        ...

    def file(self, path: str) -> str:
        """Return a URL that reads a file of the asset."""
        ...

    def output(self, output: InspectionOutput) -> dict[str, Any]:
        """Return `url` and `headers` that write an output once."""
        ...

    def take(self, output: InspectionOutput, destination: Path) -> bool:
        """Fetch what was written; False if it was not, or is too large."""
        ...


def read(
    path: str,
    tenant: str,
    function: ReaderFunction,
    files: SignedFiles,
    folder: Path,
    *,
    turntable: bool,
    may_continue: Callable[[], bool],
) -> Outcome:
    """Read the file `path` of an asset. Valid outputs are written to `folder`.

    `may_continue` returns before each further round whether there is time for it.

    Raises:
        ReadingStalledError: it takes too long for a reason that is not in the file.
        UnavailableError: the function cannot be called now.
    """
    request: dict[str, Any] = {"tenant": tenant, "path": path, "turntable": turntable}
    rounds = _Rounds(path, files)
    try:
        reply = _last_reply(request, function, rounds, may_continue)
    except (ReaderFailedError, RefusedReplyError) as error:
        return refused(str(error))
    return _outcome(reply, files, folder)


def _last_reply(
    request: Mapping[str, Any],
    function: ReaderFunction,
    rounds: "_Rounds",
    may_continue: Callable[[], bool],
) -> dict[str, Any]:
    """Return the first reply that needs no further files."""
    for number in range(ROUNDS):
        if number and not may_continue():
            raise ReadingStalledError(
                f"no time was left for round {number + 1}, with files that it refers to"
            )
        reply = mapping(_call(request, function, rounds, may_continue))
        if "needs" in reply:
            rounds.resolve(listing(reply["needs"]))
        elif isinstance(reply.get("result"), dict):
            return reply
        else:
            raise RefusedReplyError("the reply of the function that reads it is not valid")
    raise RefusedReplyError(f"it needs further files {ROUNDS} times in a row")


def _call(
    request: Mapping[str, Any],
    function: ReaderFunction,
    rounds: "_Rounds",
    may_continue: Callable[[], bool],
) -> object:
    """Return the reply of one round. A reader that does not end is called once more."""
    try:
        return function.call(request["tenant"], {**request, **rounds.sign_addresses()})
    # A reader limits its own time, so one that does not end is controlled by its file. It is called
    # once more in case that the machine stalled, and then the file is refused (decision 49).
    except ReaderLateError:
        if not may_continue():
            raise
        return function.call(request["tenant"], {**request, **rounds.sign_addresses()})


def refused(reason: str) -> Outcome:
    """Return the outcome of a file that was not read."""
    return Outcome(
        Result(refused=printable_line(reason)[: limits.REASON_CHARACTERS]), Usage(0, 0, 0)
    )


def _outcome(reply: Mapping[str, Any], files: SignedFiles, folder: Path) -> Outcome:
    result = check_result(reply["result"])
    wrote = listing(reply.get("wrote"))
    paths: dict[str, Path] = {}
    for output in INSPECTION_OUTPUTS:
        path = folder / output.file
        # A file that is refused has no pictures, whatever the reader wrote.
        if result.refused or output.name not in wrote or not files.take(output, path):
            continue
        if has_form(path, output):
            paths[output.name] = path
    return Outcome(result, Usage(0, 0, 0), **paths)


class _Rounds:
    """The names that the reader has requested, and what was found for them."""

    def __init__(self, model: str, files: SignedFiles) -> None:
        self._model = model
        self._files = files
        self._found: dict[str, tuple[str, str, str | None]] = {}
        self._resolver: Resolver | None = None
        self._sizes: Mapping[str, int] = {}

    def resolve(self, names: list[Any]) -> None:
        """Look up names in the asset.

        Raises:
            RefusedReplyError: they are no list of further names, or too many.
        """
        if len(self._found) + len(names) > NAMES:
            raise RefusedReplyError(f"it refers to more than {NAMES} files")
        fresh = [name for name in names if isinstance(name, str) and name not in self._found]
        # A round that requests what it has already would repeat for ever.
        if not fresh or len(fresh) < len(names) or max(map(len, fresh)) > NAME_CHARACTERS:
            raise RefusedReplyError("the function that reads it requests no further files")
        if self._resolver is None:
            self._sizes = self._files.sizes()
            self._resolver = Resolver(self._model, self._sizes)
        for name in fresh:
            self._found[name] = self._resolver.resolve(name)

    def sign_addresses(self) -> dict[str, Any]:
        """Return URLs of everything that is known. Each round signs again, as URLs expire."""
        signed: dict[str, dict[str, Any]] = {}
        for name, (path, state, file) in self._found.items():
            signed[name] = {"path": path, "state": state}
            if file is not None:
                signed[name] |= {"url": self._files.file(file), "size": self._sizes[file]}
        outputs = {output.name: self._files.output(output) for output in INSPECTION_OUTPUTS}
        return {"content": self._files.content(), "files": signed, "outputs": outputs}
