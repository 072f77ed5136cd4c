"""A program that imports modules of the package, each in a process in which it is the first.

Its argument is the number of modules: those that MLflow loads as plugins, then random others. It
prints the modules after which MLflow lacks a plugin of the package, with the reason, as JSON. The
processes are forked from one that has loaded all but MLflow and the package: each takes a second.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import distribution
from itertools import zip_longest
from typing import Any

import vitrine_mlflow

_OWN = ("mlflow", "vitrine_mlflow")


def main() -> None:
    infos = pkgutil.walk_packages(vitrine_mlflow.__path__, "vitrine_mlflow.")
    names = {
        "vitrine_mlflow",
        *(module.name for module in infos if not module.name.endswith("__main__")),
    }
    plugins = {point.module for point in distribution("vitrine-mlflow").entry_points} & names
    others = sorted(names - plugins)
    random.shuffle(others)  # a failure names its modules, so no seed is printed
    modules = [*sorted(plugins), *others][: int(sys.argv[1])]
    for name in json.loads(_in_fork(lambda: json.dumps(_others(modules)))()):
        # names such as those of extension modules inside others cannot be imported by themselves
        with contextlib.suppress(ImportError), warnings.catch_warnings(action="ignore"):
            importlib.import_module(name)
    for name in [name for name in sys.modules if name.split(".")[0] in _OWN]:
        sys.modules.pop(name)
    gc.freeze()  # children collect nothing and share the parent's memory
    gc.disable()
    results: dict[str, str] = {}
    for two in zip_longest(modules[::2], modules[1::2]):
        started = {name: _in_fork(partial(_fault, name)) for name in two if name}
        results |= {name: result() for name, result in started.items()}
    faults = {name: fault for name, fault in results.items() if fault}
    sys.stdout.write(json.dumps({"modules": modules, "faults": faults}))


def _others(modules: list[str]) -> list[str]:
    with warnings.catch_warnings(action="ignore"):
        for name in modules:
            importlib.import_module(name)
    return [name for name in sys.modules if name.split(".")[0] not in (*_OWN, "__main__")]


def _fault(name: str) -> str:
    """Import a module, then MLflow; return MLflow's reports about the package's plugins."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        importlib.import_module(name)
        if "mlflow" not in sys.modules and name != _OWN[1]:
            return ""  # loaded to its end before MLflow loads the plugins, as the package is
        from mlflow.data import dataset_source_registry as sources
        from mlflow.data.dataset_source import DatasetSource
        from mlflow.exceptions import MlflowException
        from mlflow.store.artifact import artifact_repository_registry as artifacts
        from mlflow.tracking._workspace.registry import get_workspace_store

        # loads the last plugins; the address is refused before anything is requested
        with contextlib.suppress(MlflowException):
            get_workspace_store("dynamodb://")
    faults = [str(warning.message) for warning in caught if "Failure" in str(warning.message)]
    if "vitrine" not in artifacts.get_registered_artifact_repositories():
        faults.append("artifacts: not registered")
    known: list[Any] = sources.get_registered_sources()
    kinds = [kind for kind in known if kind._get_source_type() == "vitrine"]
    if [kind.__name__ for kind in kinds] != ["VitrineDatasetSource"]:
        faults.append(f"sources of datasets: {kinds}")
    elif not issubclass(kinds[0], DatasetSource):
        faults.append(f"{kinds[0]} is no DatasetSource")
    return "; ".join(faults)


def _in_fork(work: Callable[[], str]) -> Callable[[], str]:
    """Start a function in a process of its own.

    Return a function that returns its result or error.
    """
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(writable, "w") as output:
            try:
                output.write(work())
            finally:
                if sys.exc_info()[1] is not None:
                    traceback.print_exc(file=output)
                output.flush()
                os._exit(0)
    os.close(writable)

    def result() -> str:
        with os.fdopen(readable) as text:
            returned = text.read()
        os.waitpid(child, 0)
        return returned

    return result


if __name__ == "__main__":
    main()
