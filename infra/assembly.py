"""The app: all stacks of a deployment, in their order, from the settings of its stage."""

import tempfile
from pathlib import Path

from aws_cdk import App, Stack

from infra.assets import prepare
from infra.resources import Resources
from infra.settings import default_context, read_settings
from infra.stacks.api import ApiStack
from infra.stacks.bootstrap import BootstrapStack
from infra.stacks.indexing import IndexingStack
from infra.stacks.search import SearchStack
from infra.stacks.storage import StorageStack

_REPRODUCIBLE: dict[str, object] = {
    # Where a construct was made: folders of this machine and of the kernel's own, new each time.
    "aws:cdk:disable-stack-trace": True,
}


def build(outdir: str, context: dict[str, object] | None = None) -> App:
    """The app with its stacks; `context` comes before cdk.json's and after `CDK_CONTEXT_JSON`.

    Raises:
        SettingsError: a setting is missing, unknown or wrong.
        LayerBuildError: the dependency layer was asked for and could not be built.
    """
    app = App(
        outdir=outdir,
        context=default_context() | _REPRODUCIBLE | (context or {}),
        analytics_reporting=False,
        tree_metadata=False,
    )
    settings = read_settings(app.node.try_get_context)
    resources = Resources()
    prefix = f"vitrine-{settings.stage}"
    # CDK copies the folders while the stacks are made; nothing refers to them afterwards.
    with tempfile.TemporaryDirectory(prefix="vitrine-assets-") as folder:
        folders = prepare(Path(folder), bundle=settings.bundle)
        storage = StorageStack(app, f"{prefix}-storage", settings=settings, resources=resources)
        before: list[Stack] = [storage]
        if settings.search == "provisioned":
            before.append(
                SearchStack(app, f"{prefix}-search", settings=settings, resources=resources)
            )
        bootstrap = BootstrapStack(
            app, f"{prefix}-bootstrap", settings=settings, resources=resources, folders=folders
        )
        after: list[Stack] = [
            ApiStack(app, f"{prefix}-api", settings=settings, resources=resources, folders=folders)
        ]
        if settings.search == "provisioned":
            after.append(
                IndexingStack(
                    app,
                    f"{prefix}-indexing",
                    settings=settings,
                    resources=resources,
                    folders=folders,
                )
            )
    for stack in before:
        bootstrap.add_stack_dependency(stack)
    for stack in after:
        stack.add_stack_dependency(bootstrap)
    return app
