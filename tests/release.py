"""Builds a release: `make release VERSION=0.1.0`.

It refuses a tree with changes, a version that exists or that the packages do not have, and short
parts of the tests that are due; until then it writes nothing. It builds the wheels of the client
and of the tracking store, installs them in a clean environment and starts their commands, and
writes bills of materials (CycloneDX, with licences) of what is deployed to `dist/`. Long parts that
are due are named in the release's notes. It ends with the command that creates the tag.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backend.spec.versions import PRODUCT_VERSION
from tests import proofs
from tests.changes import due_parts
from tests.parts import LONG, SHORT

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
_BIN = Path(sys.executable).parent
_PACKAGES = ("client", "tracking")
_DEPLOYED = sorted((ROOT / "backend").glob("requirements*.txt"))


class ReleaseError(Exception):
    """A reason why there is no release, as one sentence."""


def package_versions() -> dict[str, str]:
    """Return the version of each package, by the file that declares it."""
    versions = {"backend/spec/versions.py": PRODUCT_VERSION}
    for path in ("pyproject.toml", *(f"{package}/pyproject.toml" for package in _PACKAGES)):
        versions[path] = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["project"][
            "version"
        ]
    page = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    return {**versions, "web/package.json": page["version"]}


def changelog_section(version: str, text: str) -> str:
    """Return the entries of a version in the changelog, or an empty text."""
    match = re.search(
        rf"^## {re.escape(version)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return match.group(1).strip() if match else ""


def check(
    version: str, *, versions: Mapping[str, str], tags: Sequence[str], due: Sequence[str]
) -> None:
    """Check what must hold before a release is built.

    Raises:
        ReleaseError: the version is malformed, exists, or differs from the packages'; a short
            part is due.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"VERSION: {version!r} is not of the form 1.2.3, such as VERSION=0.1.0")
    if f"v{version}" in tags:
        raise ReleaseError(f"VERSION: {version} exists already, as the tag v{version}")
    if others := sorted(path for path, declared in versions.items() if declared != version):
        raise ReleaseError(f"VERSION: {version} is not the version in {', '.join(others)}")
    if short := [part for part in due if part in SHORT]:
        raise ReleaseError(f'parts are due; run: make prove PART="{" ".join(short)}"')


def notes(section: str, due: Sequence[str], record: Mapping[str, proofs.Proof]) -> str:
    """Return the notes of a release: its changes, and the commit of each long part's proof."""
    rows = [
        f"- `{part}`: {f'passed at {record[part].commit}' if part in record else 'no record'}"
        f"{', of other files' if part in due and part in record else ''}"
        for part in LONG
    ]
    return "\n".join([section, "", "### Long parts of the tests", "", *rows, ""])


def build(version: str) -> None:
    """Write wheels, bills of materials and notes to `dist/`.

    Raises:
        ReleaseError: the tree has changes, or `check` refuses.
        subprocess.CalledProcessError: a command failed; its output was printed.
    """
    if not proofs.is_clean():
        raise ReleaseError("there are uncommitted changes; commit or remove them")
    record, due = proofs.read_proofs(), due_parts(proofs.read_proofs())
    tags = _output("git", "tag", "--list").split()
    check(version, versions=package_versions(), tags=tags, due=due)
    section = changelog_section(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if not section:
        raise ReleaseError(f"CHANGELOG.md: there is no section '## {version}'")
    with TemporaryDirectory(prefix="vitrine-release-") as name:
        folder = Path(name)
        wheels = _build_wheels(folder / "wheels")
        _start_wheels(folder / "installed", wheels)
        _write_materials(folder / "deployed", folder)
        (folder / "NOTES.md").write_text(notes(section, due, record), encoding="utf-8")
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for file in (*wheels, *folder.glob("*.cdx.json"), folder / "NOTES.md"):
            shutil.copy(file, DIST)
    print(f"wrote {', '.join(sorted(path.name for path in DIST.iterdir()))} to dist/")
    print(f"to release: git tag -a v{version} -F dist/NOTES.md && git push origin v{version}")


def _build_wheels(folder: Path) -> list[Path]:
    for package in _PACKAGES:
        # hatchling is of the environment's lock
        _run(
            "uv",
            "build",
            "--quiet",
            "--wheel",
            "--no-build-isolation",
            "--out-dir",
            folder,
            package,
        )
    return sorted(folder.glob("*.whl"))


def _start_wheels(environment: Path, wheels: Sequence[Path]) -> None:
    """Install the wheels in an environment of their own, and start each command."""
    _run("uv", "venv", "--quiet", "--python", sys.executable, environment)
    pins = ("--constraint", ROOT / "requirements.txt")
    target = {"VIRTUAL_ENV": str(environment), "PYTHONPATH": ""}
    _run("uv", "pip", "install", "--quiet", *pins, *wheels, environment=target)
    commands = (("vitrine", "--help"), ("vitrine-mlflow", "--help"), ("python", "-c", _IMPORTS))
    for name, *arguments in commands:
        _run(environment / "bin" / name, *arguments, environment=target, folder=environment)


# MLflow finds the stores of the package by its entry points.
_IMPORTS = """
from importlib.metadata import entry_points
import vitrine
entry_points(group="mlflow.tracking_store")["dynamodb"].load()
entry_points(group="mlflow.model_registry_store")["dynamodb"].load()
"""


def _write_materials(environment: Path, folder: Path) -> None:
    """Write the materials of the functions' layers and of the page."""
    _run("uv", "venv", "--quiet", "--python", sys.executable, environment)
    files = [option for path in _DEPLOYED for option in ("--requirements", path)]
    target = {"VIRTUAL_ENV": str(environment)}
    _run("uv", "pip", "install", "--quiet", "--require-hashes", *files, environment=target)
    _run(
        *("cyclonedx-py", "environment", "--gather-license-texts", "--pyproject", "pyproject.toml"),
        *("--output-file", folder / "vitrine-functions.cdx.json", environment),
    )
    page = deployed_materials(json.loads(_output("make", "--silent", "web-materials")))
    (folder / "vitrine-page.cdx.json").write_text(json.dumps(page, indent=2), encoding="utf-8")


def deployed_materials(materials: dict[str, Any]) -> dict[str, Any]:
    """Return a bill of npm without what only builds the page.

    npm's own `--omit dev` also omits what a deployed package needs for its own development: React.
    """
    components = [
        component
        for component in materials["components"]
        if "cdx:npm:package:development" not in {item["name"] for item in component["properties"]}
    ]
    refs = {materials["metadata"]["component"]["bom-ref"]}
    refs |= {component["bom-ref"] for component in components}
    dependencies = [
        {**item, "dependsOn": [ref for ref in item["dependsOn"] if ref in refs]}
        for item in materials["dependencies"]
        if item["ref"] in refs
    ]
    return {**materials, "components": components, "dependencies": dependencies}


def _run(
    program: str | Path,
    *arguments: str | Path,
    environment: Mapping[str, str] | None = None,
    folder: Path = ROOT,
) -> None:
    command = [str(_BIN / program), *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(command[:3])} failed:\n{done.stdout}")


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(arguments: Sequence[str]) -> int:
    """Build a release; 1 with one sentence if there is none."""
    try:
        build(*arguments)
    except ReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
