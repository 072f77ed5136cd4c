"""The decisions, held to an evaluation that is as plain as AWS's description of it."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.iam.policy import Grant, Policies, PolicyError

ACCOUNT = "us-east-1:000000000000"
TABLE = f"arn:aws:dynamodb:{ACCOUNT}:table/Assets"


def _allow(action: object, resource: object, **more: object) -> dict[str, object]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


# A naive evaluation: wildcards by trying every split, statements by reading them one by one.


def _plain_glob(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(_plain_glob(pattern[1:], text[start:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and _plain_glob(pattern[1:], text[1:])


def _plain_arn(pattern: str, arn: str) -> bool:
    if pattern == "*":
        return True
    wanted, found = pattern.split(":", 5), arn.split(":", 5)
    return len(found) == 6 and all(map(_plain_glob, wanted, found))


@dataclass(frozen=True)
class _Statement:
    effect: str
    actions: tuple[str, ...]
    but_actions: bool
    resources: tuple[str, ...]
    but_resources: bool
    via: tuple[str, ...] | None

    def written(self) -> dict[str, object]:
        found: dict[str, object] = {
            "Effect": self.effect,
            "NotAction" if self.but_actions else "Action": list(self.actions),
            "NotResource" if self.but_resources else "Resource": list(self.resources),
        }
        if self.via is not None:
            found["Condition"] = {"StringLike": {"kms:ViaService": list(self.via)}}
        return found

    def applies(self, action: str, resource: str, via: str | None) -> bool:
        on_action = any(_plain_glob(a.lower(), action.lower()) for a in self.actions)
        on_resource = any(_plain_arn(r, resource) for r in self.resources)
        if on_action == self.but_actions or on_resource == self.but_resources:
            return False
        if self.via is None:
            return True
        return via is not None and any(_plain_glob(pattern, via) for pattern in self.via)


_words = st.sampled_from(["Get", "Put", "GetItem", "getitem", "G*", "*Item", "?et", "*", "Ge?Item"])
_services = st.sampled_from(["s3", "dynamodb", "kms"])
_patterns = st.builds("{}:{}".format, _services, _words) | st.just("*")
_paths = st.sampled_from(
    ["table/A", "table/A/index/b", "table/*", "*", "?able/A", "a:b", "a:*", ""]
)
_arns = st.builds("arn:aws:{}:us:{}:{}".format, _services, st.sampled_from(["1", "2", "*"]), _paths)
_vias = st.sampled_from(["s3.us.amazonaws.com", "sqs.us.amazonaws.com", "s3.*", "x"])
_statements = st.builds(
    _Statement,
    st.sampled_from(["Allow", "Allow", "Deny"]),
    st.lists(_patterns, min_size=1, max_size=3).map(tuple),
    st.booleans(),
    st.lists(_arns | st.just("*"), min_size=1, max_size=3).map(tuple),
    st.booleans(),
    st.none() | st.lists(_vias, min_size=1, max_size=2).map(tuple),
)


@given(
    statements=st.lists(_statements, max_size=4),
    action=st.builds("{}:{}".format, _services, st.sampled_from(["GetItem", "Put", "Get"])),
    resource=_arns,
    via=st.none() | _vias,
)
def test_a_decision_is_that_of_a_plain_evaluation(
    statements: list[_Statement], action: str, resource: str, via: str | None
) -> None:
    applying = [each for each in statements if each.applies(action, resource, via)]
    denied = any(each.effect == "Deny" for each in applying)
    context = {"kms:ViaService": via} if via else None
    decision = Policies(each.written() for each in statements).decide(action, resource, context)
    assert decision.denied == denied
    assert decision.allowed == (bool(applying) and not denied)
    assert bool(decision.grants) == decision.allowed


def test_without_a_statement_nothing_is_allowed() -> None:
    decision = Policies([]).decide("dynamodb:GetItem", TABLE)
    assert (decision.allowed, decision.denied) == (False, False)


def test_a_deny_wins_over_every_allow() -> None:
    deny = {"Effect": "Deny", "Action": "dynamodb:DeleteItem", "Resource": "*"}
    policies = Policies([_allow("*", "*"), deny])
    assert policies.decide("dynamodb:GetItem", TABLE).allowed
    assert policies.decide("dynamodb:DeleteItem", TABLE).denied


def test_a_wildcard_stays_in_its_segment_of_the_arn() -> None:
    policies = Policies([_allow("dynamodb:GetItem", "arn:aws:dynamodb:*:*:table/A*")])
    assert policies.decide("dynamodb:GetItem", TABLE).allowed
    policies = Policies([_allow("dynamodb:GetItem", "arn:aws:dynamodb:*::table/A*")])
    assert not policies.decide("dynamodb:GetItem", TABLE).allowed
    policies = Policies([_allow("s3:GetObject", "arn:aws:s3:::b/*")])
    assert policies.decide("s3:GetObject", "arn:aws:s3:::b/a:b/c").allowed
    assert not policies.decide("s3:GetObject", "arn:aws:s3:::b").allowed


def test_a_decision_names_the_grants_that_it_needed() -> None:
    policies = Policies([_allow(["dynamodb:Get*", "dynamodb:Query"], [TABLE, f"{TABLE}/index/*"])])
    used = policies.decide("dynamodb:GetItem", TABLE).grants
    assert used == (Grant("dynamodb:Get*", TABLE),)
    assert len(policies.grants()) == 4
    assert set(used) < policies.grants()


def test_a_condition_whose_key_the_call_does_not_have_is_not_met() -> None:
    condition = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
    policies = Policies([_allow("kms:Decrypt", "*", Condition=condition)])
    key = f"arn:aws:kms:{ACCOUNT}:key/1"
    assert not policies.decide("kms:Decrypt", key).allowed
    assert policies.decide(
        "kms:Decrypt", key, {"kms:ViaService": "s3.us-east-1.amazonaws.com"}
    ).allowed


@pytest.mark.parametrize(
    ("statement", "fact"),
    [
        (_allow("*", "*", Condition={"IpAddress": {"aws:SourceIp": "1.2.3.4"}}), "IpAddress"),
        (_allow("*", "*", Condition={"ForAllValues:StringLike": {"a": "b"}}), "ForAllValues"),
        (_allow("*", "*", Condition={"StringEqualsIfExists": {"a": "b"}}), "IfExists"),
        (_allow("*", "arn:aws:s3:::b/${aws:username}/*"), "policy variable"),
        (_allow("*", "bucket"), "no ARN"),
        (_allow("*", "*", Principal="*"), "Principal"),
        (_allow("*", "*", NotAction="s3:*"), "Action or NotAction"),
        ({"Effect": "Allow", "Action": "*"}, "Resource or NotResource"),
        ({"Effect": "Maybe", "Action": "*", "Resource": "*"}, "Maybe"),
        (_allow([], "*"), "Action is empty"),
        (_allow(3, "*"), "3 is no text"),
    ],
)
def test_what_is_not_known_is_an_error_and_never_ignored(
    statement: dict[str, object], fact: str
) -> None:
    with pytest.raises(PolicyError, match=fact.replace("$", r"\$")):
        Policies([statement])
