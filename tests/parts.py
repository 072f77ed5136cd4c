"""The parts of the tests.

`python -m tests.parts NAME...` runs parts one after another on the same engines, prints the seconds
of each, and returns 1 if one of them failed. `make test` and `make prove` call it. Whole parts that
pass are recorded (`tests.proofs`).

`python -m tests.parts` lists the parts, `affected` those that are due, and `ci` runs what
continuous integration runs after `make test`: parts and files by what changed (`tests.changes`).
`tests.running` is the program.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.amounts import AMOUNTS

CORES = int(os.environ.get("CORES", "2"))
# Workers share engines and run a file's tests one after another. (The groups of xdist 3.8 have no
# effect with pytest 9.2.) Tests on engines wait for about a sixth of their time: one worker more.
_SHARING = ("-q", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "20")
WORKERS = (*_SHARING, "-n", str(CORES))
ENGINE_WORKERS = (*_SHARING, "-n", str(CORES + 1))
ALONE = ("-q",)
PRODUCT = (
    *("app.py", "web_page.py", "backend", "infra", "local", "client"),
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

    def settings(self, caller: Mapping[str, str]) -> dict[str, str]:
        """The environment of the run; variables of the caller take precedence."""
        many = {name: str(AMOUNTS[name].many) for name in self.amounts}
        return {**self.environment, **many, **caller}


# Files on which every part depends.
SHARED = (
    *("backend", "local", "web_page.py", "Makefile", "pyproject.toml", "requirements.txt"),
    *("tests/__init__.py", "tests/amounts.py", "tests/conftest.py", "tests/engines.py"),
    *("tests/parts.py", "tests/wording.py", "tests/factories", "tests/fakes", "tests/model"),
)
RUNTIME = ("app.py", "cdk.json", "infra", "client", "samples")
"""The files of the local runtime, beside `SHARED`."""


class Part(NamedTuple):
    """Runs with a name."""

    shows: str
    """The promise that the part tests, as the list of parts prints it."""
    runs: tuple[Run, ...]
    needs: tuple[str, ...]
    """Files and folders that can change the result, beside `SHARED` and those of its tests."""
    beside: tuple[tuple[str, ...], ...] = ()
    """Commands that run at the same time as the tests; their output is printed last."""
    command: tuple[str, ...] = ()
    """The command of a part that is no run of pytest."""


def _files(folder: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/test_{name}.py" for name in names)


# Each takes 2 to 17 s of a processor, together a third of what all unit tests take; `make test`
# is to end within five minutes.
LARGE = (
    *_files("tests/infra", "alarms", "app"),
    *_files("tests/unit/large", "dying_file_changes", "list_bytes"),
    *("tests/unit/benchmarks", "tests/unit/model/test_model.py"),
    *_files("tests/unit/aws", "clients", "function_calls"),
    *_files("tests/unit/client", "habits", "poor_replies"),
    *_files("tests/unit/core", "metadata_values"),
    *_files("tests/unit/domains/access/constraints", "writing"),
    *_files("tests/unit/domains/access/policy", "predicate"),
    *_files("tests/unit/domains/asset_links", "histories"),
    *_files("tests/unit/domains/asset_versions", "making", "memory"),
    *_files("tests/unit/domains/assets", "reading"),
    *_files("tests/unit/domains/audit", "entries"),
    *_files("tests/unit/domains/database_purges", "purging"),
    *_files("tests/unit/domains/identity", "users"),
    *_files("tests/unit/domains/uploads", "large_file_crashes", "renew"),
    *_files("tests/unit/entrypoints", "bad_credentials", "bootstrap"),
    *_files("tests/unit/local", "serve"),
    *_files("tests/unit/local/pumps", "events", "queues"),
    *_files("tests/unit/processing", "headers"),
    *_files("tests/unit/samples", "samples"),
    *_files("tests/unit/search", "consistency", "freshness", "histories", "rebuild", "reindex"),
    *_files("tests/unit/tracking", "keys"),
)
# The permission matrix tests each route in CI; the part `attacks` runs these under many policies.
GENERATED = "tests/unit/large/generated"
TEST = Part(
    "unit, architecture and infra tests, tables on DynamoDB Local, one journey, types, the page",
    (
        Run(
            # the journey first: types are checked while it waits for engines
            (
                *("tests/journeys/main", "tests/contract/tables"),
                *("tests/infra", "tests/architecture", "tests/unit"),
            ),
            WORKERS,
            without=(*LARGE, GENERATED),
            environment=ENVIRONMENT,
        ),
    ),
    needs=(),
    beside=((PYRIGHT, *PRODUCT), ("make", "web-test")),
)
# Kills the S3 server after each change of a file: needed where its patch or release changes.
CHANGES = "tests/kills/engines/test_s3_changes.py"
DOCS = ("tests/journeys/docs",)
ALWAYS = ("page",)
"""The parts that continuous integration runs whatever changed, beside `test` and `grants`."""
SHORT: Mapping[str, Part] = {
    "page": Part(
        "the budgets of the page's size; sign in, find, look and upload in a browser; types of the "
        "tests",
        (),
        needs=(*RUNTIME, "web"),
        beside=((PYRIGHT, "tests"),),
        command=("make", "web-size", "web-smoke"),
    ),
    "contract": Part(
        "each port on every engine except tables; lists at their largest; file changes that end at "
        "any request; starts of handlers; cfn-lint, cdk-nag and bandit",
        (
            Run(
                (*LARGE, "tests/contract"),
                without=("tests/contract/tables",),
                environment=ENVIRONMENT,
            ),
        ),
        needs=(
            *(*RUNTIME, "tracking", "benchmarks", "docs/idle_costs.py", "docs/tables.py"),
            *("tests/unit", "tests/infra", "tests/routes", "tests/cloudformation"),
        ),
    ),
    "integration": Part(
        "parts of the product on real engines: indexing, search, files, jobs, the local runtime",
        (
            Run(
                ("tests/integration",),
                without=("tests/integration/processing", "tests/integration/tracking"),
                environment=ENVIRONMENT,
            ),
        ),
        needs=(*RUNTIME, "tests/unit/processing", "tests/unit/conftest.py"),
    ),
    "journeys": Part(
        "what clients see over HTTP, attacks included; every route against the OpenAPI document",
        (
            Run(
                ("tests/journeys",),
                without=(
                    *DOCS,
                    *(f"tests/journeys/{folder}" for folder in ("long", "main", "tracking")),
                ),
                environment=ENVIRONMENT,
            ),
        ),
        needs=(*RUNTIME, "tests/events", "tests/unit/processing", "tests/unit/conftest.py"),
    ),
    "docs": Part(
        "the commands of README and guides that no journey runs",
        (Run(DOCS, environment=ENVIRONMENT),),
        needs=(
            *(*RUNTIME, "web", "docs", "tests/journeys"),
            *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
        ),
    ),
    "tracking": Part(
        "the MLflow store on DynamoDB Local, compared with MLflow's own; links to assets",
        (
            Run(
                ("tests/integration/tracking", "tests/journeys/tracking"),
                environment=ENVIRONMENT,
            ),
        ),
        needs=(*RUNTIME, "tracking", "docs", "tests/integration", "tests/journeys"),
    ),
    "processing": Part(
        "hostile files in the confined process that reads them",
        (Run(("tests/integration/processing",), WORKERS, environment=ENVIRONMENT),),
        needs=(
            "samples",
            *("tests/unit/conftest.py", "tests/unit/processing", "tests/integration"),
        ),
    ),
    "costs": Part(
        "handlers make the requests that the page on costs lists; sizes of layers",
        # Requests and bytes are counted; the benchmarks, which measure times, are in `scale`.
        (Run(("tests/costs",), WORKERS),),
        needs=(*RUNTIME, "tracking", "benchmarks", "docs", "tests/integration"),
    ),
    "kills": Part(
        "engines, workers and the runtime are killed, engines are unavailable: no acknowledged "
        "write is lost, and the indexes match the tables afterwards",
        (Run(("tests/kills",), without=(CHANGES,), environment=ENVIRONMENT),),
        needs=(*RUNTIME, "tests/integration", "tests/journeys"),
    ),
}
"""The parts that together take half an hour."""
GRANTS = Part(
    "each grant of a function is used by a part, or has a reason",
    (Run(("tests/grants",), ALONE),),
    needs=(),
)
_SEARCH = "tests/integration/search"
_JOURNEYS = (*RUNTIME, "tests/journeys", "tests/integration", "tests/kills", "tests/events")
LONG: Mapping[str, Part] = {
    "web": Part(
        "types and lint of the page, its size, and all walks in a browser; a file of each promised "
        "format in its viewer",
        (),
        needs=(*RUNTIME, "web", "tests/format_files.py", "tests/unit/processing"),
        command=("make", "web-lint", "web-size", "web-e2e", "web-formats"),
    ),
    "histories": Part(
        "random histories of the indexing path and of the product in memory end as the model says",
        (
            Run(
                ("tests/unit/search/test_histories.py", "tests/unit/model"),
                ("-q", "-n", str(CORES)),
                without=_files("tests/unit/model", "found"),
                amounts=("HISTORIES", "MODEL_HISTORIES"),
            ),
        ),
        needs=("tests/unit/search", "tests/unit/conftest.py"),
    ),
    "engines": Part(
        "random histories of the product on engines; the S3 server is killed after each change, "
        "the publisher of events a hundred times",
        (
            Run(
                ("tests/integration/model", CHANGES, "tests/kills/test_event_publisher.py"),
                ALONE,
                amounts=("ENGINE_HISTORIES", "EVENT_KILLS"),
            ),
        ),
        needs=("tests/integration", "tests/kills"),
    ),
    "policies": Part(
        "searches under random rules return what an independent evaluation allows",
        (
            Run(
                ("tests/unit/domains/access/policy", *_files(_SEARCH, "permissions")),
                ("-q", "-n", str(CORES)),
                amounts=("POLICIES", "SEARCH_POLICIES"),
            ),
        ),
        needs=("tests/unit", "tests/integration", "tests/routes"),
    ),
    "lifecycles": Part(
        "many clients on one asset for a minute; everything is killed amid seven kinds of work; an "
        "upload of 2 GiB, a reindex and changes of 300 files are killed",
        (
            Run(
                ("tests/journeys/test_concurrency.py", "tests/journeys/test_versions.py"),
                ALONE,
                amounts=("CONCURRENCY_SECONDS", "VERSION_CLIENTS"),
            ),
            Run(
                _files("tests/journeys/long", "one_kill", "two_gibibytes"),
                ALONE,
            ),
        ),
        needs=_JOURNEYS,
    ),
    "moto": Part(
        "the unit tests with moto instead of tables in memory",
        (
            Run(
                (
                    "tests/unit/domains",
                    "tests/unit/large",
                    "tests/unit/search",
                    "tests/unit/operations",
                ),
                ("-q", "-n", str(CORES)),
                without=(GENERATED,),
                environment={"TABLES": "moto"},
            ),
        ),
        needs=(*_JOURNEYS, "benchmarks", "tests/routes", "tests/unit/conftest.py"),
    ),
    "models": Part(
        "every file of Debian's assimp-testmodels is read and found; a thousand uploads at once; "
        "ten thousand outputs of a pipeline",
        (
            Run(
                ("tests/models", *_files("tests/journeys/long", "thousand_uploads")),
                ("-q", "-s"),
            ),
        ),
        needs=(*_JOURNEYS, "benchmarks", "tests/unit/processing", "tests/unit/conftest.py"),
    ),
    "sandbox": Part(
        "the product where functions are refused the system calls that Lambda is said to refuse",
        (Run(("tests/sandbox",), ALONE),),
        needs=(*_JOURNEYS, "tests/unit/processing", "tests/unit/conftest.py"),
    ),
    "deploy": Part(
        "the CDK command deploys, changes, upgrades and destroys `prod` on a stand-in of "
        "CloudFormation, by the commands of the guide",
        (Run(("tests/deploy",), ALONE),),
        needs=(*_JOURNEYS, "docs", "tests/cloudformation", "tests/infra"),
    ),
    "fuzz": Part(
        "replies of every operation match the OpenAPI document; linters and generators accept it",
        (
            Run(
                ("tests/openapi", *_files("tests/journeys", "contract")),
                ALONE,
                amounts=("FUZZ_EXAMPLES",),
                environment={"FUZZ_PHASES": "examples,coverage,fuzzing"},
            ),
        ),
        needs=(*_JOURNEYS, "benchmarks", "docs", "tests/architecture"),
    ),
    "attacks": Part(
        "every route under generated policies; search survives huge metadata; hostile requests "
        "beside 31 clients",
        (
            Run((GENERATED,), ALONE, amounts=("POLICIES",)),
            Run(_files("tests/journeys/long", "hostile_client"), ALONE),
        ),
        needs=(*_JOURNEYS, "tests/unit", "tests/routes"),
    ),
    "searches": Part(
        "every generated search returns hits or an error that names the field, within 5 s",
        (Run(_files(_SEARCH, "generated_queries"), ALONE, amounts=("SEARCHES",)),),
        needs=("tests/integration",),
    ),
    "scale": Part(
        "both benchmarks run to their end; latency of searches while the indexes grow to a million",
        (Run(("tests/benchmarks",), ALONE),),
        needs=(*RUNTIME, "benchmarks", "tracking", "tests/integration"),
        command=(
            *(sys.executable, "-m", "benchmarks.scale", "--minutes", "15"),
            *("--documents", os.environ.get("DOCUMENTS", "1000000")),
        ),
    ),
    "mlflow": Part(
        "random histories of every operation equal those of MLflow's own store; a whole server",
        (
            Run(
                _files(
                    "tests/integration/tracking",
                    *("differential", "registry", "evaluation", "import_order"),
                ),
                ("-q", "-n", str(CORES)),
                amounts=(
                    *("MLFLOW_HISTORIES", "MLFLOW_TRACE_HISTORIES", "MLFLOW_REGISTRY_HISTORIES"),
                    "IMPORTED_MODULES",
                ),
            ),
            Run(_files("tests/journeys/long", "mlflow_server"), ALONE),
        ),
        needs=(*_JOURNEYS, "tracking"),
    ),
}
"""The parts that take longer, together 3½ hours."""
PARTS: Mapping[str, Part] = {"test": TEST, **SHORT, "grants": GRANTS, **LONG}


def inputs(name: str) -> tuple[str, ...]:
    """Return the files and folders that can change whether a part passes."""
    part = PARTS[name]
    own = (path for pytest_run in part.runs for path in pytest_run.paths)
    return (*SHARED, *part.needs, *own)


if __name__ == "__main__":
    from tests.running import main  # it imports this module, by its name

    sys.exit(main(sys.argv[1:]))
