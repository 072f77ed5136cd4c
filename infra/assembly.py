"""The app: all stacks of a deployment, in their order, from the settings of its stage."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, cast

from aws_cdk import Annotations, App, Stack, Tags

from infra.assets import PYTHON, Folders, prepare
from infra.constructs.alarms import Alarms
from infra.constructs.state_machine import state_machine_arn
from infra.page import Page, prepare_page
from infra.resources import Resources
from infra.settings import Settings, SettingsError, default_context, read_settings
from infra.stacks.alarms import AlarmsStack
from infra.stacks.api import ApiStack
from infra.stacks.bootstrap import BootstrapStack
from infra.stacks.indexing import IndexingStack
from infra.stacks.pipelines import PipelinesStack
from infra.stacks.probe import ProbeStack
from infra.stacks.search import SearchStack
from infra.stacks.storage import StorageStack
from infra.stacks.tracking import TrackingStack
from infra.stacks.web import WebStack

_REPRODUCIBLE: dict[str, object] = {
    # Where a construct was created: paths of this machine and of the kernel, which differ in each
    # run.
    "aws:cdk:disable-stack-trace": True,
}


DEFAULT_STAGE = "local"
"""The stage if none is named; the CDK command requires one."""


class _Common(TypedDict):
    """The common arguments of all stacks."""

    settings: Settings
    resources: Resources


def build(
    outdir: str,
    context: dict[str, object] | None = None,
    *,
    stage: str | None = DEFAULT_STAGE,
    region: str | None = None,
    deploys: bool = False,
) -> App:
    """Return the app with its stacks; `context` overrides cdk.json, but not `CDK_CONTEXT_JSON`.

    `stage` is used if the context names none. `region` is the target region, if it is known.
    `deploys` refuses stages that cannot be deployed, before they are synthesized.

    Raises:
        SettingsError: a setting is missing, unknown or wrong.
        LayerBuildError: the dependency layer was requested and could not be built.
        PageBuildError: the page was requested and could not be built.
    """
    app = App(
        outdir=outdir,
        context={"stage": stage} | default_context() | _REPRODUCIBLE | (context or {}),
        analytics_reporting=False,
        tree_metadata=False,
    )
    names = cast("dict[str, object]", app.node.get_all_context())
    settings = read_settings(app.node.try_get_context, names=names, region=region)
    if deploys and not settings.bundle:
        raise SettingsError(_without_packages(settings))
    # CDK copies the folders while the stacks are created; nothing refers to them afterwards.
    with tempfile.TemporaryDirectory(prefix="vitrine-assets-") as folder:
        target, bundle = Path(folder), settings.bundle
        page = prepare_page(target, bundle=bundle) if settings.page else None
        add_stacks(app, settings, prepare(target, bundle=bundle), page)
    # CloudFormation gives a stack's tags to its resources. AWS Billing groups costs by those that
    # the account activates.
    Tags.of(app).add("vitrine-stage", settings.stage, include_resource_types=["aws:cdk:stack"])
    return app


def add_stacks(app: App, settings: Settings, folders: Folders, page: Page | None = None) -> None:
    """Add storage and search, bootstrap, the stacks that need both, the page, the alarms."""
    resources = Resources(
        state_machine=state_machine_arn(settings),
        imported_buckets=settings.imported_buckets,
        imported_keys=settings.imported_keys,
    )
    prefix = f"vitrine-{settings.stage}"
    last: list[Stack] = []
    if settings.alarm_topic_arn:
        last.append(AlarmsStack(app, f"{prefix}-alarms"))
        resources.alarms = Alarms(last[0], settings.alarm_topic_arn)
    common: _Common = {"settings": settings, "resources": resources}
    has_search = settings.search == "provisioned"
    if settings.probe:
        probe = ProbeStack(app, f"{prefix}-probe", settings=settings, folders=folders)
        _allow_only_bundled(probe, settings)
    before: list[Stack] = [StorageStack(app, f"{prefix}-storage", **common)]
    if has_search:
        before.append(SearchStack(app, f"{prefix}-search", **common))
    if settings.tracking:
        before.append(TrackingStack(app, f"{prefix}-tracking", **common))
    bootstrap = BootstrapStack(app, f"{prefix}-bootstrap", **common, folders=folders)
    after: list[Stack] = [
        # Before the API, because some of its functions send to these queues, or operate them.
        IndexingStack(app, f"{prefix}-indexing", **common, folders=folders),
        PipelinesStack(app, f"{prefix}-pipelines", **common, folders=folders),
        ApiStack(app, f"{prefix}-api", **common, folders=folders),
    ]
    if page is not None:
        web = WebStack(app, f"{prefix}-web", **common, page=page)
        _deploy_after([web], after)
        last.insert(0, web)
    # The CDK command prints warnings about settings that work, but have disadvantages.
    if settings.bundle and not folders.compiled:
        Annotations.of(bootstrap).add_warning_v2(
            "vitrine:NoBytecode",
            f"no Python {PYTHON} is installed: functions compile their code at each cold start; "
            f"`.venv/bin/uv python install {PYTHON}` and synthesize again",
        )
    for number, warning in enumerate(settings.warnings()):
        Annotations.of(bootstrap).add_warning_v2(f"vitrine:Settings{number}", warning)
    _deploy_after([bootstrap], before)
    _deploy_after(after, [bootstrap])
    _deploy_after(last, [*before, bootstrap, *after])
    for stack in (*before, bootstrap, *after, *last):
        _allow_only_bundled(stack, settings)


def _deploy_after(stacks: Sequence[Stack], earlier: Sequence[Stack]) -> None:
    for stack in stacks:
        for other in earlier:
            stack.add_stack_dependency(other)


def _allow_only_bundled(stack: Stack, settings: Settings) -> None:
    """Protect deployable stacks from deletion, and make the CDK command refuse all others."""
    if settings.bundle:
        # Without it, `destroy --all` would delete all other stacks before it reaches storage.
        stack.termination_protection = True
        return
    # The app refuses such a stack before; this is for an assembly that was written without the
    # command.
    Annotations.of(stack).add_error(_without_packages(settings))


def _without_packages(settings: Settings) -> str:
    return (
        f"the stage {settings.stage} has no setting `bundle`: its functions have no packages, so "
        "they cannot run on AWS. It is for the local runtime"
    )
