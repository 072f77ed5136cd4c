"""Runs the CDK app as a separate program: the local runtime uses only its output."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from local.errors import LocalError
from local.state import REPOSITORY

# The end of a traceback has the reason.
_LINES = 15
_CONTEXT = "CDK_CONTEXT_JSON"
_UNCHECKED = {"CDK_VALIDATION": "false"}


def synthesize(folder: Path, settings: Mapping[str, JsonValue]) -> Path:
    """Let `app.py` render the assembly into `folder`; unused assets are removed.

    `settings` override those of the stage.

    Raises:
        LocalError: it fails; the message contains the end of its output.
    """
    app = REPOSITORY / "app.py"
    if not app.is_file():
        raise LocalError(f"there is no {app}; name an assembly with --assembly")
    done = subprocess.run(
        [sys.executable, str(app)],
        check=False,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        env={**os.environ, **context_variables(settings), "CDK_OUTDIR": str(folder), **_UNCHECKED},
    )
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LINES:])
        raise LocalError(f"the CDK app cannot be synthesized:\n{said}")
    used: set[str] = set()
    for manifest in folder.glob("*.assets.json"):
        for file in json.loads(manifest.read_text(encoding="utf-8"))["files"].values():
            used.add(file["source"].get("path", ""))
    for asset in folder.glob("asset.*"):
        if asset.name not in used and asset.is_dir():
            shutil.rmtree(asset)
    return folder


def with_defaults(
    given: Mapping[str, JsonValue], *, url: str, page: bool
) -> Mapping[str, JsonValue]:
    """Return settings with those that the runtime adds, unless they are given.

    The page's own origin may use the API and the buckets. With a page, models have turntables.
    """
    chosen = {**_environment(), **given}
    # The page shows turntables. Without `processing` the setting has no effect, and is refused.
    makes_turntables = page and chosen.get("processing", True)
    turntables: Mapping[str, JsonValue] = {"turntables": True} if makes_turntables else {}
    return {"webUrl": url, **turntables, **chosen}


def context_variables(settings: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the CDK's variables for context values; those of the environment are kept."""
    if not settings:
        return {}
    return {_CONTEXT: json.dumps({**_environment(), **settings})}


def _environment() -> dict[str, JsonValue]:
    return json.loads(os.environ.get(_CONTEXT, "{}"))
