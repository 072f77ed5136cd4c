"""versitygw: S3 on the file system, with versioning, multipart, signatures, CORS.

It is built from `s3gateway.go`, a main program without the other backends and commands,
and with `versitygw.patch` (decision 0034): where a version takes the place of another, as
delete markers do when they come and go, the released one removes first and puts then, so that a
kill in between leaves a key of which nothing can be seen any more. And an upload in parts that is
being completed is neither denied meanwhile nor lost by a kill.

What differs from S3, each shown by a test or a run of this version:
- One webhook for all buckets, each event at most once, in no order; puts, copies, completed
  multipart uploads, deletions and tagging are reported; a delete marker looks like a deletion.
  Size is 0 but for plain puts, the version id is there for copy and multipart only.
- At start the webhook gets an event `s3:TestEvent`; if no server listens there the gateway ends.
  Its answers must have no body (204): bodies are not read, and each would keep a connection.
- HEAD of a key whose latest version is a delete marker is 404 without `x-amz-delete-marker`; GET
  has the header.
- ListObjectVersions begins a page with the last page's last entry when that was a key's latest
  version: drop duplicates, and never ask for pages of one (they do not end).
- Keys are paths: `a` beside `a/b` is refused, a component has at most 255 bytes, and `.`, `..`
  and empty components are resolved away.
- No lifecycle, notifications, public access block, encryption or logging configuration
  (NotImplemented). Signature version 4 only.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from local.engines import layout
from local.engines.base import Options, Progress
from local.engines.errors import EngineError
from local.engines.go import find_go
from local.engines.ports import LOOPBACK, chosen_port
from local.engines.probe import answers
from local.engines.process import Running, launch, stop_leftovers
from local.engines.versions import VERSITYGW, VERSITYGW_MODULE, VERSITYGW_SUM

_BUILD_SECONDS = 900
_HEALTH = "/health"
_PATCH = Path(__file__).with_name("versitygw.patch")
_MAIN = Path(__file__).with_name("s3gateway.go")
_PROGRAM = "s3gateway"


class VersityGateway:
    """The engine behind `s3`."""

    name = "s3"

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`; built from source, once."""
        layout.whole_folder(tools, _folder_name(), lambda folder: _build(folder, progress))

    def start(
        self,
        tools: Path,
        data: Path,
        *,
        log: Path,
        port: int | None = None,
        options: Options | None = None,
    ) -> Running:
        """See `Engine.start`."""
        options = options or Options()
        program = layout.prepared(tools / _folder_name(), self.name) / _PROGRAM
        stop_leftovers(data, name=self.name)
        port = chosen_port(port, name=self.name)
        buckets, versions = data / self.name / "buckets", data / self.name / "versions"
        for folder in (buckets, versions):
            folder.mkdir(parents=True, exist_ok=True)
        command = [str(program), f"{LOOPBACK}:{port}", options.region, _HEALTH]
        command += [str(buckets), str(versions)]
        command += [options.s3_webhook] if options.s3_webhook else []
        return launch(
            name=self.name,
            command=command,
            # not as arguments, which every user of the machine can read
            environment={
                "ROOT_ACCESS_KEY": options.access_key,
                "ROOT_SECRET_KEY": options.secret_key,
            },
            data=data,
            log=log,
            port=port,
            probe=answers(_HEALTH),
        )


def _folder_name() -> str:
    """Patch and main program are part of the name: others are another program."""
    ours = hashlib.sha256(_PATCH.read_bytes() + _MAIN.read_bytes()).hexdigest()
    return f"s3-versitygw-{VERSITYGW}-{ours[:8]}"


def _build(folder: Path, progress: Progress) -> None:
    """Build the program into `folder`; what the build needs is removed with `folder/.go`."""
    go = find_go()
    work = folder / ".go"
    environment = {
        **os.environ,
        **go.environment,
        "GOPATH": str(work),
        "GOMODCACHE": str(work / "mod"),
        "GOCACHE": str(work / "cache"),
        "GOENV": "off",
        "GOFLAGS": "-modcacherw -trimpath",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
        "GIT_CEILING_DIRECTORIES": str(work),  # the tools may be inside another repository
    }
    module = f"{VERSITYGW_MODULE}@v{VERSITYGW}"
    progress(f"s3: building versitygw {VERSITYGW} with {go.command} (a minute or two, once)")
    fetched = _run([str(go.command), "mod", "download", "-json", module], folder, environment)
    source = work / "source"
    shutil.copytree(_checked(fetched), source)
    _run(["git", "apply", str(_PATCH)], source, environment)
    package = source / "cmd" / "vitrine"
    package.mkdir()
    shutil.copy(_MAIN, package / "main.go")
    build = [str(go.command), "build", "-ldflags=-s -w", "-o", str(folder / _PROGRAM)]
    _run([*build, f"./{package.relative_to(source)}"], source, environment)
    shutil.rmtree(work)
    progress("s3: built versitygw")


def _checked(answer: str) -> Path:
    """Return where the module's source is, which has the pinned checksum."""
    module = cast("dict[str, str]", json.loads(answer))
    if (found := module.get("Sum")) != VERSITYGW_SUM:
        raise EngineError(
            f"{VERSITYGW_MODULE} v{VERSITYGW} has checksum {found}, not {VERSITYGW_SUM}; "
            "it is not built"
        )
    return Path(module["Dir"])


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"s3: {' '.join(command[:3])} failed: {error}") from error
    if result.returncode != 0:
        last = "\n".join((result.stderr or result.stdout).splitlines()[-15:])
        raise EngineError(f"s3: {' '.join(command[:3])} ended with {result.returncode}:\n{last}")
    return result.stdout
