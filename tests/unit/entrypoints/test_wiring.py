"""The context of a function: what it builds once, what a test gives it, and for whom it acts."""

import ast
from collections import Counter
from pathlib import Path

from backend.core.authorization import SystemOnly, SystemOr
from backend.core.denials import WatchedAuthorization
from backend.entrypoints import wiring
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.spec.functions import FUNCTIONS
from backend.spec.functions.apis import ASSETS_API, COMMENTS_API
from backend.spec.tables.registry import TAGS
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.model.deployment import in_memory_settings


@once
def _counted(context: Context) -> list[str]:
    return [context.function.name]


def test_a_part_is_built_once_for_each_context_unless_it_is_given() -> None:
    first, second = Context(ASSETS_API), Context(COMMENTS_API)
    assert _counted(first) is _counted(first)
    assert (_counted(first), _counted(second)) == (["AssetsApi"], ["CommentsApi"])
    given = ["given"]
    assert _counted(Context(ASSETS_API, _counted=given)) is given


def test_no_two_parts_share_a_name() -> None:
    """A part is stored under its name, beside the ports."""
    names = Counter(name for name in vars(Context) if not name.startswith("__"))
    for path in Path(str(wiring.__file__)).parent.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name != "once":
                names[node.name] += any(ast.unparse(one) == "once" for one in node.decorator_list)
    assert [name for name, count in names.items() if count > 1] == []
    assert names["assets"] == names["tables"] == 1


def test_a_service_over_a_table_that_the_function_may_not_use_is_not_created() -> None:
    for function in (ASSETS_API, COMMENTS_API):
        context = Context(
            function, settings=in_memory_settings(), tables=MemoryTables(), objects=MemoryObjects()
        )
        assets(context)
        assert ("tags" in vars(context)) == (TAGS in function.tables), function.name
    assert TAGS in ASSETS_API.tables
    assert TAGS not in COMMENTS_API.tables


def test_functions_act_for_whom_they_declare_and_those_of_the_api_for_their_callers() -> None:
    kinds = {"callers": WatchedAuthorization, "itself": SystemOnly, "both": SystemOr}
    for function in FUNCTIONS:
        context = Context(function, tables=MemoryTables())
        assert type(context.authorization) is kinds[function.acts_for], function.name
        assert function.acts_for == "callers" or function.kind != "api", function.name
    assert {function.acts_for for function in FUNCTIONS} == set(kinds)
