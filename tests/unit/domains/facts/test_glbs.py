"""The address of the GLB of a file, or the reason why there is none."""

import pytest

from backend.domains.facts.models import FailedInspection
from backend.domains.facts.routes import build_router
from backend.spec import routes
from backend.spec.key_layouts import glb_key, turntable_key
from backend.spec.routes import Route
from tests.factories.access import Without
from tests.factories.http import Client, Response
from tests.factories.quarantine import ScanWorld, scan_event
from tests.unit.domains.facts.inspections import (
    AUXILIARY,
    BUCKET,
    PATH,
    InspectionSetup,
    bench,
    glbs,
    queries,
)

IDS = {"databaseId": "museum", "assetId": "statue"}


@pytest.fixture
def museum() -> InspectionSetup:
    return bench()


def get(
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
    assert get(museum, denied=denied).status == status


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
        answer = get(museum, key)
        assert (answer.status, answer.body) == (200, {"glb": expected}), key


def test_the_newest_glb_is_that_of_an_older_version_until_the_current_one_has_one(
    museum: InspectionSetup,
) -> None:
    first, second = museum.put(), museum.put()
    made(museum, first)
    made(museum, second)
    current = museum.put()
    answer = get(museum)
    assert (answer.body["glb"]["versionId"], answer.body["glb"]["current"]) == (second, False)
    assert reason(answer) == "inspecting"
    made(museum, current)
    assert get(museum).body["glb"]["versionId"] == current


def test_a_glb_has_the_turntable_of_its_own_version(museum: InspectionSetup) -> None:
    first, second = museum.put(), museum.put()
    made(museum, first)
    expected = {"url": turns(museum, first), "expiresAt": "2026-03-01T12:15:00.000000Z"}
    assert get(museum).body["turntable"] == expected, "that of the older GLB"
    made(museum, second)
    assert "turntable" not in get(museum).body, "a version without one"
    assert get(museum).body["glb"]["versionId"] == second
    newer = turns(museum, second)
    assert get(museum).body["turntable"]["url"] == newer


def test_no_glb_is_expected_in_a_database_without_processing(museum: InspectionSetup) -> None:
    made(museum, museum.put())
    museum.put()
    museum.processing = False
    answer = get(museum)
    assert answer.body["glb"]["current"] is False
    missing = answer.body["glbMissing"]
    assert missing["reason"] == "none"
    assert "not inspected" in missing["message"]


def test_a_file_without_a_glb_has_the_reason(museum: InspectionSetup) -> None:
    for path in ("/new.obj", "/notes.txt", "/plan.pdf", "/broken.obj", "/old.obj"):
        museum.record(museum.put(path), path)
    museum.record(museum.put("/broken.obj"), "/broken.obj", refused="line 7 is cut off")
    museum.put("/new.obj")
    museum.objects.delete(BUCKET, "statue/old.obj")
    found = {path: get(museum, path).body for path in ("/new.obj", "/notes.txt", "/plan.pdf")}
    found |= {path: get(museum, path).body for path in ("/broken.obj", "/old.obj")}
    assert {path: body["glbMissing"]["reason"] for path, body in found.items()} == {
        "/new.obj": "inspecting",
        "/notes.txt": "none",
        "/plan.pdf": "none",
        "/broken.obj": "refused",
        "/old.obj": "archived",
    }
    assert found["/broken.obj"]["glbMissing"]["message"] == "line 7 is cut off"
    assert all("glb" not in body for body in found.values())


def test_a_file_whose_inspection_failed_has_the_reason(museum: InspectionSetup) -> None:
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
    assert get(museum, path).body == {"glbMissing": {"reason": "refused", "message": reason}}


def test_no_address_is_returned_of_what_may_not_be_downloaded() -> None:
    scanned, kept = bench(scans=True), bench(is_distributable=False)
    for place, expected in ((scanned, "quarantined"), (kept, "notDistributable")):
        version = place.put()
        made(place, version)
        turns(place, version)
        if place is scanned:
            infect(place, version)
        answer = get(place)
        assert (reason(answer), answer.body.keys()) == (expected, {"glbMissing"})


def test_the_glb_of_an_older_quarantined_version_is_not_returned() -> None:
    museum = bench(scans=True)
    first, second = museum.put(), museum.put()
    made(museum, first)
    made(museum, second)
    museum.put()
    infect(museum, second)
    assert get(museum).body["glb"]["versionId"] == first


def test_absent_files_and_wrong_paths_are_refused(museum: InspectionSetup) -> None:
    museum.put()
    for key, status in (("/none.glb", 404), ("/../a.glb", 400), ("/parts/", 400), ("", 400)):
        assert get(museum, key).status == status, key
