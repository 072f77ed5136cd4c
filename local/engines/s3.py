"""versitygw: S3 on the file system, with versioning, multipart uploads, signatures and CORS.

It is built from `s3gateway`, a main program without the other backends and commands, and with
`versitygw.patch` (decision 34): the release replaces a version in several steps, so a kill in
between loses the key or an acknowledged version; and it reports a multipart upload that is being
completed as unknown, and loses its parts in a kill.

Differences from S3, each shown by a test or a run of this version:

- One webhook for all buckets. Each event is sent at most once, in no order, for puts, copies,
  completed multipart uploads, deletions and tagging. A delete marker is reported as a deletion. The
  size is 0 except for plain puts; only copies and multipart uploads have the version id.
- At its start the gateway sends an event `s3:TestEvent` to the webhook, and ends if no server
  listens there. The webhook must reply without a body (204): bodies are not read, and each would
  keep a connection open.
- HEAD of a key whose latest version is a delete marker returns 404 without `x-amz-delete-marker`;
  GET returns the header.
- ListObjectVersions begins a page with the last entry of the previous page if that was a key's
  latest version. Remove such duplicates, and never request pages of one entry, which do not end.
- Keys are paths: `a` next to `a/b` is refused, a component has at most 255 bytes, and `.`, `..`
  and empty components are resolved.
- There is no configuration of lifecycle, notifications, public access block, encryption or
  logging (NotImplemented). Only signature version 4 is supported.
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
from local.engines.probe import responds
from local.engines.process import Running, launch, stop_leftovers
from local.engines.versions import VERSITYGW, VERSITYGW_MODULE, VERSITYGW_SUM

_HEALTH = "/health"
_PATCH = Path(__file__).with_name("versitygw.patch")
_OWN = Path(__file__).with_name("s3gateway")
"""Files that are added to the source of versitygw: the main program, and what it does without."""
_OMITTED = (
    *(f"auth/iam_{kind}.go" for kind in ("ipa", "ldap", "s3_object", "standalone", "vault")),
    *(f"s3event/{kind}.go" for kind in ("kafka", "nats", "rabbitmq")),
    *(f"metrics/{kind}.go" for kind in ("dogstats", "statsd")),
)
"""Files of versitygw that are not built: their libraries take a quarter of the time."""
# The gateway has the SDK for its types only: its code is compiled, but never runs.
_UNUSED_CODE = "github.com/aws/aws-sdk-go-v2/service/s3"
# Garbage collection takes a part of the time of each compiler; it begins near the limit.
_COMPILER = {"GOGC": "off", "GOMEMLIMIT": "1GiB"}
_PROGRAM = "s3gateway"


class VersityGateway:
    """The engine behind `s3`."""

    name = "s3"

    def prepare(self, tools: Path, progress: Progress) -> None:
        """See `Engine.prepare`; it is built from source, once."""
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
            # not in the arguments, which every user of the machine can read
            environment={
                "ROOT_ACCESS_KEY": options.access_key,
                "ROOT_SECRET_KEY": options.secret_key,
            },
            data=data,
            log=log,
            port=port,
            probe=responds(_HEALTH),
        )


def _folder_name() -> str:
    """Return a name with a digest of the patch and the own files."""
    # They can change between two commits: the engine is built again then.
    digest = hashlib.sha256()
    for path in (_PATCH, *sorted(_OWN.rglob("*.go"))):
        digest.update(path.read_bytes())
    return f"s3-versitygw-{VERSITYGW}-{digest.hexdigest()[:8]}"


def _build(folder: Path, progress: Progress) -> None:
    """Build the program into `folder`.

    What is downloaded and compiled is in another folder until the program is complete, so that a
    build that was interrupted continues where it was.
    """
    go = find_go()
    work = folder.with_name(f".{_folder_name()}.go")
    work.mkdir(exist_ok=True)
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
        "GIT_CEILING_DIRECTORIES": str(folder),  # the tools may be inside another repository
    }
    module = f"{VERSITYGW_MODULE}@v{VERSITYGW}"
    progress(f"s3: building versitygw {VERSITYGW} with {go.command} (a minute or two, once)")
    fetched = _run([str(go.command), "mod", "download", "-json", module], folder, environment)
    source = folder / ".source"
    shutil.copytree(_checked(fetched), source)
    _run(["git", "apply", str(_PATCH)], source, environment)
    for name in _OMITTED:
        (source / name).unlink()
    shutil.copytree(_OWN, source, dirs_exist_ok=True)
    build = [str(go.command), "build", "-ldflags=-s -w", f"-gcflags={_UNUSED_CODE}=-N -l"]
    build += ["-o", str(folder / _PROGRAM), f"./cmd/{_PROGRAM}"]
    _run(build, source, {**environment, **_COMPILER})
    shutil.rmtree(source)
    shutil.rmtree(work)
    progress("s3: built versitygw")


def _checked(printed: str) -> Path:
    """Return the folder of the module's source, which has the pinned checksum."""
    module = cast("dict[str, str]", json.loads(printed))
    if (checksum := module.get("Sum")) != VERSITYGW_SUM:
        raise EngineError(
            f"{VERSITYGW_MODULE} v{VERSITYGW} has checksum {checksum}, not {VERSITYGW_SUM}; "
            "it is not built"
        )
    return Path(module["Dir"])


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    # Without a limit: a build takes a minute of processors (decision 34), on a busy machine any
    # time. The start prints that it is still working, and Ctrl-C ends it.
    try:
        result = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise EngineError(f"s3: {' '.join(command[:3])} failed: {error}") from error
    if result.returncode != 0:
        last = "\n".join((result.stderr or result.stdout).splitlines()[-15:])
        raise EngineError(f"s3: {' '.join(command[:3])} ended with {result.returncode}:\n{last}")
    return result.stdout
