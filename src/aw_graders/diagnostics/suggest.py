"""The nearest word that would have been right."""

from collections.abc import Iterable
from typing import Final

# Longer words are no slip of the finger, and comparing them costs their length squared.
_MAX_WORD_CHARACTERS: Final = 64


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Find the candidate that `word` was probably meant to be.

    Takes: any word; case and the choice between `_` and `-` do not matter.
    Returns: one of `candidates`, the first of equally near ones, or None when none is near.
    Raises: nothing.
    """
    if len(word) > _MAX_WORD_CHARACTERS:
        return None
    import difflib  # noqa: PLC0415 - only for words that are wrong

    by_spelling: dict[str, str] = {}
    for candidate in candidates:
        by_spelling.setdefault(_spelling(candidate), candidate)
    found = difflib.get_close_matches(_spelling(word), list(by_spelling), n=1)
    return by_spelling[found[0]] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Write the hint for a word that is none of `candidates`.

    Takes: the word as written, and every word that is allowed, in the order to show them.
    Returns: the nearest word as a question, else all words, or None when nothing is allowed.
    Raises: nothing.
    """
    allowed = tuple(candidates)
    near = closest(word, allowed)
    if near is not None:
        return f'did you mean "{near}"?'
    return f"use one of: {', '.join(allowed)}" if allowed else None


def _spelling(word: str) -> str:
    return word.lower().replace("_", "-")
