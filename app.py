"""The CDK app: `python app.py` writes the assembly to `$CDK_OUTDIR` or `cdk.out`.

It needs no credentials. The stage and other settings are context: see `infra/settings`. By
itself it writes the stage `local` if none is given; the CDK command must be given one.
"""

import os
import sys

from infra.assembly import DEFAULT_STAGE, build
from infra.assets import LayerBuildError
from infra.page import PageBuildError
from infra.settings import SettingsError

_BY_CDK = "CDK_CLI_VERSION"  # a variable that the CDK command sets


def main() -> int:
    """Synthesize; a wrong setting or a layer or page that fails is one line and the exit code 2."""
    if options := sys.argv[1:]:
        command = "they are given to the CDK command: make diff STAGE= ARGS="
        sys.stderr.write(f"{options[0]}: app.py has no options; {command}\n")
        return 2
    try:
        environment = os.environ  # noqa: TID251
        by_cdk = _BY_CDK in environment
        build(
            environment.get("CDK_OUTDIR", "cdk.out"),
            stage=None if by_cdk else DEFAULT_STAGE,
            region=environment.get("CDK_DEFAULT_REGION") if by_cdk else None,
            deploys=by_cdk,
        ).synth()
    except (SettingsError, LayerBuildError, PageBuildError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
