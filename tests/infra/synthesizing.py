"""`python -m tests.infra.synthesizing FOLDER ASSEMBLIES`: write assemblies for tests.

One process writes several, because loading CDK and starting its kernel takes longer than an
assembly. The assemblies are JSON: folders with their contexts, in order.

An assembly may be of an incomplete product: its entry names a function, or a queue and whether it
is `unused` (declared, but nothing uses it) or `gone`. Later ones lack it too.
"""

import json
import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from backend.spec import functions, queues


def leave_out(function: str | None, unused: str | None, gone: str | None) -> None:
    """Change the declarations, before the modules of `infra` that read them are imported."""
    queue = unused or gone
    queues.STREAM_SUBSCRIPTIONS = tuple(
        s for s in queues.STREAM_SUBSCRIPTIONS if s.consumer != function
    )
    queues.QUEUE_SUBSCRIPTIONS = tuple(
        s
        for s in queues.QUEUE_SUBSCRIPTIONS
        if s.consumer != function and s.source.name not in (function, queue)
    )
    functions.FUNCTIONS = tuple(
        replace(
            spec,
            sends=tuple(sent for sent in spec.sends if sent.name != queue),
            redrives=tuple(redriven for redriven in spec.redrives if redriven.name != queue),
        )
        for spec in functions.FUNCTIONS
        if spec.name != function
    )
    queues.QUEUES = tuple(item for item in queues.QUEUES if item.name != gone)


def synthesize(folder: Path, context: dict[str, object], *, nag: bool) -> None:
    """Write one assembly as it is deployed, but without the packages of its layers."""
    from infra import assembly, assets, page  # before `aws_cdk`, because it chooses Node

    def prepare(target: Path, *, bundle: bool) -> assets.Folders:
        return assets.prepare(target, bundle=False)

    def prepare_page(target: Path, *, bundle: bool) -> page.Page:
        return page.prepare_page(target, bundle=False)

    assembly.prepare = prepare
    assembly.prepare_page = prepare_page
    app = assembly.build(str(folder), context)
    if nag:
        from aws_cdk import Validations
        from cdk_nag import AwsSolutionsChecks

        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    # Violated rules fail the synthesis after the assembly and the report of the rules are written.
    with suppress(RuntimeError) if nag else nullcontext():
        app.synth()


def main(folder: str, assemblies: str) -> None:
    for name, entry in json.loads(assemblies).items():
        if without := entry.get("without"):
            leave_out(without.get("function"), without.get("unused"), without.get("gone"))
            for module in [m for m in sys.modules if m == "infra" or m.startswith("infra.")]:
                del sys.modules[module]
        synthesize(Path(folder) / name, entry["context"], nag=entry.get("nag", False))


if __name__ == "__main__":
    main(*sys.argv[1:])
