"""Programs with rules of their own: find, dd, date, yq and others."""

import re
from collections.abc import Mapping
from typing import Final

from aw_graders.analysis.bash.arguments import Argument, Parsed, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models.checked import (
    RUNS,
    WRITES,
    Checked,
    Model,
    check_written,
    refuse_doubts,
    refuse_option,
)
from aw_graders.analysis.bash.report import CHECKOUT_SCAN, PRINT_INSTEAD
from aw_graders.diagnostics import quoted

_FIND_RUNS: Final = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FIND_WRITES: Final = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
_FIND_VALUED: Final = frozenset(
    (
        *("-amin", "-anewer", "-atime", "-cmin", "-cnewer", "-context", "-ctime", "-fstype"),
        *("-gid", "-group", "-ilname", "-iname", "-inum", "-ipath", "-iregex", "-iwholename"),
        *("-links", "-lname", "-maxdepth", "-mindepth", "-mmin", "-mtime", "-name", "-newer"),
        *("-path", "-perm", "-printf", "-regex", "-regextype", "-samefile", "-size", "-type"),
        *("-uid", "-used", "-user", "-wholename", "-xtype", "-D"),
    )
)
_FIND_PLAIN: Final = frozenset(
    (
        *("--", "-H", "-L", "-P", "-O1", "-O2", "-O3", "-a", "-and", "-daystart", "-depth", "-d"),
        *("-empty", "-executable", "-false", "-follow", "-help", "--help", "--version", "-ls"),
        *("-mount", "-nogroup", "-noleaf", "-not", "-nouser", "-nowarn", "-o", "-or", "-print"),
        *("-print0", "-prune", "-quit", "-readable", "-true", "-version", "-warn", "-writable"),
        *("-xdev", "-ignore_readdir_race", "-noignore_readdir_race"),
    )
)
_FIND_NEWER: Final = re.compile(r"-newer[aBcm][aBcmt]")
_END_OF_COMMAND: Final = frozenset((";", "+"))
_XXD_VALUED: Final = frozenset(("-c", "-g", "-l", "-s", "-o", "-n", "-R", "-cols", "-len"))
_OPENSSL_READING: Final = frozenset(
    ("base64", "dgst", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "version")
)
_OPENSSL_REFUSED: Final = re.compile(
    r"--?(?:out|keyout|writerand|engine|provider|config|sign|passin|passout|rand)"
)
_XMLLINT_REFUSED: Final = re.compile(r"--?(?:o|output|shell|compress|c14n-out|schematron|catalogs)")
_RG_REFUSED: Final = re.compile(r"--(?:pre|hostname-bin|search-zip)|-[A-Za-z]*z")
_DC_RUNS: Final = frozenset("!")


def _find(call: Call) -> None:
    message = "find lists files of the checkout, not the session"
    call.report.warn(call.node, CHECKOUT_SCAN, message, 'read the session alone: "$1"')
    words = list(call.arguments)
    while words:
        argument = words.pop(0)
        text = argument.text
        if text is None:
            if not argument.is_calm:
                _hidden(call, argument)
        elif text in _FIND_RUNS:
            words = _started(call, words)
        elif text in _FIND_WRITES:
            check_written(call, words[0] if words else None, f"find {text}")
            words = words[1 if text != "-fprintf" else 2 :]
        elif text == "-delete":
            call.report.write(argument.node, "find -delete removes files", PRINT_INSTEAD)
        elif text in _FIND_VALUED or _FIND_NEWER.fullmatch(text):
            value = words.pop(0) if words else None
            if value is not None and not value.is_single:
                _hidden(call, value)
        elif text.startswith("-") and text not in _FIND_PLAIN:
            unknown = f"{quoted(text)} of find is not known to be harmless"
            call.report.dynamic(argument.node, unknown, "leave it out")


def _hidden(call: Call, argument: Argument) -> None:
    message = f"an option of {call.name} may hide in this word"
    call.report.dynamic(argument.node, message, "write the options in the script")


def _started(call: Call, words: list[Argument]) -> list[Argument]:
    """Judge what find runs; give the words behind it."""
    for at, word in enumerate(words):
        if word.text in _END_OF_COMMAND:
            inner = [_found(one) for one in words[:at]]
            call.run(inner)
            return words[at + 1 :]
    call.run([_found(one) for one in words])
    return []


def _found(word: Argument) -> Argument:
    """Put an unknown file name where find puts what it finds."""
    if word.text is None or "{}" not in word.text:
        return word
    head = word.text.partition("{}")[0]
    return Argument(word.node, None, head, is_single=True, is_calm=not head.startswith("-"))


def _dd(call: Call) -> None:
    for argument in call.arguments:
        name, equals, _ = argument.head.partition("=")
        if name == "of" and equals:
            check_written(call, argument.rest(len("of=")), "operand of= of dd")
        elif argument.text is None and (not equals or not argument.is_single):
            message = "an operand of= of dd may hide in this word"
            call.report.dynamic(argument.node, message, 'write the operand: if="$1"')


def _date_operands(call: Call, parsed: Parsed) -> None:
    for operand in parsed.operands:
        if not operand.head.startswith("+"):
            message = "an operand of date sets the clock unless it is a format"
            call.report.dynamic(operand.node, message, "date +%s")


def _xxd(call: Call) -> None:
    operands: list[Argument] = []
    takes_value = False
    for argument in call.arguments:
        if takes_value or (argument.head.startswith("-") and argument.text != "-"):
            takes_value = not takes_value and argument.text in _XXD_VALUED
            continue
        operands.append(argument)
        if argument.text is None and not argument.is_calm:
            _hidden(call, argument)
    if len(operands) > 1 or any(not operand.is_single for operand in operands):
        call.report.write(operands[-1].node, "the second operand of xxd is written")


def _openssl(call: Call) -> None:
    command = call.arguments[0].text if call.arguments else None
    if command not in _OPENSSL_READING:
        call.report.dynamic(call.node, "openssl writes files", "use sha256sum or base64")
    for argument in call.arguments[1:]:
        if argument.text is None and not argument.is_calm:
            _hidden(call, argument)
        elif _OPENSSL_REFUSED.match(argument.head):
            refuse_option(call, argument.node, argument.head, WRITES)


def _searching(refused: re.Pattern[str], why: str) -> Model:
    """Make a model of a program that is harmless but for some options."""

    def judge(call: Call) -> None:
        for argument in call.arguments:
            if argument.text == "--":
                return
            if argument.text is None and not argument.is_calm and not argument.head:
                _hidden(call, argument)
            elif refused.match(argument.head):
                refuse_option(call, argument.node, argument.head, why)

    return judge


def _dc(call: Call) -> None:
    parsed = parse(call.arguments, grammar("e:V", "expression: version"))
    refuse_doubts(call, parsed)
    programs = list(parsed.values("e", "expression"))
    is_read = programs and not parsed.operands
    if not is_read or any(one.text is None or _DC_RUNS & set(one.text) for one in programs):
        message = "a program of dc may run other programs"
        call.report.dynamic(call.node, message, "use bc, awk or ((...))")


_YQ: Final = Checked(
    grammar(
        "CehiI:jMnNo:Pp:rs:vV0cSyYxta",
        "colors exit-status help inplace in-place indent: tojson no-colors null-input no-doc"
        " output-format: prettyPrint input-format: unwrapScalar:: split-exp: split-exp-file:"
        " verbose version nul-output raw-output compact-output sort-keys yaml-output arg:"
        " argjson: slurp from-file: header-preprocess:: front-matter: expression:",
    ),
    refused={
        "i": WRITES,
        "inplace": WRITES,
        "in-place": WRITES,
        "s": WRITES,
        "split-exp": WRITES,
        "split-exp-file": WRITES,
        "front-matter": WRITES,
    },
)
_DATE: Final = Checked(
    grammar(
        "d:f:I::r:Rs:u",
        "date: debug file: iso-8601:: reference: resolution rfc-email rfc-2822 rfc-3339: set:"
        " universal utc uct help version",
    ),
    refused={"s": "sets the clock", "set": "sets the clock"},
    operands=_date_operands,
)

PROGRAMS: Final[Mapping[str, Model]] = {
    "date": _DATE,
    "dc": _dc,
    "dd": _dd,
    **dict.fromkeys(("find", "gfind"), _find),
    "openssl": _openssl,
    "rg": _searching(_RG_REFUSED, RUNS),
    "xmllint": _searching(_XMLLINT_REFUSED, WRITES),
    "xxd": _xxd,
    **dict.fromkeys(("jaq", "tomlq", "xq", "xq-python", "yq"), _YQ),
}
