"""The CDK app, run as a program of its own: the local runtime knows only what it writes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from local.errors import LocalError
from local.state import REPOSITORY

_LINES = 15


def synthesize(folder: Path) -> Path:
    """Have `app.py` render the assembly into `folder`; assets that are not used any more go.

    Raises:
        LocalError: it fails; with the end of what it said.
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
        env={**os.environ, "CDK_OUTDIR": str(folder), "CDK_VALIDATION": "false"},
    )
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LINES:])
        raise LocalError(f"the CDK app cannot be synthesized:\n{said}")
    _remove_unused_assets(folder)
    return folder


def _remove_unused_assets(folder: Path) -> None:
    used: set[str] = set()
    for manifest in folder.glob("*.assets.json"):
        for asset in json.loads(manifest.read_text(encoding="utf-8"))["files"].values():
            used.add(asset["source"].get("path", ""))
    for asset in folder.glob("asset.*"):
        if asset.name not in used and asset.is_dir():
            shutil.rmtree(asset)
