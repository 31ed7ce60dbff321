"""Which texts are secrets by their shape alone.

Every expression runs in a linear-time engine. `TRIGGERS` are plain texts of which every match
contains one, so that clean text is recognised by searching for them.
"""

from functools import cache
from typing import Any, Final

import msgspec
import re2


class Rule(msgspec.Struct, frozen=True):
    """One kind of secret: its name, which stands in the placeholder, and its shape."""

    kind: str
    pattern: str


RULES: Final = (
    Rule(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    Rule("github-token", r"\bgh[pousr]_[A-Za-z0-9]{30,255}"),
    Rule("github-token", r"\bgithub_pat_[A-Za-z0-9_]{30,255}"),
    Rule("aws-access-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Rule("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{20,255}"),
    Rule("openai-key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}"),
    Rule("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    Rule("slack-token", r"\bxapp-[0-9]-[A-Za-z0-9-]{10,255}"),
    Rule("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    Rule("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,512}"),
    Rule("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
)


@cache
def compiled() -> tuple[tuple[str, Any], ...]:
    """Compile every rule; most runs meet no trigger and never need them."""
    return tuple((rule.kind, re2.compile(rule.pattern)) for rule in RULES)


# A necessary condition for any match, on the JSON text of an event. An escaped character could hide
# a trigger, so text with `\u` is decoded and looked at in full.
TRIGGER: Final = re2.compile(
    r"-----BEGIN|gh[pousr]_|github_pat_|A[KSBC][ICA]A[A-Z0-9]{4}|sk-|xox[abeoprs]-|xapp-|npm_|pypi-|eyJ|\\u"
)
