"""Our programs that start engines, compiled by the Java that runs the engines."""

import zipfile
from pathlib import Path

import pytest

from local.engines import EngineError
from local.engines.java import prepare_java
from local.engines.jvm import compile_into


def test_a_program_becomes_a_jar_and_one_that_does_not_compile_has_a_reason(
    tools: Path, tmp_path: Path
) -> None:
    prepare_java(tools, lambda _: None)
    source = tmp_path / "Hello.java"
    source.write_text("class Hello { int one() { return 1; } }", encoding="utf-8")
    jar = tmp_path / "Hello.jar"
    compile_into(jar, [source], lib=tmp_path, tools=tools)
    with zipfile.ZipFile(jar) as archive:
        assert archive.namelist() == ["Hello.class"]
    source.write_text("class Hello { int one() { return; } }", encoding="utf-8")
    with pytest.raises(EngineError, match=r"Hello does not compile:\n.*missing return value"):
        compile_into(jar, [source], lib=tmp_path, tools=tools)
