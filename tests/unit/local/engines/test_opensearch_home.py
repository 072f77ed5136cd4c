"""How jars become an OpenSearch home."""

import zipfile
from pathlib import Path

import pytest

from local.engines import EngineError
from local.engines.opensearch_home import MODULES, arrange_jars, owner, plugin_class


def jar(folder: Path, name: str, *entries: str) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        for entry in entries:
            archive.writestr(entry, "")


def every_module(jars: Path) -> None:
    for module in MODULES:
        title = module.name.title().replace("-", "")
        jar(jars, f"{module.jars[0]}3.8.0.jar", f"org/opensearch/x/{title}Plugin.class")


def test_the_servers_jars_go_to_lib_and_a_modules_to_its_folder(tmp_path: Path) -> None:
    every_module(tmp_path / "jars")
    for name in ("opensearch-3.8.0.jar", "opensearch-geo-3.8.0.jar", "netty-common-4.jar"):
        jar(tmp_path / "jars", name)
    arrange_jars(tmp_path / "jars", tmp_path)
    assert {path.name for path in (tmp_path / "lib").iterdir()} == {
        "opensearch-3.8.0.jar",
        "opensearch-geo-3.8.0.jar",
    }
    assert (tmp_path / "modules" / "transport-netty4" / "netty-common-4.jar").exists()
    assert not (tmp_path / "jars").exists()


def test_a_module_is_described_with_its_class_and_what_it_extends(tmp_path: Path) -> None:
    every_module(tmp_path / "jars")
    arrange_jars(tmp_path / "jars", tmp_path)
    text = (tmp_path / "modules/analysis-common/plugin-descriptor.properties").read_text()
    assert "classname=org.opensearch.x.AnalysisCommonPlugin\n" in text
    assert "extended.plugins=lang-painless\n" in text
    assert "opensearch.version=3.8.0\n" in text


def test_a_missing_module_is_named(tmp_path: Path) -> None:
    every_module(tmp_path / "jars")
    (tmp_path / "jars" / "geo-3.8.0.jar").unlink()
    with pytest.raises(EngineError, match=r"no jar geo-\*\.jar"):
        arrange_jars(tmp_path / "jars", tmp_path)


def test_the_module_plugin_wins_over_other_plugins() -> None:
    entries = ["org/opensearch/a/APlugin.class", "org/opensearch/z/GeoModulePlugin.class"]
    assert plugin_class(entries) == "org.opensearch.z.GeoModulePlugin"
    assert plugin_class(["org/opensearch/Plugin.txt"]) is None


def test_a_jar_belongs_to_one_module_or_to_the_server() -> None:
    assert owner("lucene-core-10.5.0.jar") is None
    for name in ("asm-9.10.1.jar", "httpcore5-h2-5.4.jar", "opensearch-netty4-3.8.0.jar"):
        assert sum(name.startswith(module.jars) for module in MODULES) == 1
