"""Updates the lock files of jars: `python -m local.engines.lock [ENGINE ...]`.

Run it by hand after a change of a version in `versions.py`; it needs the network. jgo resolves the
root artifacts from poms only, each file is downloaded once to compute its SHA-256, and the complete
list is written to `jars/<engine>.lock`, to be reviewed and committed.
"""

import logging
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, cast

import httpx

from local.engines.jars.locked import Artifact, Locked, lock_path, write_lock
from local.engines.jars.store import checksum, repository
from local.engines.versions import LEFT_OUT, ROOTS


class _Resolved(Protocol):
    """The attributes of jgo's untyped Dependency that are read here."""

    @property
    def groupId(self) -> str: ...  # noqa: N802 - Maven's names
    @property
    def artifactId(self) -> str: ...  # noqa: N802
    @property
    def version(self) -> str: ...
    @property
    def classifier(self) -> str: ...
    @property
    def type(self) -> str: ...


def resolve(roots: tuple[str, ...], left_out: tuple[str, ...], cache: Path) -> list[Artifact]:
    """Return the run-time dependencies of the root artifacts, including these."""
    from jgo.maven import (  # noqa: PLC0415 - only for this command
        Dependency,
        MavenContext,
        PythonResolver,
    )

    resolver = PythonResolver()
    context = MavenContext(
        resolver=resolver, repo_cache=cache, remote_repos={"central": repository()}, timeout=60
    )
    wanted: list[Dependency] = []
    for root in roots:
        group, artifact, version = root.split(":")
        component = context.project(group, artifact).at_version(version)
        wanted.append(Dependency(component.artifact()))
    inputs, transitive = resolver.resolve(wanted)
    artifacts = [
        Artifact(
            group=resolved.groupId,
            artifact=resolved.artifactId,
            version=resolved.version,
            classifier=resolved.classifier or None,
            type=resolved.type,
        )
        for resolved in cast("list[_Resolved]", [*inputs, *transitive])
    ]
    return [
        artifact
        for artifact in artifacts
        if f"{artifact.group}:{artifact.artifact}" not in left_out
    ]


def with_checksums(artifacts: Sequence[Artifact]) -> list[Locked]:
    """Download each artifact and record its checksum."""
    base = repository()
    with httpx.Client(timeout=60, follow_redirects=True) as client, ThreadPoolExecutor(8) as pool:
        sums = [pool.submit(checksum, client, base, artifact) for artifact in artifacts]
        return [
            Locked(artifact, digest.result())
            for artifact, digest in zip(artifacts, sums, strict=True)
        ]


def main(engines: list[str]) -> None:
    """Update the lock files of the named engines, or of all."""
    logging.getLogger("jgo").setLevel(logging.ERROR)
    for engine in engines or list(ROOTS):
        with tempfile.TemporaryDirectory() as cache:
            artifacts = resolve(ROOTS[engine], LEFT_OUT[engine], Path(cache))
        entries = with_checksums(artifacts)
        write_lock(lock_path(engine), ROOTS[engine], entries)
        sys.stdout.write(f"{lock_path(engine)}: {len(entries)} artifacts\n")


if __name__ == "__main__":
    main(sys.argv[1:])
