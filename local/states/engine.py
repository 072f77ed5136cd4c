"""The process of the engine: `python -m local.states.engine HOST PORT TASKS`.

It serves Step Functions on HOST and PORT. It sends the tasks of state machines, status events and
reports of waiting tasks to TASKS, an address of the runner.
"""

import logging
import sys

from moto.core.config import default_user_config

from local.moto_server import serve
from local.states.corrections import apply


def main(host: str, port: str, tasks: str) -> None:
    """Serve until the process is ended."""
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    apply(tasks)
    # moto's log contains the whole state machine for each error, and a line for each request.
    logging.getLogger("moto").setLevel(logging.CRITICAL)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    serve(host, port)


if __name__ == "__main__":
    main(*sys.argv[1:])
