"""References of files, files of similar shape, and the address of the GLB of a file."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.core.references import AssetRef
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.facts.models import (
    FailedInspection,
    FileReferences,
    SimilarShape,
    StoredReferences,
)
from backend.domains.facts.routes import build_router
from backend.domains.facts.rules.resolution import Paths, circular_edges, resolve_references
from backend.domains.facts.service import queries as reading
from backend.spec import routes
from backend.spec.key_layouts import glb_key, structure_key, turntable_key
from backend.spec.routes import Route
from tests.factories.access import Without
from tests.factories.assets import created_asset, created_database
from tests.factories.http import Client, Response
from tests.factories.quarantine import ScanWorld, scan_event
from tests.unit.domains.facts.inspections import (
    AUXILIARY,
    BUCKET,
    PATH,
    SHAPE,
    InspectionSetup,
    bench,
    glbs,
    inspection,
    queries,
)

IDS = {"databaseId": "museum", "assetId": "statue"}


@pytest.fixture
def museum() -> InspectionSetup:
    return bench()


def get(museum: InspectionSetup, route: str, *found: SimilarShape, **query: str) -> Response:
    path = f"/database/museum/assets/statue/{route}"
    client = Client(build_router(queries(museum, *found), glbs(museum)))
    return client.send(
        "GET",
        path,
        route=f"GET /database/{{databaseId}}/assets/{{assetId}}/{route}",
        parameters=IDS,
        query=query,
    )


def paths(answer: Response) -> list[str]:
    return [item["filePath"] for item in answer.body["items"]]


def put(museum: InspectionSetup, path: str, *references: tuple[str, str]) -> None:
    """A file with references as the inspection stores them: path and state."""
    stored = [{"path": name, "kind": "texture", "state": state} for name, state in references]
    museum.record(museum.put(path), path=path, references=stored)


def led(museum: InspectionSetup, **query: str) -> dict[str, list[tuple[str, str, str | None]]]:
    answer = get(museum, "dependencies", **query)
    assert answer.status == 200, answer.body
    return {
        item["filePath"]: [
            (reference["path"], reference["state"], reference.get("filePath"))
            for reference in item["references"]
        ]
        for item in answer.body["items"]
    }


def test_references_lead_to_files_as_they_are_now(museum: InspectionSetup) -> None:
    put(museum, "/textures/wood.png")
    put(museum, "/textures/Iron.PNG")
    put(museum, "/models/late.png")
    put(
        museum,
        "/models/a.obj",
        ("textures/wood.png", "found"),
        ("/textures/wood.png", "found"),
        ("textures/iron.png", "otherCase"),
        ("late.png", "missing"),
        ("my%20maps\\gone.png", "missing"),
        ("textures/moved.png", "found"),
        ("C:\\maps\\x.png", "absolute"),
        ("../../../etc/passwd", "outside"),
        ("https://example.org/x.png", "external"),
        ("*0", "embedded"),
    )
    assert led(museum)["/models/a.obj"] == [
        ("textures/wood.png", "found", "/textures/wood.png"),
        ("/textures/wood.png", "found", "/textures/wood.png"),
        ("textures/iron.png", "otherCase", "/textures/Iron.PNG"),
        ("late.png", "found", "/models/late.png"),
        ("my%20maps\\gone.png", "missing", None),
        ("textures/moved.png", "missing", None),
        ("C:\\maps\\x.png", "absolute", None),
        ("../../../etc/passwd", "outside", None),
        ("https://example.org/x.png", "external", None),
        ("*0", "embedded", None),
    ]
    put(museum, "/models/my maps/wood.png")
    put(museum, "/models/a.gltf", ("my%20maps/wood.png", "missing"))
    expected = [("my%20maps/wood.png", "found", "/models/my maps/wood.png")]
    assert led(museum)["/models/a.gltf"] == expected


def test_circles_are_found_also_through_files_of_other_pages(museum: InspectionSetup) -> None:
    put(museum, "/a.dae", ("b.dae", "found"), ("d.dae", "found"))
    put(museum, "/b.dae", ("c.dae", "found"))
    put(museum, "/c.dae", ("a.dae", "found"))
    put(museum, "/d.dae", ("d.dae", "found"))
    answer = get(museum, "dependencies", pageSize="1")
    (item,) = answer.body["items"]
    assert [(reference["filePath"], reference["circular"]) for reference in item["references"]] == [
        ("/b.dae", True),
        ("/d.dae", False),
    ]
    token = answer.body["NextToken"]
    rest = get(museum, "dependencies", startingToken=token).body["items"]
    assert [element["filePath"] for element in rest] == ["/b.dae", "/c.dae", "/d.dae"]
    assert all(reference["circular"] for element in rest for reference in element["references"])


def test_references_are_counted_and_read_of_one_file_alone(museum: InspectionSetup) -> None:
    put(museum, "/a.obj", *((f"{n}.png", "missing") for n in range(1005)))
    (item,) = get(museum, "dependencies").body["items"]
    assert (len(item["references"]), item["omitted"]) == (1000, 5)
    put(museum, "/a.obj", ("a.mtl", "missing"))
    put(museum, "/b.obj", ("b.mtl", "missing"))
    assert led(museum, filePath="/b.obj") == {"/b.obj": [("b.mtl", "missing", None)]}
    assert led(museum, filePath="/c.obj") == {}
    query = {"filePath": "/b.obj", "pageSize": "1"}
    token = get(museum, "dependencies", **query).body["NextToken"]
    assert get(museum, "dependencies", **query, startingToken=token).body == {"items": []}


def test_an_asset_of_too_many_files_keeps_the_states_that_the_inspection_found(
    museum: InspectionSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LISTED", 1)
    monkeypatch.setattr(reading, "_LISTED_AT_ONCE", 1)
    put(museum, "/z.png")
    put(museum, "/a.obj", ("z.png", "found"), ("y.png", "missing"))
    assert led(museum)["/a.obj"] == [("z.png", "found", None), ("y.png", "missing", None)]


def test_the_files_that_refer_to_a_file_or_folder_are_listed(museum: InspectionSetup) -> None:
    put(museum, "/maps/wood.png")
    put(museum, "/a.obj", ("maps/wood.png", "found"))
    put(museum, "/b.obj", ("maps/wood.png", "found"), ("maps/iron.png", "missing"))
    put(museum, "/maps/set.gltf", ("maps/wood.png", "found"))
    put(museum, "/c.obj", ("maps/iron.png", "missing"))

    def users(path: str, **query: str) -> list[str]:
        return paths(get(museum, "dependents", filePath=path, **query))

    assert users("/maps/wood.png") == ["/a.obj", "/b.obj", "/maps/set.gltf"]
    assert users("/maps/iron.png") == ["/b.obj", "/c.obj"]
    assert users("/maps", isPrefix="true") == ["/a.obj", "/b.obj", "/c.obj"]
    assert users("/a.obj") == []
    first = get(museum, "dependents", filePath="/maps/wood.png", pageSize="2")
    assert paths(first) == ["/a.obj", "/b.obj"]
    token = first.body["NextToken"]
    rest = get(museum, "dependents", filePath="/maps/wood.png", startingToken=token)
    assert paths(rest) == ["/maps/set.gltf"]
    assert get(museum, "dependents").status == 400


def test_facts_of_other_assets_are_not_read_nor_by_strangers(museum: InspectionSetup) -> None:
    created_asset(museum.assets, "statue2")
    put(museum, "/a.obj", ("x.png", "missing"))
    museum.objects.put("assetbucket", "statue2/b.obj", b"", content_type="x/y", metadata={})
    version = museum.objects.list_versions("assetbucket", "statue2/b.obj").versions[0].version_id
    stored = {"references": [{"path": "x.png", "kind": "texture", "state": "missing"}]}
    museum.commands.record("museum", "statue2", "/b.obj", inspection(version, **stored))
    assert list(led(museum)) == ["/a.obj"]
    assert paths(get(museum, "dependents", filePath="/x.png")) == ["/a.obj"]
    put(museum, "/a.obj", ("x.png", "missing"))
    request, stranger, ids = queries(museum), Identity("stranger"), AssetRef("museum", "statue")
    for ask_for in (
        lambda: request.list_dependencies(stranger, ids, PageRequest(10)),
        lambda: request.list_dependents(stranger, ids, "/x.png", PageRequest(10)),
        lambda: request.similar_files(stranger, ids, "/a.obj", size=3),
    ):
        with pytest.raises(AssetNotFoundError):
            ask_for()


def test_similar_files_are_visible_and_have_a_shape(museum: InspectionSetup) -> None:
    created_database(museum.assets, "garden")
    created_asset(museum.assets, "vase", database_id="garden")
    put(museum, "/a.glb")
    museum.record(museum.put("/a.glb"), path="/a.glb", descriptor=SHAPE)
    result = (
        SimilarShape("garden", "vase", "vase/parts/b.glb", 0.9),
        SimilarShape("garden", "gone", "gone/c.glb", 0.8),
        SimilarShape("museum", "statue", "elsewhere/d.glb", 0.7),
    )
    answer = get(museum, "files/similar", *result, filePath="/a.glb", size="3")
    assert answer.body == {
        "similarityOf": "shape",
        "items": [
            {
                "databaseId": "garden",
                "assetId": "vase",
                "assetName": "A statue",
                "filePath": "/parts/b.glb",
                "similarity": 0.9,
            }
        ],
    }
    museum.record(museum.put("/note.txt"), path="/note.txt")
    for path, code in (("/note.txt", "FileHasNoShape"), ("/gone.glb", "FileNotFound")):
        answer = get(museum, "files/similar", filePath=path)
        assert (answer.status, answer.body["code"]) == (404, code)
    assert get(museum, "files/similar", filePath="/note.txt", size="101").status == 400


EDGES = st.dictionaries(
    st.sampled_from("abcdef"), st.frozensets(st.sampled_from("abcdefg"), max_size=4), max_size=6
)


@given(EDGES)
def test_an_edge_is_circular_where_its_end_reaches_its_beginning(
    edges: dict[str, frozenset[str]],
) -> None:
    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting: list[str] = [start]
        while waiting:
            for other in edges.get(waiting.pop(), frozenset()):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    expected = {
        (path, other)
        for path, others in edges.items()
        for other in others
        if other == path or path in reached(other)
    }
    assert circular_edges(edges) == expected


def test_a_long_chain_of_files_exhausts_no_stack() -> None:
    chain = {str(n): frozenset({str((n + 1) % 20_000)}) for n in range(20_000)}
    assert len(circular_edges(chain)) == 20_000


@given(st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["found", "missing"]))))
def test_no_reference_leads_out_of_the_asset(references: Iterable[tuple[str, str]]) -> None:
    stored: dict[str, Any] = {
        "references": [{"path": path, "state": state} for path, state in references]
    }
    result = FileReferences("/a/b.obj", StoredReferences.model_validate(stored))
    known = Paths(frozenset({"/a/x.png", "/x.png"}))
    assert {reference.path for reference in resolve_references(result, known)} <= {
        None,
        *known.known,
    }


def get_glb(
    museum: InspectionSetup, key: str = PATH, *, denied: tuple[Route, ...] = (), **query: str
) -> Response:
    router = build_router(queries(museum), glbs(museum))
    client = Client(router, authorization=Without(denied=denied))
    return client.send(
        "GET",
        "/database/museum/assets/statue/files/glb",
        route="GET /database/{databaseId}/assets/{assetId}/files/glb",
        parameters=IDS,
        query={"key": key, **query},
    )


def made(museum: InspectionSetup, version_id: str, path: str = PATH, body: bytes = b"glTF") -> None:
    """A GLB of a version of a file."""
    key = glb_key("statue", path, version_id)
    museum.objects.put(AUXILIARY, key, body, content_type="model/gltf-binary", metadata={})


def turns(museum: InspectionSetup, version_id: str) -> str:
    """The address of a turntable of a version of the file."""
    key = turntable_key("statue", PATH, version_id)
    museum.objects.put(AUXILIARY, key, b"PNG", content_type="image/png", metadata={})
    return f"memory://{AUXILIARY}/{key}"


def infect(museum: InspectionSetup, version_id: str) -> None:
    """A scan finds a threat in a version of the file."""
    world = ScanWorld(museum.tables, museum.objects)
    world.deliver_events(scan_event(f"statue{PATH}", version_id))
    assert world.is_quarantined(f"statue{PATH}", version_id)


def reason(answer: Response) -> str:
    assert answer.status == 200, answer.body
    return answer.body["glbMissing"]["reason"]


@pytest.mark.parametrize(
    ("denied", "status"),
    [
        ((routes.DOWNLOAD,), 200),
        ((routes.STREAM_AUXILIARY_FILE,), 200),
        ((routes.DOWNLOAD, routes.STREAM_FILE), 200),
        ((routes.DOWNLOAD, routes.STREAM_AUXILIARY_FILE), 403),
        ((routes.GET_GLB,), 403),
    ],
)
def test_an_address_also_needs_a_route_that_returns_such_bytes(
    museum: InspectionSetup, denied: tuple[Route, ...], status: int
) -> None:
    made(museum, museum.put())
    assert get_glb(museum, denied=denied).status == status


def test_a_file_with_a_glb_has_its_address_version_and_size(museum: InspectionSetup) -> None:
    version = museum.put()
    museum.record(version)
    made(museum, version, body=b"glTF" + bytes(96))
    expected = {
        "url": f"memory://{AUXILIARY}/{glb_key('statue', PATH, version)}",
        "expiresAt": "2026-03-01T12:15:00.000000Z",
        "versionId": version,
        "size": 100,
        "current": True,
    }
    for key in (PATH, f"statue{PATH}"):
        answer = get_glb(museum, key)
        assert (answer.status, answer.body) == (200, {"glb": expected}), key
    museum.put()
    for key, status in (("/none.glb", 404), ("/../a.glb", 400), ("/parts/", 400), ("", 400)):
        assert get_glb(museum, key).status == status, key


def test_the_newest_glb_is_that_of_the_newest_version_that_has_one(museum: InspectionSetup) -> None:
    first, second = museum.put(), museum.put()
    made(museum, first)
    made(museum, second)
    current = museum.put()
    answer = get_glb(museum)
    assert (answer.body["glb"]["versionId"], answer.body["glb"]["current"]) == (second, False)
    assert reason(answer) == "inspecting"
    made(museum, current)
    assert get_glb(museum).body["glb"]["versionId"] == current
    made(museum, museum.put())
    museum.put()
    museum.processing = False
    answer = get_glb(museum)
    assert answer.body["glb"]["current"] is False
    missing = answer.body["glbMissing"]
    assert missing["reason"] == "none"
    assert "not inspected" in missing["message"]


def test_a_glb_has_the_turntable_of_its_own_version(museum: InspectionSetup) -> None:
    first, second = museum.put(), museum.put()
    made(museum, first)
    expected = {"url": turns(museum, first), "expiresAt": "2026-03-01T12:15:00.000000Z"}
    assert get_glb(museum).body["turntable"] == expected, "that of the older GLB"
    made(museum, second)
    assert "turntable" not in get_glb(museum).body, "a version without one"
    assert get_glb(museum).body["glb"]["versionId"] == second
    newer = turns(museum, second)
    assert get_glb(museum).body["turntable"]["url"] == newer


def test_only_models_of_buildings_have_a_structure(museum: InspectionSetup) -> None:
    for path, has_structure in (("/house.ifc", True), ("/house.obj", False)):
        version = museum.put(path)
        made(museum, version, path)
        key = structure_key("statue", path, version)
        expected = {
            "url": f"memory://{AUXILIARY}/{key}",
            "expiresAt": "2026-03-01T12:15:00.000000Z",
        }
        assert "structure" not in get_glb(museum, path).body
        museum.objects.put(AUXILIARY, key, b"", content_type="application/gzip", metadata={})
        reply = get_glb(museum, path).body
        assert reply.get("structure") == (expected if has_structure else None)


def test_a_film_has_pictures_over_its_length_without_a_glb(museum: InspectionSetup) -> None:
    address = turns(museum, museum.put())
    reply = get_glb(museum).body
    assert reply["turntable"]["url"] == address
    assert "glb" not in reply


def test_a_file_without_a_glb_has_the_reason(museum: InspectionSetup) -> None:
    for path in ("/new.obj", "/notes.txt", "/plan.pdf", "/broken.obj", "/old.obj"):
        museum.record(museum.put(path), path)
    museum.record(museum.put("/broken.obj"), "/broken.obj", refused="line 7 is cut off")
    museum.put("/new.obj")
    museum.objects.delete(BUCKET, "statue/old.obj")
    result = {path: get_glb(museum, path).body for path in ("/new.obj", "/notes.txt", "/plan.pdf")}
    result |= {path: get_glb(museum, path).body for path in ("/broken.obj", "/old.obj")}
    assert {path: body["glbMissing"]["reason"] for path, body in result.items()} == {
        "/new.obj": "inspecting",
        "/notes.txt": "none",
        "/plan.pdf": "none",
        "/broken.obj": "refused",
        "/old.obj": "archived",
    }
    assert result["/broken.obj"]["glbMissing"]["message"] == "line 7 is cut off"
    assert all("glb" not in body for body in result.values())
    path, reason = "/stalled.obj", "The inspection failed: it had no processor"
    museum.commands.record_failure(
        FailedInspection(
            database_id="museum",
            asset_id="statue",
            key=f"statue{path}",
            version_id=museum.put(path),
            reason=reason,
        )
    )
    assert get_glb(museum, path).body == {"glbMissing": {"reason": "refused", "message": reason}}


def test_no_address_is_returned_of_what_may_not_be_downloaded() -> None:
    scanned, kept = bench(scans=True), bench(is_distributable=False)
    for place, expected in ((scanned, "quarantined"), (kept, "notDistributable")):
        version = place.put()
        made(place, version)
        turns(place, version)
        if place is scanned:
            infect(place, version)
        answer = get_glb(place)
        assert (reason(answer), answer.body.keys()) == (expected, {"glbMissing"})
    museum = bench(scans=True)
    first, second = museum.put(), museum.put()
    made(museum, first)
    made(museum, second)
    museum.put()
    infect(museum, second)
    assert get_glb(museum).body["glb"]["versionId"] == first
