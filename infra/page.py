"""The files of the page, and the function at CloudFront's edge that knows them."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from backend.spec.page import SESSION_COOKIE, SESSION_HEADER, SESSION_ID, SESSION_PATH
from backend.spec.routes import ROUTES
from infra.settings import ROOT
from web_page import build_page

EDGE = Path(__file__).parent / "edge" / "viewer_request.js"
# Source: Amazon CloudFront Developer Guide, "Quotas on CloudFront Functions".
MOST_EDGE_BYTES = 10 * 1024
PREFIX = "ui"
FIXED = "assets"
"""The folder whose files have a hash of their content in their names."""
_BUILT = ROOT / "build" / "page"


class PageBuildError(Exception):
    """The page could not be built; the message gives the reason."""


@dataclass(frozen=True)
class Page:
    """The folder of the built page."""

    folder: Path

    def edge_function(self) -> str:
        """Return the code of the function at the edge, which knows these files.

        Raises:
            PageBuildError: CloudFront would refuse it.
        """
        paths = (
            p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*") if p.is_file()
        )
        files = sorted(f"/{PREFIX}/{path}" for path in paths if not path.startswith(f"{FIXED}/"))
        own = sorted(route.path for route in ROUTES if route.path.startswith("/api/"))
        code = EDGE.read_text(encoding="utf-8")
        start, end = SESSION_ID
        session = {"cookie": SESSION_COOKIE, "header": SESSION_HEADER, "path": SESSION_PATH}
        session |= {"start": start, "end": end}
        for name, values in (("FILES", files), ("API_PATHS", own)):
            code = code.replace(f"/* {name} */ []", json.dumps(values))
        code = code.replace("/* SESSION */ {}", json.dumps(session))
        if (size := len(code.encode())) > MOST_EDGE_BYTES:
            raise PageBuildError(
                f"the function at the edge has {size} bytes, and CloudFront takes "
                f"{MOST_EDGE_BYTES}: move files of web/public to {FIXED}/"
            )
        return code


def prepare_page(target: Path, *, bundle: bool) -> Page:
    """Return the built page; without `bundle` what it is built from: its document and its lock.

    Raises:
        PageBuildError: the page could not be built.
    """
    if bundle:
        built = build_page(_BUILT, lambda _: None)
        if built.folder is None:
            raise PageBuildError(f"{built.missing}. Set `page` to false to deploy without it")
        return Page(built.folder)
    folder, sources = target / "page", ROOT / "web"
    (folder / FIXED).mkdir(parents=True)
    shutil.copy(sources / "index.html", folder)
    shutil.copy(sources / "package-lock.json", folder / FIXED)
    return Page(folder)
