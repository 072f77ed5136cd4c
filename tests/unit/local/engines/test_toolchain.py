"""Which Go is taken, how builds go on, and when fsync is skipped, on made-up machines."""

from pathlib import Path

import pytest

from local.engines import EngineError, Options, s3
from local.engines.eatmydata import preload
from local.engines.go import Go, find_go
from local.engines.versions import VERSITYGW_SUM


def fake_go(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    command = folder / "go"
    command.write_text(f"#!/bin/sh\necho go version {version} linux/amd64\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return command


def test_a_new_enough_go_of_the_machine_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = fake_go(tmp_path, "go1.30.1", monkeypatch)
    assert find_go().command == command


def test_an_old_go_is_passed_over_for_the_packaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_go(tmp_path, "go1.9.7", monkeypatch)
    found = find_go()
    assert found.command != old
    assert found.command == Path(found.environment["GOROOT"]) / "bin" / "go"


def test_libeatmydata_is_preloaded_where_it_is_installed(tmp_path: Path) -> None:
    assert preload(tmp_path) == {}
    library = tmp_path / "usr/lib/x86_64-linux-gnu/libeatmydata.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    assert preload(tmp_path) == {"LD_PRELOAD": str(library)}


@pytest.mark.parametrize("key", ["", "with-hyphen", "ä"])
def test_an_access_key_that_an_engine_would_refuse_is_refused_at_once(key: str) -> None:
    with pytest.raises(ValueError, match="access_key"):
        Options(access_key=key)


# Compiles one package in each run, into the cache; after three it writes the program.
SLOW_GO = """#!/bin/sh
if [ "$1" = mod ]; then
    mkdir -p "$GOMODCACHE/versitygw"
    echo 'old' > "$GOMODCACHE/versitygw/main.go"
    echo "{\\"Sum\\": \\"%s\\", \\"Dir\\": \\"$GOMODCACHE/versitygw\\"}"
    exit
fi
mkdir -p "$GOCACHE"
echo package >> "$GOCACHE/compiled"
test "$(wc -l < "$GOCACHE/compiled")" -ge 3 || exit 1
while [ "$1" != -o ]; do shift; done
cp main.go "$2"
"""
CHANGE = "--- a/main.go\n+++ b/main.go\n@@ -1 +1 @@\n-old\n+new\n"


def test_an_interrupted_build_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, patch, own = tmp_path / "go", tmp_path / "a.patch", tmp_path / "own"
    command.write_text(SLOW_GO % VERSITYGW_SUM)
    command.chmod(0o755)
    patch.write_text(CHANGE)
    own.mkdir()
    monkeypatch.setattr(s3, "find_go", lambda: Go(command))
    monkeypatch.setattr(s3, "_PATCH", patch)
    monkeypatch.setattr(s3, "_OWN", own)
    monkeypatch.setattr(s3, "_OMITTED", ())
    tools, gateway = tmp_path / "tools", s3.VersityGateway()
    for _ in range(2):
        with pytest.raises(EngineError, match="ended with 1"):
            gateway.prepare(tools, lambda _: None)
    gateway.prepare(tools, lambda _: None)
    (program,) = tools.glob("s3-*/s3gateway")
    assert program.read_text() == "new\n"
    assert [path for path in tools.iterdir() if path.suffix != ".lock"] == [program.parent]
