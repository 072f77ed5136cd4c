"""Snapshots of the templates, and what a released version declared."""

import copy
import difflib
from collections.abc import Callable

import pytest

from tests.infra.released import ASSEMBLIES, immutable_facts, losses, released
from tests.infra.snapshots import FOLDER, snapshots
from tests.infra.templates import Assembly

MOST_LINES = 40
"""Lines of a difference that are shown."""


@pytest.fixture(scope="module")
def texts(synthesized: Callable[[str], Assembly]) -> dict[str, str]:
    return snapshots(synthesized)


def test_the_templates_are_those_of_the_snapshots(texts: dict[str, str]) -> None:
    """After a change, `make snapshots` writes them, for its review."""
    stored = {
        str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8")
        for path in FOLDER.rglob("*.yaml")
    }
    changed = [
        line
        for name in sorted({*stored, *texts})
        for line in difflib.unified_diff(
            stored.get(name, "").splitlines(), texts.get(name, "").splitlines(), name, name, n=1
        )
    ]
    shown = changed[:MOST_LINES] + [f"… {len(changed)} lines"] * (len(changed) > MOST_LINES)
    assert not changed, "run `make snapshots`:\n" + "\n".join(shown)


def test_two_processes_write_the_same_assets(small: Assembly, prod: Assembly) -> None:
    """Their names are hashes of their contents."""
    names = [{path.name for path in a.folder.glob("asset.*")} for a in (small, prod)]
    assert names[0] == names[1]
    assert len(names[0]) == 11  # code, six layers; the page: its two folders and what uploads them


@pytest.mark.parametrize("name", ASSEMBLIES)
def test_an_update_of_the_release_loses_no_data(
    synthesized: Callable[[str], Assembly], name: str
) -> None:
    assert losses(released(name), immutable_facts(synthesized(name))) == []


def test_the_release_has_every_kind_of_resource_with_data(
    synthesized: Callable[[str], Assembly],
) -> None:
    kinds = {
        fact["type"] for name in ASSEMBLIES for fact in immutable_facts(synthesized(name)).values()
    }
    kept = {fact["type"] for name in ASSEMBLIES for fact in released(name).values()}
    assert kept == kinds


@pytest.mark.parametrize(
    ("resource", "fact", "value"),
    [
        ("storage: AssetStorageTable", "key", "HASH assetId S, RANGE databaseId S"),
        ("storage: AssetStorageTable", "TableName", "assets"),
        ("storage: Jobs", "StreamSpecification", None),
        ("storage: AssetBucket", "BucketName", "mine"),
        ("storage: DataKey", "KeyUsage", "SIGN_VERIFY"),
        ("storage: UserPool", "UsernameAttributes", ["email"]),
        ("search: SearchDomain", "DomainName", "mine"),
        ("indexing: Settle", "QueueName", "settle"),
    ],
)
def test_what_replaces_a_resource_is_found(resource: str, fact: str, value: object) -> None:
    old = released("hardened")
    new = copy.deepcopy(old)
    new[resource][fact] = value
    assert losses(old, new) == [f"{resource} has another {fact}"]
    del new[resource]
    assert losses(old, new) == [f"{resource} is gone"]


def test_an_index_may_be_added_but_not_changed() -> None:
    old = released("prod")
    resource, index = next(
        (resource, fact)
        for resource, facts in old.items()
        for fact in facts
        if fact.startswith("index ")
    )
    new = copy.deepcopy(old)
    new[resource]["index Another"] = "HASH a S: ALL"
    assert losses(old, new) == []
    new[resource][index] = "HASH a S: ALL"
    assert losses(old, new) == [f"{resource} has another {index}"]
