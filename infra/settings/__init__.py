"""The settings of a deployment: typed, checked at synthesis, one set per stage.

They are in cdk.json, under `stages`. The stage is the context value `stage`. Any setting can also
be passed as context (`-c bundle=true`), which overrides the stage's value. Defaults are those for
production. Modules import in this order: `values`, `network`, `model`, `contradictions`, `reading`.
"""

from infra.settings.contradictions import functions_left_out
from infra.settings.model import ROOT, Settings, described
from infra.settings.reading import SettingsError, default_context, read_settings

__all__ = [
    "ROOT",
    "Settings",
    "SettingsError",
    "default_context",
    "described",
    "functions_left_out",
    "read_settings",
]
