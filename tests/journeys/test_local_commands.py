"""The commands of the README and the guides that start the product themselves.

It takes over 20 seconds: the local runtime is started by its own commands.
"""

import os
from pathlib import Path

from tests.journeys.test_docs import ALL, LOCAL, ran


def test_the_commands_of_the_local_runtime_work(tmp_path: Path) -> None:
    written = [command for command in ALL if command.startswith(LOCAL)]
    try:
        for command in written:
            ran(f"{command} --state {tmp_path}", dict(os.environ))
    finally:
        ran(f"{LOCAL}down --state {tmp_path}", dict(os.environ))
