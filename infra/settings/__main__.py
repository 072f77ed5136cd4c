"""Refuses a stage that cdk.json does not define; targets of `make` run it before they call AWS."""

import sys

from infra.settings.reading import SettingsError, default_context, named_stage


def main(stage: str) -> int:
    """Return 2 if the stage is unknown, else 0."""
    try:
        named_stage((default_context() | {"stage": stage}).get)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
