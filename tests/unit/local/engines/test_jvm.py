"""Jars that are changed before an engine is started from them."""

import zipfile
from pathlib import Path

from local.engines.jvm import drop_class_path


def test_a_jar_without_its_class_path_is_else_the_same(tmp_path: Path) -> None:
    jar, stored = tmp_path / "x.jar", tmp_path / "stored.jar"
    manifest = "Manifest-Version: 1.0\r\nClass-Path: . a\r\n .jar\r\nMain-Class: M\r\n\r\n"
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", manifest)
        archive.writestr("M.class", b"\x00")
    jar.hardlink_to(stored)
    drop_class_path(jar)
    with zipfile.ZipFile(jar) as changed, zipfile.ZipFile(stored) as untouched:
        assert changed.read("META-INF/MANIFEST.MF") == (
            b"Manifest-Version: 1.0\r\nMain-Class: M\r\n\r\n"
        )
        assert changed.read("M.class") == b"\x00"
        assert untouched.read("META-INF/MANIFEST.MF").decode() == manifest
    assert {path.name for path in tmp_path.iterdir()} == {"x.jar", "stored.jar"}
