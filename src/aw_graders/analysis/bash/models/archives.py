"""Programs that pack and unpack: only what ends on standard output is allowed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aw_graders.analysis.bash.arguments import Argument, Grammar, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models.checked import Model, refuse_doubts

_STDOUT_HINT: Final = "unpack to standard output: gzip -dc, tar -xO, unzip -p"
_TAR: Final = grammar(
    "txOzjJavwf:T:X:pPC:",
    "list extract get to-stdout file: gzip gunzip bzip2 xz zstd lzip auto-compress verbose"
    " wildcards no-wildcards directory: exclude: files-from: occurrence:: null ignore-case"
    " no-recursion help version strip-components:",
)
_TAR_MODES: Final = frozenset(("t", "list"))
_TAR_EXTRACTS: Final = frozenset(("x", "extract", "get"))
_OLD_STYLE: Final = re.compile(r"[A-Za-z]+")
_UNZIP: Final = re.compile(r"-[plztZ1cqCasS]*[plztZc][plztZ1cqCasS]*")


@dataclass(frozen=True, slots=True)
class Packer:
    """A program that replaces its operands, unless one of some options is given."""

    grammar: Grammar
    harmless: frozenset[str]

    def __call__(self, call: Call) -> None:
        """Judge one call of the program."""
        parsed = parse(call.arguments, self.grammar)
        refuse_doubts(call, parsed)
        if parsed.operands and not parsed.has(*self.harmless):
            call.report.write(call.node, f"{call.name} replaces files", _STDOUT_HINT)


def _tar(call: Call) -> None:
    arguments = list(call.arguments)
    if arguments and arguments[0].text and _OLD_STYLE.fullmatch(arguments[0].text):
        arguments = _clustered(arguments)
    parsed = parse(arguments, _TAR)
    refuse_doubts(call, parsed)
    names = {option.name for option in parsed.options}
    if not names & _TAR_MODES and not (names & _TAR_EXTRACTS and names & {"O", "to-stdout"}):
        if not names & {"help", "version"}:
            call.report.write(call.node, "tar packs or unpacks files", _STDOUT_HINT)
        return
    for value in parsed.values("f", "file"):
        if ":" in value.head or (value.text is None and not value.is_calm):
            message = "tar starts another program for an archive on another machine"
            call.report.dynamic(value.node, message, "name a file without a colon")


def _clustered(arguments: list[Argument]) -> list[Argument]:
    """Write letters without a dash as options: their values stand behind all of them."""
    letters, *rest = arguments
    spread: list[Argument] = []
    for letter in letters.text or "":
        spread.append(
            Argument(letters.node, f"-{letter}", f"-{letter}", is_single=True, is_calm=False)
        )
        if _TAR.short.find(letter + ":") >= 0 and rest:
            spread.append(rest.pop(0))
    return [*spread, *rest]


def _unzip(call: Call) -> None:
    options = [argument for argument in call.arguments if argument.head.startswith("-")]
    hidden = [one for one in call.arguments if one.text is None and not one.is_calm]
    is_shown = len(options) == 1 and _UNZIP.fullmatch(options[0].text or "") is not None
    if not is_shown or hidden:
        call.report.write(call.node, "unzip unpacks files", _STDOUT_HINT)


_GZIP: Final = Packer(
    grammar(
        "acdfhklLnNqrtvV123456789S:",
        "stdout to-stdout decompress uncompress force help keep list license no-name name quiet"
        " recursive test verbose version fast best suffix:",
    ),
    frozenset(("c", "stdout", "to-stdout", "l", "list", "t", "test", "h", "help", "V", "version")),
)
_BZIP2: Final = Packer(
    grammar(
        "cdzkftvqsLVh123456789",
        "stdout decompress compress keep force test verbose quiet small license version help"
        " fast best",
    ),
    frozenset(("c", "stdout", "t", "test", "h", "help", "V", "version")),
)
_XZ: Final = Packer(
    grammar(
        "zdtlkfcqQvhHVeT:0123456789",
        "compress decompress uncompress test list keep force stdout to-stdout quiet no-warn"
        " verbose help version extreme threads: format:",
    ),
    frozenset(("c", "stdout", "to-stdout", "t", "test", "l", "list", "h", "help", "V", "version")),
)
_ZSTD: Final = Packer(
    grammar(
        "cdzfkqvtlhV0123456789T:",
        "stdout decompress uncompress compress force keep quiet verbose test list help version",
    ),
    frozenset(("c", "stdout", "t", "test", "l", "list", "h", "help", "V", "version")),
)

ARCHIVES: Final[Mapping[str, Model]] = {
    **dict.fromkeys(("gzip", "gunzip"), _GZIP),
    **dict.fromkeys(("bzip2", "bunzip2"), _BZIP2),
    "xz": _XZ,
    **dict.fromkeys(("zstd", "zstdcat"), _ZSTD),
    **dict.fromkeys(("bsdtar", "gtar", "tar"), _tar),
    "unzip": _unzip,
}
