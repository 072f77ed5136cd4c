"""The parts of the tests, and the program that runs them.

`python -m tests.parts NAME...` runs parts one after another on the same engines, prints the seconds
of each, and returns 1 if one of them failed. `make test` and `make prove` call it.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.amounts import AMOUNTS
from tests.engines import HOST_FOLDER, EngineHost

ROOT = Path(__file__).parents[1]
CORES = int(os.environ.get("CORES", "2"))
# Workers share engines and run a file's tests one after another. (The groups of xdist 3.8 have no
# effect with pytest 9.2.) Tests on engines wait for about a sixth of their time: one worker more.
_SHARING = ("-q", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "20")
WORKERS = (*_SHARING, "-n", str(CORES))
ENGINE_WORKERS = (*_SHARING, "-n", str(CORES + 1))
ALONE = ("-q",)
PRODUCT = (
    *("app.py", "backend", "infra", "local", "client"),
    *("tracking", "samples", "benchmarks", "docs"),
)
PYRIGHT = str(Path(sys.executable).with_name("pyright"))
ENVIRONMENT = {
    # Workers keep processes of many functions busy at once: each start takes half a second.
    "VITRINE_FUNCTION_PROCESSES": "96",
    # Engines run for minutes: the optimizing compiler would take a third of their processor time.
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
}
"""Settings of the parts that do not measure speed."""


class Run(NamedTuple):
    """One run of pytest."""

    paths: tuple[str, ...]
    options: tuple[str, ...] = ENGINE_WORKERS
    without: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    """Variables of `tests.amounts` of which this run does many."""
    environment: Mapping[str, str] = {}

    def command(self) -> list[str]:
        ignored = [f"--ignore={path}" for path in self.without]
        return [sys.executable, "-m", "pytest", *self.options, *self.paths, *ignored]

    def settings(self) -> dict[str, str]:
        """The environment of the run; variables of the caller take precedence."""
        many = {name: str(AMOUNTS[name].many) for name in self.amounts}
        return {**self.environment, **many, **os.environ}


class Part(NamedTuple):
    """Runs with a name."""

    runs: tuple[Run, ...]
    beside: tuple[tuple[str, ...], ...] = ()
    """Commands that run at the same time as the tests; their output is printed last."""
    command: tuple[str, ...] = ()
    """The command of a part that is no run of pytest."""


def _files(folder: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/test_{name}.py" for name in names)


# Each takes 3 to 11 s of a processor, together a fifth of what all unit tests take; `make test`
# is to end within five minutes.
LARGE = (
    *("tests/unit/large", "tests/unit/benchmarks", "tests/unit/model/test_model.py"),
    *_files("tests/unit/aws", "function_calls"),
    *_files("tests/unit/client", "habits"),
    *_files("tests/unit/core", "metadata_values"),
    *_files("tests/unit/domains/access/constraints", "writing"),
    *_files("tests/unit/domains/access/policy", "predicate", "reduction"),
    *_files("tests/unit/domains/asset_versions", "making", "within_requests"),
    *_files("tests/unit/domains/assets", "reading"),
    *_files("tests/unit/domains/audit", "entries"),
    *_files("tests/unit/domains/database_purges", "purging"),
    *_files("tests/unit/domains/identity", "users"),
    *_files("tests/unit/domains/uploads", "large_file_crashes", "renew"),
    *_files("tests/unit/entrypoints", "bad_credentials", "bootstrap"),
    *_files("tests/unit/processing", "endings"),
    *_files("tests/unit/samples", "samples"),
    *_files("tests/unit/search", "consistency", "freshness", "histories", "rebuild", "reindex"),
    *_files("tests/unit/tracking", "keys"),
)
TEST = Part(
    (
        Run(
            # the journey first: types are checked while it waits for engines
            (
                *("tests/journeys/main", "tests/contract/tables"),
                *("tests/infra", "tests/architecture", "tests/unit"),
            ),
            WORKERS,
            without=LARGE,
            environment=ENVIRONMENT,
        ),
    ),
    beside=((PYRIGHT, *PRODUCT), ("make", "web-test")),
)
# Kills the S3 server after each change of a file: needed where its patch or release changes.
CHANGES = "tests/kills/engines/test_s3_changes.py"
CI: Mapping[str, Part] = {
    "contract": Part(
        (
            Run(
                (*LARGE, "tests/contract"),
                without=("tests/contract/tables",),
                environment=ENVIRONMENT,
            ),
        ),
        beside=((PYRIGHT, "tests"),),
    ),
    "integration": Part(
        (
            Run(
                ("tests/integration",),
                without=("tests/integration/processing", "tests/integration/tracking"),
                environment=ENVIRONMENT,
            ),
        )
    ),
    "journeys": Part(
        (
            Run(
                ("tests/journeys",),
                without=tuple(f"tests/journeys/{each}" for each in ("long", "main", "tracking")),
                environment=ENVIRONMENT,
            ),
        )
    ),
    "tracking": Part(
        (Run(("tests/integration/tracking", "tests/journeys/tracking"), environment=ENVIRONMENT),)
    ),
    "processing": Part((Run(("tests/integration/processing",), WORKERS, environment=ENVIRONMENT),)),
    "kills": Part((Run(("tests/kills",), without=(CHANGES,), environment=ENVIRONMENT),)),
    # Requests and bytes are counted; benchmarks measure times, which no test limits.
    "costs": Part((Run(("tests/costs",), WORKERS),)),
    "page": Part((), command=("make", "web-size", "web-smoke")),
}
"""The parts of continuous integration after `make test`."""


GRANTS = Part((Run(("tests/grants",), ALONE),))
_SEARCH = "tests/integration/search"
LONG: Mapping[str, Part] = {
    "web": Part((), command=("make", "web-lint", "web-size", "web-e2e")),
    "histories": Part(
        (
            Run(
                ("tests/unit/search/test_histories.py", "tests/unit/model"),
                ("-q", "-n", str(CORES)),
                without=_files("tests/unit/model", "found"),
                amounts=("HISTORIES", "MODEL_HISTORIES"),
            ),
        )
    ),
    "engines": Part(
        (Run(("tests/integration/model", CHANGES), ALONE, amounts=("ENGINE_HISTORIES",)),)
    ),
    "policies": Part(
        (
            Run(
                ("tests/unit/domains/access/policy", *_files(_SEARCH, "permissions")),
                ("-q", "-n", str(CORES)),
                amounts=("POLICIES", "SEARCH_POLICIES"),
            ),
        )
    ),
    "lifecycles": Part(
        (
            Run(
                ("tests/journeys/test_concurrency.py", "tests/journeys/test_versions.py"),
                ALONE,
                amounts=("CONCURRENCY_SECONDS", "VERSION_CLIENTS"),
            ),
            Run(
                _files(
                    "tests/journeys/long",
                    *("lifecycle_kills", "one_kill", "reindex_kills", "two_gibibytes"),
                ),
                ALONE,
            ),
        )
    ),
    "moto": Part(
        (
            Run(
                (
                    "tests/unit/domains",
                    "tests/unit/large",
                    "tests/unit/search",
                    "tests/unit/operations",
                ),
                ("-q", "-n", str(CORES)),
                environment={"TABLES": "moto"},
            ),
        )
    ),
    "models": Part(
        (
            Run(
                (
                    "tests/models",
                    *_files("tests/journeys/long", "debian_models", "thousand_uploads"),
                    *_files("tests/journeys/long", "many_outputs"),
                ),
                ("-q", "-s"),
            ),
        )
    ),
    "sandbox": Part((Run(("tests/sandbox",), ALONE),)),
    "deploy": Part((Run(("tests/deploy",), ALONE),)),
    "fuzz": Part(
        (
            Run(
                ("tests/openapi", *_files("tests/journeys/long", "contract")),
                ALONE,
                amounts=("FUZZ_EXAMPLES",),
                environment={"FUZZ_PHASES": "examples,coverage,fuzzing"},
            ),
        )
    ),
    "attacks": Part(
        (
            Run(("tests/unit/large/generated",), ALONE, amounts=("POLICIES",)),
            Run(_files("tests/journeys/long", "search_bombs", "hostile_client"), ALONE),
        )
    ),
    "searches": Part(
        (Run(_files(_SEARCH, "generated_queries"), ALONE, amounts=("SEARCHES",)),),
    ),
    "scale": Part(
        (),
        command=(
            *(sys.executable, "-m", "benchmarks.scale", "--minutes", "15"),
            *("--documents", os.environ.get("DOCUMENTS", "1000000")),
        ),
    ),
    "mlflow": Part(
        (
            Run(
                _files(
                    "tests/integration/tracking",
                    *("differential", "traces_differential", "registry_differential"),
                    *("logged_models", "evaluation", "import_order"),
                ),
                ("-q", "-n", str(CORES)),
                amounts=(
                    *("MLFLOW_HISTORIES", "MLFLOW_TRACE_HISTORIES", "MLFLOW_REGISTRY_HISTORIES"),
                    "IMPORTED_MODULES",
                ),
            ),
            Run(_files("tests/journeys/long", "mlflow_server", "tracking_demo"), ALONE),
        )
    ),
}
"""The parts that take longer; `docs/guides/proofs.md` has their times."""
PARTS: Mapping[str, Part] = {"test": TEST, **CI, "grants": GRANTS, **LONG}


def run(part: Part) -> bool:
    """Run a part to its end, and return whether all of it passed."""
    with ThreadPoolExecutor(1) as aside:
        checks = [aside.submit(_printed, command) for command in part.beside]
        codes = [
            subprocess.run(each.command(), cwd=ROOT, env=each.settings(), check=False).returncode
            for each in part.runs
        ]
        if part.command:
            codes.append(subprocess.run(part.command, cwd=ROOT, check=False).returncode)
        for command, check in zip(part.beside, checks, strict=True):
            done = check.result()
            print(f"{Path(command[0]).name} {' '.join(command[1:])}:", done.stdout, flush=True)
            codes.append(done.returncode)
    return not any(codes)


def _printed(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a command; keep its output."""
    return subprocess.run(
        command, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def main(names: Sequence[str]) -> int:
    """Run parts by name; 0 if all passed, 2 if a name is unknown."""
    if unknown := [name for name in names if name not in PARTS]:
        print(f"unknown parts: {' '.join(unknown)}; there are {' '.join(PARTS)}", file=sys.stderr)
        return 2
    host = EngineHost()
    os.environ[HOST_FOLDER] = str(host.folder)
    failed: list[str] = []
    try:
        for name in names:
            began = time.monotonic()
            passed = run(PARTS[name])
            verdict = "passed" if passed else "FAILED"
            print(f"part {name}: {verdict}, {time.monotonic() - began:.0f} s", flush=True)
            failed += [] if passed else [name]
    finally:
        host.stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(f"{seconds:.0f} s of processors (user and system), engines included", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
