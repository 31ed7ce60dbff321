"""ECMAScript regular expressions, flag `i`, searched for in linear time.

A pattern is read by the grammar of ECMAScript without the flag `u` and spelled anew for RE2. Letters
become classes of their own case variants, since both engines fold case by rules of their own. What
RE2 cannot express (assertions around a place, references back) is `InexpressibleError`; what
ECMAScript would not compile is `PatternError`.
Source: ECMA-262, 15th edition, sections 22.2.1 and B.1.2.
"""

from collections.abc import Callable
from typing import Final, NoReturn

from aw_graders.graders.characters import (
    LINE_ENDS,
    Ranges,
    folded_ranges,
    literal,
    negated_class,
    shorthand,
    spelled_class,
)

# RE2 refuses larger counts of repetition.
_MAX_REPEAT: Final = 1000
_MAX_PATTERN_CHARACTERS: Final = 10_000
# Groups inside groups, far beyond any that were meant.
_MAX_DEPTH: Final = 100
_HEX: Final = "0123456789abcdefABCDEF"
_DIGITS: Final = "0123456789"
_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}


class PatternError(ValueError):
    """A pattern that ECMAScript does not compile."""


class InexpressibleError(ValueError):
    """A pattern that ECMAScript compiles and a linear-time engine cannot express."""


def _refuse(what: str) -> NoReturn:
    raise PatternError(what)


class Search:
    """A compiled pattern: tells whether an `encoded` text holds a match.

    `is_local` says that a match looks at nothing around it, so that whatever holds a text with a
    match has one, too.
    """

    __slots__ = ("_search", "is_local")

    def __init__(self, search: Callable[[bytes], object], *, is_local: bool) -> None:
        """Take the engine's own search."""
        self._search = search
        self.is_local = is_local

    def __call__(self, text: bytes) -> bool:
        """Search `text`. Cost: O(text)."""
        return self._search(text) is not None


def compile_pattern(pattern: str) -> Search:
    """Compile a pattern to a search that is case-insensitive and not anchored.

    Raises: PatternError; InexpressibleError, which names the construct.
    Cost: O(pattern); each search O(text).
    """
    # Loaded here because hardly a run has patterns.
    import re2  # noqa: PLC0415

    if len(pattern) > _MAX_PATTERN_CHARACTERS:
        msg = f"the pattern has more than {_MAX_PATTERN_CHARACTERS} characters"
        raise InexpressibleError(msg)
    translator = _Translator(pattern)
    spelled = translator.whole()
    try:
        options = re2.Options()
        options.log_errors = False
        compiled = re2.compile(spelled.encode(), options)
    except re2.error:
        msg = "the pattern is too large for a linear-time engine"
        raise InexpressibleError(msg) from None
    return Search(compiled.search, is_local=not translator.has_assertions)


class _Translator:
    """Reads a pattern from left to right; each method leaves `at` behind what it has read."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.names: set[str] = set()
        self.has_names = "(?<" in pattern and _has_named_group(pattern)
        self.groups = _group_count(pattern)
        self.inexpressible: str | None = None
        self.has_assertions = False

    def whole(self) -> str:
        spelled = self._disjunction(0)
        if self.at < len(self.pattern):
            _refuse("unmatched )")
        # Only now is it known that the pattern is one at all.
        if self.inexpressible is not None:
            raise InexpressibleError(self.inexpressible)
        return spelled

    def _cannot(self, what: str) -> str:
        """Note the first construct that has no equal, and stand in for it."""
        self.inexpressible = self.inexpressible or f"{what} cannot be searched for in linear time"
        return ""

    def _peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _disjunction(self, depth: int) -> str:
        if depth > _MAX_DEPTH:
            msg = "the pattern nests too deeply"
            raise InexpressibleError(msg)
        parts = [self._alternative(depth)]
        while self._peek("|"):
            self.at += 1
            parts.append(self._alternative(depth))
        return "|".join(parts)

    def _alternative(self, depth: int) -> str:
        terms: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            terms.append(self._term(depth))
        return "".join(terms)

    def _term(self, depth: int) -> str:
        char = self.pattern[self.at]
        if char in "^$":
            self.at += 1
            return self._unrepeated("^" if char == "^" else r"\z")
        if self._peek("\\b") or self._peek("\\B"):
            self.at += 2
            return self._unrepeated(self.pattern[self.at - 2 : self.at])
        return self._quantified(self._atom(depth))

    def _unrepeated(self, assertion: str) -> str:
        self.has_assertions = True
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?":
            _refuse("nothing to repeat")
        if self._braces() is not None:
            _refuse("nothing to repeat")
        # Assertions and classes are spelled so that RE2 cannot join them with what follows.
        return f"(?:{assertion})"

    def _atom(self, depth: int) -> str:
        char = self.pattern[self.at]
        if char == "(":
            return self._group(depth)
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        if char in "*+?":
            _refuse("nothing to repeat")
        if char == "{" and self._braces() is not None:
            _refuse("nothing to repeat")
        self.at += 1
        return negated_class(LINE_ENDS) if char == "." else literal(ord(char))

    def _group(self, depth: int) -> str:
        if self._peek("(?=") or self._peek("(?!"):
            self.at += 3
            self._cannot("a lookahead")
        elif self._peek("(?<=") or self._peek("(?<!"):
            self.at += 4
            self._cannot("a lookbehind")
            self._closed(depth)
            return self._unrepeated("")
        elif self._peek("(?<"):
            self.at += 3
            self._name()
        elif self._peek("(?:"):
            self.at += 3
        elif self._peek("(?"):
            _refuse("invalid group")
        else:
            self.at += 1
        return f"(?:{self._closed(depth)})"

    def _closed(self, depth: int) -> str:
        inner = self._disjunction(depth + 1)
        if not self._peek(")"):
            _refuse("unterminated group")
        self.at += 1
        return inner

    def _name(self) -> None:
        end = self.pattern.find(">", self.at)
        name = self.pattern[self.at : end] if end >= 0 else ""
        if not name.replace("$", "_").isidentifier() or name in self.names:
            _refuse("invalid group name")
        self.names.add(name)
        self.at = end + 1

    # --- repetition ------------------------------------------------------------

    def _braces(self) -> tuple[int, int | None, int] | None:
        """Read `{n}`, `{n,}` or `{n,m}` ahead: least, most, and where it ends; else None."""
        if not self._peek("{"):
            return None
        end = self.pattern.find("}", self.at)
        inner = self.pattern[self.at + 1 : end] if end >= 0 else ""
        least, comma, most = inner.partition(",")
        if not _is_number(least) or (most and not _is_number(most)):
            return None
        if not comma:
            return int(least), int(least), end + 1
        return int(least), int(most) if most else None, end + 1

    def _quantifier(self) -> str:
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?":
            self.at += 1
            spelled = self.pattern[self.at - 1]
        else:
            braces = self._braces()
            if braces is None:
                return ""
            least, most, self.at = braces
            if most is not None and most < least:
                _refuse("numbers out of order in a repetition")
            if max(least, most or 0) > _MAX_REPEAT:
                self._cannot(f"more than {_MAX_REPEAT} repetitions")
            spelled = f"{{{least},{'' if most is None else most}}}"
        if self._peek("?"):
            self.at += 1
        return spelled

    def _quantified(self, atom: str) -> str:
        quantifier = self._quantifier()
        return f"(?:{atom}){quantifier}" if quantifier else atom

    # --- escapes and classes ---------------------------------------------------

    def _escape(self) -> str:
        self.at += 1
        if self.at >= len(self.pattern):
            _refuse("\\ at the end of the pattern")
        char = self.pattern[self.at]
        ranges = shorthand(char)
        if ranges is not None:
            self.at += 1
            return spelled_class(ranges)
        if char in "123456789":
            digits = self._digits()
            if int(digits) <= self.groups:
                self.at += len(digits)
                return self._cannot("a reference back to a group")
        if char == "k" and self.has_names:
            self.at += 1
            if not self._peek("<"):
                _refuse("invalid named reference")
            end = self.pattern.find(">", self.at)
            if self.pattern[self.at + 1 : max(end, 0)] not in _names(self.pattern):
                _refuse("invalid named reference")
            self.at = end + 1
            return self._cannot("a reference back to a group")
        return literal(self._character())

    def _digits(self) -> str:
        end = self.at
        while end < len(self.pattern) and self.pattern[end] in _DIGITS:
            end += 1
        return self.pattern[self.at : end]

    def _character(self, *, in_class: bool = False) -> int:  # noqa: PLR0911 - one for each kind
        """Read what follows a backslash as one character, as Annex B reads it."""
        char = self.pattern[self.at]
        self.at += 1
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "b" and in_class:
            return 0x08
        if char in "01234567":
            return self._octal(char)
        if char in "xu":
            width = 2 if char == "x" else 4
            digits = self.pattern[self.at : self.at + width]
            if len(digits) == width and all(digit in _HEX for digit in digits):
                self.at += width
                return self._joined(int(digits, 16))
            return ord(char)
        if char == "c":
            return self._control(in_class=in_class)
        return ord(char)

    def _joined(self, unit: int) -> int:
        """Join the two escapes of a character beyond the first plane."""
        if 0xD800 <= unit <= 0xDBFF and self._peek("\\u"):  # noqa: PLR2004 - surrogates
            digits = self.pattern[self.at + 2 : self.at + 6]
            if len(digits) == 4 and all(digit in _HEX for digit in digits):  # noqa: PLR2004
                low = int(digits, 16)
                if 0xDC00 <= low <= 0xDFFF:  # noqa: PLR2004
                    self.at += 6
                    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        return unit

    def _octal(self, first: str) -> int:
        digits = first
        most = 3 if first in "0123" else 2
        while len(digits) < most and self.at < len(self.pattern):
            if self.pattern[self.at] not in "01234567":
                break
            digits += self.pattern[self.at]
            self.at += 1
        return int(digits, 8)

    def _control(self, *, in_class: bool) -> int:
        following = self.pattern[self.at : self.at + 1]
        is_letter = following.isascii() and following.isalpha()
        if is_letter or (in_class and following and following in _DIGITS + "_"):
            self.at += 1
            return ord(following) % 32
        # A lone \c is a backslash, and the letter stands for itself.
        self.at -= 1
        return ord("\\")

    def _class(self) -> str:
        self.at += 1
        is_negated = self._peek("^")
        self.at += is_negated
        ranges: list[tuple[int, int]] = []
        while not self._peek("]"):
            first = self._class_atom()
            if self._peek("-") and not self.pattern.startswith("-]", self.at):
                self.at += 1
                last = self._class_atom()
                if (
                    len(first) == len(last) == 1
                    and first[0][0] == first[0][1]
                    and (last[0][0] == last[0][1])
                ):
                    if first[0][0] > last[0][0]:
                        _refuse("range out of order in a class")
                    ranges.append((first[0][0], last[0][0]))
                else:
                    ranges += [*first, (ord("-"), ord("-")), *last]
            else:
                ranges += first
        self.at += 1
        folded = folded_ranges(tuple(ranges))
        return negated_class(folded) if is_negated else spelled_class(folded)

    def _class_atom(self) -> Ranges:
        if self.at >= len(self.pattern):
            _refuse("unterminated class")
        char = self.pattern[self.at]
        self.at += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        if self.at >= len(self.pattern):
            _refuse("\\ at the end of the pattern")
        ranges = shorthand(self.pattern[self.at])
        if ranges is not None:
            self.at += 1
            return ranges
        found = self._character(in_class=True)
        return ((found, found),)


def _is_number(text: str) -> bool:
    return bool(text) and len(text) < 10 and all(char in _DIGITS for char in text)  # noqa: PLR2004


def _openings(pattern: str) -> list[int]:
    """Find the parentheses that open a group, outside classes and escapes."""
    found: list[int] = []
    at, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            in_class = True
        elif char == "]":
            in_class = False
        elif char == "(" and not in_class:
            found.append(at)
        at += 1
    return found


def _is_named(pattern: str, at: int) -> bool:
    return pattern.startswith("(?<", at) and pattern[at + 3 : at + 4] not in {"=", "!"}


def _group_count(pattern: str) -> int:
    return sum(
        not pattern.startswith("(?", at) or _is_named(pattern, at) for at in _openings(pattern)
    )


def _has_named_group(pattern: str) -> bool:
    return any(_is_named(pattern, at) for at in _openings(pattern))


def _names(pattern: str) -> set[str]:
    """List the names of groups."""
    return {
        pattern[at + 3 : pattern.find(">", at)]
        for at in _openings(pattern)
        if _is_named(pattern, at)
    }
