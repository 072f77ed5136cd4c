"""Runs parts of the tests: the program behind `python -m tests.parts`."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests import changes, proofs
from tests.amounts import AMOUNTS
from tests.engines import HOST_FOLDER, EngineHost
from tests.parts import GRANTS, PARTS, Part, inputs

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "build" / "grants"
"""Where the grants that functions use are recorded: a file for each part."""
_GRANTS_RECORD = "VITRINE_RECORD_GRANTS"
# Variables that change what a part does, beside those of `tests.amounts` and of its runs.
_VARIABLES = ("DOCUMENTS", "KILL_ROUNDS", "LOAD_SECONDS", "OUTPUTS", "SEARCH_SEED", "UPLOADS")

_SECONDS_TO_END = 30
_groups: set[int] = set()
"""The process groups of the commands that run: pytest's has its workers."""
_ended: set[int] = set()
"""Those of them that this program is ending."""


def end_groups(signum: int, _: object) -> None:
    """End all commands, those that do not end after half a minute at once, and this program."""
    _ended.update(_groups)
    _kill(_groups.copy(), signal.SIGKILL if signum == signal.SIGALRM else signal.SIGINT)
    if signum != signal.SIGALRM:
        signal.alarm(_SECONDS_TO_END)
        raise SystemExit(128 + signum)


def _kill(groups: set[int], signum: int) -> None:
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signum)


def run(name: str, part: Part) -> bool:
    """Run a part to its end, and return whether all of it passed."""
    environment = {**os.environ, _GRANTS_RECORD: str(RECORDS / f"{name}.jsonl")}
    with ThreadPoolExecutor(1) as executor:
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        checks = [executor.submit(_run, command, text=True, **quiet) for command in part.beside]
        codes = [
            _run(pytest_run.command(), env=pytest_run.settings(environment)).returncode
            for pytest_run in part.runs
        ]
        if part.command:
            codes.append(_run(part.command, env=environment).returncode)
        for command, check in zip(part.beside, checks, strict=True):
            done = check.result()
            print(f"{Path(command[0]).name} {' '.join(command[1:])}:", done.stdout, flush=True)
            codes.append(done.returncode)
    return not any(codes)


def run_all(parts: Mapping[str, Part]) -> bool:
    """Run parts one after another on the same engines; return whether all passed.

    Whole parts that passed are recorded, unless something keeps them from being a proof.
    """
    RECORDS.mkdir(parents=True, exist_ok=True)
    commit, obstacle = proofs.head_commit(), _find_obstacle()
    host = EngineHost()
    os.environ[HOST_FOLDER] = str(host.folder)
    failed: list[str] = []
    try:
        for name, part in parts.items():
            (RECORDS / f"{name}.jsonl").unlink(missing_ok=True)
            began = time.monotonic()
            passed = run(name, part)
            seconds = round(time.monotonic() - began)
            print(f"part {name}: {'passed' if passed else 'FAILED'}, {seconds} s", flush=True)
            if not passed:
                failed.append(name)
            elif part == PARTS[name] and name not in ("test", "grants"):
                _record(name, commit, seconds, obstacle)
    finally:
        host.stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(f"{seconds:.0f} s of processors (user and system), engines included", flush=True)
    return not failed


def _run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    with subprocess.Popen(command, cwd=ROOT, process_group=0, **options) as process:
        _groups.add(process.pid)
        try:
            output, _ = process.communicate()
        finally:
            process.wait()
            _groups.remove(process.pid)
        return subprocess.CompletedProcess(command, process.returncode, output)


def _find_obstacle() -> str:
    """Return why a part that passes now is no proof, or an empty text."""
    runs = (pytest_run for part in PARTS.values() for pytest_run in part.runs)
    variables = {*AMOUNTS, *_VARIABLES, *(name for row in runs for name in row.environment)}
    if overridden := sorted(variables & set(os.environ)):
        return f"the environment has {', '.join(overridden)}"
    if "CI" in os.environ:
        return "continuous integration only reads the record"
    return "" if proofs.is_clean() else "there are uncommitted changes"


def _record(name: str, commit: str, seconds: int, obstacle: str) -> None:
    if not obstacle and (commit != proofs.head_commit() or not proofs.is_clean()):
        obstacle = "files changed while it ran"
    if obstacle:
        print(f"part {name}: not recorded: {obstacle}", flush=True)
        return
    digest = proofs.inputs_digest(inputs(name), proofs.file_blobs())
    proofs.keep_used_grants(name, RECORDS / f"{name}.jsonl")
    proof = proofs.Proof(commit[:12], digest, seconds)
    proofs.write_proofs({**proofs.read_proofs(), name: proof})


def _check_grants() -> bool:
    """Compare the grants of functions with those that parts used, now or when last proved."""
    kept = {path.name: path for path in proofs.USED_GRANTS.glob("*.jsonl")}
    recorded = sorted(RECORDS.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    texts = [path.read_text(encoding="utf-8") for path in (*kept.values(), *recorded)]
    record = ROOT / "build" / "grants.jsonl"
    record.write_text("".join(texts), encoding="utf-8")
    environment = {**os.environ, _GRANTS_RECORD: str(record)}
    return not any(
        _run(pytest_run.command(), env=environment).returncode for pytest_run in GRANTS.runs
    )


def _print_parts() -> None:
    record = proofs.read_proofs()
    due = set(changes.due_parts(record))
    for name, part in PARTS.items():
        proof = record.get(name)
        state = f"passed at {proof.commit} in {proof.seconds} s" if proof else "no record"
        print(f"{name:<12} {state}{', due' if name in due else ''}: {part.shows}")


def _run_continuous_integration() -> bool:
    record = proofs.read_proofs()
    parts = changes.parts_to_run(record)
    for name in changes.due_parts(record):
        if name in parts and parts[name] == PARTS[name]:
            continue
        passed_at = record[name].commit if name in record else "no commit"
        part = ", some of it runs now" if name in parts else ""
        print(f"due: {name} (passed at {passed_at}{part})", flush=True)
    passed = run_all(parts)
    return _check_grants() and passed


def main(arguments: Sequence[str]) -> int:
    """Run parts by name, or a command; 0 if all passed, 1 if not, 2 if a name is unknown."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(signum, end_groups)
    try:
        return _main(arguments)
    finally:
        _kill(_ended, signal.SIGKILL)  # what ignored the signal


def _main(arguments: Sequence[str]) -> int:
    match list(arguments):
        case []:
            _print_parts()
        case ["affected"]:
            print("\n".join(changes.due_parts(proofs.read_proofs())))
        case ["ci"]:
            return 0 if _run_continuous_integration() else 1
        case ["grants"]:
            return 0 if _check_grants() else 1
        case names if unknown := [name for name in names if name not in PARTS]:
            known = " ".join(PARTS)
            print(f"unknown parts: {' '.join(unknown)}; there are {known}", file=sys.stderr)
            return 2
        case names:
            return 0 if run_all({name: PARTS[name] for name in names}) else 1
    return 0
