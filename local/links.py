"""One-time links that sign a person in as the administrator, on this machine only.

A link is a file in the state folder, named by the hash of its secret: a process that can write the
file can also read the administrator's key. Removing the file is the use of the link, so each works
once.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from local.errors import LocalError
from local.state import StateFolder

# Ten minutes, enough to open a link that was printed (decision 85).
SECONDS = 600
# Longer than any secret of ours: others need not be hashed.
_MOST_CHARACTERS = 100


class Links:
    """The links of one state folder."""

    def __init__(self, state: StateFolder, clock: Callable[[], float] = time.time) -> None:
        """Use this state folder."""
        self._folder = state.root / "links"
        self._clock = clock

    def create(self) -> str:
        """Return the secret of a new link; remove those that have expired."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for link in self._folder.iterdir():
            if not self._is_fresh(link):
                link.unlink(missing_ok=True)
        secret = secrets.token_urlsafe(32)
        self._file(secret).touch(mode=0o600, exist_ok=False)
        return secret

    def use(self, secret: str) -> bool:
        """Return whether this is the secret of an unused link, and mark it as used."""
        if len(secret) > _MOST_CHARACTERS:
            return False
        file = self._file(secret)
        fresh = self._is_fresh(file)
        try:
            file.unlink()
        except FileNotFoundError:
            return False
        return fresh

    def _is_fresh(self, file: Path) -> bool:
        try:
            age = self._clock() - file.stat().st_mtime
        except FileNotFoundError:
            return False
        return age < SECONDS

    def _file(self, secret: str) -> Path:
        return self._folder / hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_link(state: StateFolder, api: str) -> str:
    """Return the address of a new link to the page at the runtime's address `api`.

    Raises:
        LocalError: no runtime is running on the folder.
    """
    if not api:
        raise LocalError(f"no runtime is running on {state.root}")
    return f"{api}/ui/#once={Links(state).create()}"
