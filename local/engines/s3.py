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

from local.engines.base import Options, Progress
from local.engines.engine import Engine, Start
from local.engines.errors import EngineError
from local.engines.go import find_go
from local.engines.ports import LOOPBACK
from local.engines.probe import responds
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


class VersityGateway(Engine):
    """The engine behind `s3`."""

    name = "s3"
    probe = staticmethod(responds(_HEALTH))

    def command(self, start: Start) -> list[str]:
        """See `Engine.command`."""
        folders = [start.files / "buckets", start.files / "versions"]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        program, webhook = str(start.home / _PROGRAM), start.options.s3_webhook
        command = [program, f"{LOOPBACK}:{start.port}", start.options.region, _HEALTH]
        return [*command, *map(str, folders), *([webhook] if webhook else [])]

    def environment(self, options: Options) -> dict[str, str]:
        """See `Engine.environment`."""
        # not in the arguments, which every user of the machine can read
        return {"ROOT_ACCESS_KEY": options.access_key, "ROOT_SECRET_KEY": options.secret_key}

    def folder_name(self) -> str:
        """Return a name with a digest of the patch and the own files."""
        # They can change between two commits: the engine is built again then.
        digest = hashlib.sha256()
        for path in (_PATCH, *sorted(_OWN.rglob("*.go"))):
            digest.update(path.read_bytes())
        return f"s3-versitygw-{VERSITYGW}-{digest.hexdigest()[:8]}"

    def build(self, folder: Path, tools: Path, progress: Progress) -> None:  # noqa: ARG002
        """Build the program from source into `folder`.

        What is downloaded and compiled is in another folder until the program is complete, so that
        a build that was interrupted continues where it was.
        """
        go = find_go()
        work = folder.with_name(f".{self.folder_name()}.go")
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
        described = cast("dict[str, str]", json.loads(fetched))
        if (checksum := described.get("Sum")) != VERSITYGW_SUM:
            raise EngineError(
                f"{module} has checksum {checksum}, not {VERSITYGW_SUM}; it is not built"
            )
        source = folder / ".source"
        shutil.copytree(described["Dir"], source)
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
