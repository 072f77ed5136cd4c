"""Exports between stacks: no update removes an export that is still imported.

CloudFormation updates one stack after the other, and refuses to remove or change an export while a
deployed stack imports it. Stacks that export come first.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from tests.infra.templates import Assembly

ORDER = ("storage", "search", "bootstrap", "indexing", "pipelines", "api", "web", "alarms")


def refused(deployed: Assembly, wanted: Assembly, order: tuple[str, ...] = ORDER) -> list[str]:
    """Return the steps of an update that CloudFormation refuses."""
    state = dict(deployed.templates)
    steps: list[str] = []
    for stack in order:
        if stack not in state or stack not in wanted.templates:
            continue  # a stack that the settings no longer need remains unchanged
        before, after = exports(state[stack]), exports(wanted.templates[stack])
        steps += [
            f"{stack} removes or changes {name}, which {other} imports"
            for other, template in state.items()
            if other != stack
            for name in imports(template)
            if name in before and after.get(name) != before[name]
        ]
        state[stack] = wanted.templates[stack]
        exported = {name for template in state.values() for name in exports(template)}
        steps += [f"{stack} lacks {name}" for name in imports(state[stack]) if name not in exported]
    return steps


def exports(template: Mapping[str, Any]) -> dict[str, Any]:
    outputs = template.get("Outputs", {}).values()
    return {o["Export"]["Name"]: o["Value"] for o in outputs if "Export" in o}


def imports(template: Mapping[str, Any]) -> set[str]:
    return set(_imports(template))


def _imports(value: object) -> Iterator[str]:
    match value:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case dict():
            for part in cast("dict[str, object]", value).values():
                yield from _imports(part)
        case list():
            for part in cast("list[object]", value):
                yield from _imports(part)
        case _:
            return


def test_a_setting_is_switched_off_by_updating_the_stacks_that_import_first(
    hardened: Assembly, prod: Assembly
) -> None:
    importing_first = (
        "alarms",
        "web",
        "bootstrap",
        "indexing",
        "pipelines",
        "api",
        "search",
        "storage",
    )
    assert refused(hardened, prod, importing_first) == []
    assert refused(hardened, prod) != []


def test_the_page_is_switched_off_while_its_stack_still_imports(
    page: Assembly, small: Assembly
) -> None:
    assert imports(page.templates["web"])
    assert refused(page, small) == []
