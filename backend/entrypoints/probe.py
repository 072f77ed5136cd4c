"""The function that reports what Lambda allows, before anything else is deployed."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from backend.aws.clients import sdk_version
from backend.entrypoints import ready
from backend.processing.jail.survey import survey

_log = logging.getLogger(__name__)


def report(_event: Mapping[str, Any], _context: object = None) -> dict[str, Any]:
    """Return the report, and log it."""
    measures = {"boto3": sdk_version(), **survey()}
    _log.warning("%s", json.dumps(measures))
    return measures


handler = ready(report)
