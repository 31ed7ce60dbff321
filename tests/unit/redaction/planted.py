"""Secrets that were never anybody's, put together here so that no scanner takes them for leaks."""

import base64
import hashlib
import string
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
_URL_SAFE = ALNUM + "_-"
_BASE64 = ALNUM + "+/"


class Planted(NamedTuple):
    """A text to plant, the part of it that must not survive, and the kind it is masked as."""

    name: str
    text: str
    secret: str
    kind: str


def random_text(seed: str, length: int, alphabet: str = ALNUM) -> str:
    """A text that looks random and is always the same."""
    digits = hashlib.shake_256(seed.encode()).digest(length)
    return "".join(alphabet[digit % len(alphabet)] for digit in digits)


def _shape(name: str, seed: str) -> tuple[str, str]:
    """A text of a shape that needs no name, and its kind."""

    def some(length, alphabet=ALNUM):
        return random_text(f"{name} {seed}", length, alphabet)

    body = "\n".join(some(64 * line, _BASE64)[-64:] for line in range(1, 5))
    prefix = "gh" + "pousr"[len(seed) % 5] + "_"
    return {
        "github": (prefix + some(36), "github-token"),
        "github-pat": ("github" + "_pat_" + some(22) + "_" + some(59), "github-token"),
        "aws-id": ("AK" + "IA" + some(16, string.ascii_uppercase + "234567"), "aws-access-key"),
        "anthropic": ("sk-" + "ant-api03-" + some(93, _URL_SAFE) + "AA", "anthropic-key"),
        "openai": ("sk-" + "proj-" + some(100, _URL_SAFE), "openai-key"),
        "slack": ("xox" + "b-" + some(12, string.digits) + "-" + some(24), "slack-token"),
        "slack-hook": ("https://hooks." + "slack.com/services/T0/B0/" + some(24), "slack-webhook"),
        "stripe": ("sk_" + "live_" + some(24), "stripe-key"),
        "npm": ("npm" + "_" + some(36), "npm-token"),
        "pypi": ("pypi-" + "AgEIcHlwaS5vcmc" + some(150, _URL_SAFE), "pypi-token"),
        "gcp": ("AI" + "za" + some(35, _URL_SAFE), "gcp-key"),
        "azure-client": (some(3) + "8Q" + "~" + some(34), "azure-secret"),
        "gitlab": ("glpat" + "-" + some(20), "gitlab-token"),
        "jwt": (".".join(("eyJ" + some(30), "eyJ" + some(60), some(43, _URL_SAFE))), "jwt"),
        "private-key": (
            "-----BEGIN " + f"RSA PRIVATE KEY-----\n{body}\n-----END " + "RSA PRIVATE KEY-----",
            "private-key",
        ),
    }[name]


SHAPES = (
    "github",
    "github-pat",
    "aws-id",
    "anthropic",
    "openai",
    "slack",
    "slack-hook",
    "stripe",
    "npm",
    "pypi",
    "gcp",
    "azure-client",
    "gitlab",
    "jwt",
    "private-key",
)


def _named(name: str, seed: str) -> tuple[str, str, str]:
    """A secret that only its surroundings tell, with those before it, and its kind."""
    seed = f"{name} {seed}"
    secret = random_text(seed, 24)
    long = random_text(seed, 40, _BASE64)
    storage = random_text(seed, 86, _BASE64) + "=="
    basic = base64.b64encode(f"user:{secret}".encode()).decode()
    signature = random_text(seed, 43) + "%3D"
    return {
        "aws-secret": (f"aws_secret_access_key = {long}", long, "aws-secret-key"),
        "azure-storage": (
            f"AccountName=a;AccountKey={storage};EndpointSuffix=core",
            storage,
            "assigned-secret",
        ),
        "azure-sas": (f"https://a.blob/c?sv=2024&sig={signature}&se=1", signature, "signed-url"),
        "bearer": (f"Authorization: Bearer {secret}", secret, "auth-header"),
        "basic": (f"authorization: Basic {basic}", basic, "auth-header"),
        "header": (f"curl -H 'Authorization: token {secret}'", secret, "auth-header"),
        "url": (f"postgres://app:{secret}@db.internal:5432/x", secret, "url-credential"),
        "password": (f"password={secret}", secret, "assigned-secret"),
        "flag": (f"login --password {secret} --yes", secret, "assigned-secret"),
        "json": (f'{{"api_key": "{secret}"}}', secret, "assigned-secret"),
        "yaml": (f"client_secret: {secret}", secret, "assigned-secret"),
    }[name]


NAMED = (
    "aws-secret",
    "azure-storage",
    "azure-sas",
    "bearer",
    "basic",
    "header",
    "url",
    "password",
    "flag",
    "json",
    "yaml",
)


def planted(seeds: tuple[str, ...]) -> tuple[Planted, ...]:
    """Every kind of secret, once for each seed."""
    found: list[Planted] = []
    for seed in seeds:
        for name in SHAPES:
            text, kind = _shape(name, seed)
            found.append(Planted(name, text, text.split("\n")[1] if "\n" in text else text, kind))
        found += [Planted(name, *_named(name, seed)) for name in NAMED]
    return tuple(found)
