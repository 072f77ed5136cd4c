"""NOTICE names every package that is deployed with the functions."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_deployed_package_is_named_in_the_notice() -> None:
    layers = (ROOT / "backend").glob("requirements*.txt")
    locked = "\n".join(path.read_text(encoding="utf-8") for path in layers)
    packages = re.findall(r"^([a-z0-9-]+)==", locked, re.MULTILINE)
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert len(packages) > 10
    assert [name for name in packages if not re.search(rf"\b{name}\b", notice)] == []
