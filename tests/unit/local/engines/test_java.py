"""Which Java is chosen, on made-up machines."""

from pathlib import Path

import cjdk
import pytest

from local.engines import EngineError
from local.engines.java import find_java, prepare_java


def install(home: Path, version: str | None, *, modules: str = "java.base jdk.localedata") -> Path:
    """Make a folder that looks like the home of a JDK; without a version, no release file."""
    (home / "bin").mkdir(parents=True)
    for program in (home / "bin" / "java", home / "bin" / "javac"):
        program.write_text("#!/bin/sh\necho 'openjdk version \"23.0.1\" 2024-10-15' >&2\n")
        program.chmod(0o755)
    if version is not None:
        (home / "release").write_text(
            f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n'
        )
    return home


def found(machine: Path, environment: dict[str, str] | None = None) -> Path | None:
    return find_java(
        machine / "tools",
        environment=environment or {},
        root=machine,
        home=machine / "home" / "me",
    )


def test_java_home_comes_before_the_path_and_the_usual_folders(tmp_path: Path) -> None:
    chosen = install(tmp_path / "chosen", "21.0.2")
    on_path = install(tmp_path / "other", "22")
    install(tmp_path / "usr/lib/jvm/temurin-25", "25.0.3")
    environment = {"JAVA_HOME": str(chosen), "PATH": str(on_path / "bin")}
    assert found(tmp_path, environment) == chosen


def test_an_old_default_java_is_passed_over_for_a_newer_one_beside_it(tmp_path: Path) -> None:
    old = install(tmp_path / "usr/lib/jvm/java-17-openjdk-amd64", "17.0.15")
    newer = install(tmp_path / "usr/lib/jvm/temurin-25-jdk-amd64", "25.0.3")
    environment = {"JAVA_HOME": str(old), "PATH": str(old / "bin")}
    assert found(tmp_path, environment) == newer


@pytest.mark.parametrize(
    "place",
    [
        "usr/lib/jvm/x",
        "opt/java/x",
        "Library/Java/JavaVirtualMachines/temurin-25.jdk/Contents/Home",
        "opt/homebrew/opt/openjdk@25/libexec/openjdk.jdk/Contents/Home",
        "home/me/.sdkman/candidates/java/25-tem",
        "tools/java",
    ],
)
def test_a_java_in_a_usual_folder_is_found(tmp_path: Path, place: str) -> None:
    home = install(tmp_path / place, "25")
    assert found(tmp_path) == home


def test_a_java_without_a_release_file_is_run_to_read_its_version(tmp_path: Path) -> None:
    home = install(tmp_path / "usr/lib/jvm/plain", None)
    assert found(tmp_path) == home


def test_a_trimmed_java_without_locale_data_does_not_count(tmp_path: Path) -> None:
    install(tmp_path / "usr/lib/jvm/trimmed", "25", modules="java.base java.sql")
    assert found(tmp_path) is None


def test_no_java_and_no_network_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> Path:
        raise cjdk.InstallError("Download failed")

    def nothing(_: Path) -> None:
        return None

    monkeypatch.setattr("local.engines.java.find_java", nothing)
    monkeypatch.setattr(cjdk, "cache_package", unreachable)
    with pytest.raises(EngineError) as caught:
        prepare_java(tmp_path, lambda _: None)
    message = str(caught.value)
    assert "no JDK 21+ found" in message
    assert "JAVA_HOME" in message
    assert "\n" not in message
