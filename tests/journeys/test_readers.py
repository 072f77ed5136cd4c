"""Each function that reads files has the packages of its layer."""

import gzip
import json
from uuid import uuid4

import httpx

from tests.journeys.runtime import Api, Runtime, wait_for
from tests.journeys.test_facts import attributes
from tests.unit.processing import cad
from tests.unit.processing.test_ifc import FILES as IFC
from tests.unit.processing.test_media import FILES as MEDIA
from tests.unit.processing.test_svg import svg
from tests.unit.processing.test_usd import FILES as USD

READ = {
    "/box.stp": cad.cube_step(),
    "/box.usdz": USD["package.usdz"],
    "/house.ifc": IFC["a.ifc"],
    "/plan.svg": svg("<text y='18'>Käfig</text>"),
    "/walk.mov": MEDIA["a.mov"],
    "/bell.ogg": MEDIA["a.ogg"],
}


def test_each_function_reads_files_by_the_packages_of_its_layer(runtime: Runtime, api: Api) -> None:
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=True)
    asset = api.new_asset(database, "Of each kind")
    api.upload(database, asset, {path: [data] for path, data in READ.items()})
    base = f"/database/{database}/assets/{asset}"

    def formats() -> list[str | None]:
        return [attributes(api, base, path).get("fact_format") for path in READ]

    wait_for(formats, ["STEP", "USD", "IFC", "SVG", "MPEG-4", "Ogg"])
    keys = [{"databaseId": database, "assetId": asset, "key": path} for path in READ]

    def shown() -> list[str]:
        pictures = api.ok("POST", "/previews", {"items": keys})["items"]
        return [picture["key"] for picture in pictures if "preview" in picture]

    wait_for(shown, list(READ))  # of the index, which is written after the facts
    glb = api.ok("GET", f"{base}/files/glb?key=/house.ifc")
    elements = json.loads(gzip.decompress(httpx.get(glb["structure"]["url"]).content))["elements"]
    assert elements["27"]["type"] == "IfcBuildingElementProxy"
