"""The CDK app: `python app.py` writes the assembly to `$CDK_OUTDIR` or `cdk.out`.

It needs no credentials. The stage and other settings are context: see `infra/settings.py`.
"""

import os
import sys

from infra.assembly import build
from infra.assets import LayerBuildError
from infra.settings import SettingsError


def main() -> int:
    """Synthesize; a wrong setting or a layer that fails is one line and the exit code 2."""
    try:
        build(os.environ.get("CDK_OUTDIR", "cdk.out")).synth()  # noqa: TID251
    except (SettingsError, LayerBuildError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
