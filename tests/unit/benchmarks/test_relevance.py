"""The judged searches: the meaning of the scores, and the unchanged set."""

import hashlib
from collections import Counter

import pytest

from benchmarks.relevance.corpus import GENERATED, Thing, documents, things
from benchmarks.relevance.judging import files, grade_by_name, grade_things, products, queries
from benchmarks.relevance.measure import ndcg, recall

GEAR = Thing(1, "g1", "Helical gear", ("a/gear.step",), product="helical gear")
HUB = Thing(2, "h1", "Wheel hub", ("hub.glb",), product="wheel hub", mentions="helical gear")


@pytest.fixture(scope="module")
def corpus() -> list[Thing]:
    return things()


def test_the_corpus_is_always_the_same_and_every_query_means_something(corpus: list[Thing]) -> None:
    digest = hashlib.sha256("\n".join(map(repr, corpus)).encode()).hexdigest()
    assert (len(corpus), digest[:16]) == (GENERATED + 93, "83ab5743d378f545")
    judged_queries = queries()
    assert len(judged_queries) == 100
    for query in judged_queries:
        assert 3 in grade_things(query, corpus).values(), query.body


def test_documents_and_grades_are_those_of_the_product() -> None:
    grade = products(["helical gear"])
    assert [grade(GEAR, None), grade(GEAR, "a/gear.step"), grade(HUB, None)] == [3, 2, 1]
    assert grade(HUB, "hub.glb") == 0
    assert files([("file_name", "is", "gear.step")])(GEAR, "a/gear.step") == 3
    assert files([("file_name", "is", "gear.step")])(GEAR, None) == 1
    assert grade_by_name("Wheel hub")(HUB, None) == 3
    asset, file = documents(GEAR)
    assert (asset.id, file.id) == (GEAR.id, GEAR.id_of("a/gear.step"))
    assert Counter(item.body["_rectype"] for item in (asset, file)) == {"asset": 1, "file": 1}


def test_recall_and_ndcg_are_those_of_the_best_ten() -> None:
    graded = {**{str(n): 3 for n in range(12)}, "file": 2}
    assert recall(["file", *map(str, range(9))], graded) == 0.9
    assert recall([str(n) for n in range(10)], graded) == 1
    assert recall([], graded) == 0
    graded = {"asset": 3, "file": 2, "other": 1}
    assert ndcg(["asset", "file", "other"], graded) == 1
    assert 0.8 < ndcg(["file", "asset", "other"], graded) < 1
    assert ndcg(["none"], graded) == 0
