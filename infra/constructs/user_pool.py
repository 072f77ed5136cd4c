"""The Cognito user pool of a deployment that wants one, and the application that signs in to it."""

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_cognito as cognito

from infra.constructs.naming import name_exactly

PASSWORD_CHARACTERS = 12


def declared_user_pool(stack: Stack) -> tuple[cognito.UserPool, cognito.UserPoolClient]:
    """A pool whose users administrators make; a second factor is theirs to choose."""
    pool = cognito.UserPool(
        stack,
        "UserPool",
        self_sign_up_enabled=False,
        sign_in_aliases=cognito.SignInAliases(username=True),
        auto_verify=cognito.AutoVerifiedAttrs(email=True),
        account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
        mfa=cognito.Mfa.OPTIONAL,
        mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
        password_policy=cognito.PasswordPolicy(
            min_length=PASSWORD_CHARACTERS,
            require_digits=True,
            require_lowercase=True,
            require_symbols=True,
            require_uppercase=True,
        ),
        deletion_protection=True,
        removal_policy=RemovalPolicy.RETAIN,
    )
    client = pool.add_client(
        "UserPoolClient",
        auth_flows=cognito.AuthFlow(user_srp=True),
        disable_o_auth=True,
        generate_secret=False,
        prevent_user_existence_errors=True,
    )
    name_exactly(pool, "UserPool")
    name_exactly(client, "UserPoolClient")
    return pool, client
