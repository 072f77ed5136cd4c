"""Each command sends the requests and prints the lines that `commands.txt` has."""

import json
from pathlib import Path

import pytest

from tests.unit.client.test_habits import COMMANDS
from tests.unit.client.transcripts import blocks, rerun

BLOCKS = list(blocks())
WITH_LINES = [
    block
    for line, block in BLOCKS
    if "\n| " in block
    and "\n= " not in block
    and "--json" not in line
    and " cat " not in line
    and " api " not in line
]


@pytest.mark.parametrize("block", [block for _, block in BLOCKS], ids=[line for line, _ in BLOCKS])
def test_a_command_sends_and_prints_what_its_transcript_has(block: str, tmp_path: Path) -> None:
    assert rerun(block, tmp_path) == block, "run: python -m tests.unit.client.transcripts"


@pytest.mark.parametrize("block", WITH_LINES, ids=lambda block: block.partition("$ ")[2][:60])
def test_a_command_that_prints_lines_prints_json_on_request(block: str, tmp_path: Path) -> None:
    lines = [line[2:] for line in rerun(block, tmp_path, "--json").splitlines() if line[0] == "|"]
    assert lines
    assert all(isinstance(json.loads(line), dict | list) for line in lines)


def test_every_command_has_a_transcript() -> None:
    lines = [line.removeprefix("$ vitrine ") + " " for line, _ in BLOCKS]
    # test_cli.py, test_demo.py, test_tracking.py, test_watch.py, test_mcp.py, test_events.py
    elsewhere = {"login", "demo", "runs", "watch", "mcp", "events"}
    without = {name for name in COMMANDS if not any(line.startswith(f"{name} ") for line in lines)}
    assert without == elsewhere
