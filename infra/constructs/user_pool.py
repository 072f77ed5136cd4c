"""The optional Cognito user pool of a deployment, and the application that signs in to it."""

from aws_cdk import Stack
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_wafv2 as waf

from infra.constructs.naming import name_exactly
from infra.constructs.updates import RETAINED

# Four more than the 8 that Cognito requires by default.
PASSWORD_CHARACTERS = 12
_MANAGED = ("AWSManagedRulesAmazonIpReputationList", "AWSManagedRulesKnownBadInputsRuleSet")


def declared_user_pool(stack: Stack) -> tuple[cognito.UserPool, cognito.UserPoolClient]:
    """Return a pool whose users are created by administrators; a second factor is optional."""
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
        removal_policy=RETAINED,
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


def protect_user_pool(stack: Stack, pool: cognito.UserPool, *, requests: int) -> None:
    """Protect the pool by a firewall that allows `requests` per address in five minutes.

    It also blocks addresses and requests on AWS's lists of threats.
    """
    firewall = waf.CfnWebACL(
        stack,
        "UserPoolFirewall",
        scope="REGIONAL",
        description="Protects the sign-in of the user pool",
        default_action=waf.CfnWebACL.DefaultActionProperty(allow={}),
        rules=[_limit(requests), *(_apply_rules(at, name) for at, name in enumerate(_MANAGED, 1))],
        visibility_config=_visible("UserPoolFirewall"),
    )
    waf.CfnWebACLAssociation(
        stack,
        "UserPoolFirewallAssociation",
        resource_arn=pool.user_pool_arn,
        web_acl_arn=firewall.attr_arn,
    )


def _limit(requests: int) -> waf.CfnWebACL.RuleProperty:
    rate = waf.CfnWebACL.RateBasedStatementProperty(
        aggregate_key_type="IP", limit=requests, evaluation_window_sec=300
    )
    return waf.CfnWebACL.RuleProperty(
        name="RequestsOfAnAddress",
        priority=0,
        statement=waf.CfnWebACL.StatementProperty(rate_based_statement=rate),
        action=waf.CfnWebACL.RuleActionProperty(block={}),
        visibility_config=_visible("RequestsOfAnAddress"),
    )


def _apply_rules(priority: int, name: str) -> waf.CfnWebACL.RuleProperty:
    group = waf.CfnWebACL.ManagedRuleGroupStatementProperty(vendor_name="AWS", name=name)
    return waf.CfnWebACL.RuleProperty(
        name=name,
        priority=priority,
        statement=waf.CfnWebACL.StatementProperty(managed_rule_group_statement=group),
        override_action=waf.CfnWebACL.OverrideActionProperty(none={}),
        visibility_config=_visible(name),
    )


def _visible(name: str) -> waf.CfnWebACL.VisibilityConfigProperty:
    # Sampled requests would store user names for three hours.
    return waf.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
