"""Which route a request meets."""

import pytest

from local.plan import Route
from local.routing import RouteTable

_KEYS = [
    "ANY /{proxy+}",
    "GET /pets/{id}",
    "GET /pets/dog",
    "ANY /pets/dog",
    "GET /pets/{id}/toys/{toy}",
    "PUT /pets/{id}/{rest+}",
]


def _table(*keys: str) -> RouteTable:
    return RouteTable(Route(key, "integration", None) for key in keys)


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [
        ("GET", "/pets/dog", "GET /pets/dog"),
        ("PUT", "/pets/dog", "ANY /pets/dog"),
        ("GET", "/pets/cat", "GET /pets/{id}"),
        ("GET", "/pets/cat/toys/ball", "GET /pets/{id}/toys/{toy}"),
        ("PUT", "/pets/cat/toys/ball", "PUT /pets/{id}/{rest+}"),
        ("GET", "/pets/cat/toys", "ANY /{proxy+}"),
        ("POST", "/pets/cat", "ANY /{proxy+}"),
        ("GET", "/pets/", "ANY /{proxy+}"),
    ],
)
def test_the_most_specific_route_is_taken(method: str, path: str, key: str) -> None:
    match = _table(*_KEYS).find(method, path)

    assert match is not None
    assert match.route.key == key


def test_variables_are_decoded_after_the_path_was_taken_apart() -> None:
    match = _table("GET /a/{id}/b/{rest+}").find("GET", "/a/x%2Fy%20z/b/c/d%2Fe")

    assert match is not None
    assert match.parameters == {"id": "x/y z", "rest": "c/d/e"}


def test_a_variable_may_have_two_names_and_a_greedy_one_takes_all_that_follows() -> None:
    table = _table("GET /notes/version:id/{version:id}", "HEAD /files/{proxy+}")
    match = table.find("GET", "/notes/version:id/1%3Aabc")
    assert match is not None
    assert match.parameters == {"version:id": "1:abc"}
    match = table.find("HEAD", "/files/a%20b/c%2Fd.glb")
    assert match is not None
    assert match.parameters == {"proxy": "a b/c/d.glb"}
    assert table.find("GET", "/files/a.glb") is None


def test_the_default_route_takes_what_is_left() -> None:
    match = _table("GET /a", "$default").find("POST", "/b")

    assert match is not None
    assert match.route.key == "$default"
