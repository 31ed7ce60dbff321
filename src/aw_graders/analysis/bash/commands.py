"""Finds out which command a line runs, and hands it to the model of that command."""

import re
from dataclasses import replace
from typing import Final

from aw_graders.analysis.bash.context import Call, Context, Where
from aw_graders.analysis.bash.registry import model_of
from aw_graders.analysis.bash.report import UNKNOWN_COMMAND
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.variables import check_text
from aw_graders.diagnostics import quoted

_TRUSTED: Final = re.compile(r"(?:/usr/local|/usr|)/s?bin/([^/]+)")
_RESERVED: Final = frozenset(
    (
        *("!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi"),
        *("for", "function", "if", "in", "select", "then", "until", "while"),
    )
)
# Their arguments are texts in other languages, in which brackets and dollars mean other things.
_OTHER_LANGUAGES: Final = frozenset(
    (
        *("awk", "gawk", "mawk", "nawk", "original-awk", "sed", "gsed", "grep", "egrep", "fgrep"),
        *("rg", "zgrep", "find", "expr", "tr", "trap"),
    )
)


def judge_command(node: Node, where: Where, context: Context) -> None:
    """Judge a command with its words.

    Takes: a CallExpr; what only assigns is judged elsewhere.
    """
    words = node.nodes("Args")
    if words:
        arguments = [context.argument(word, where.function) for word in words]
        judge(Call("", arguments[0], arguments[1:], where, context))


def judge(call: Call) -> None:
    """Judge a command, whether a line or another command starts it."""
    name = call.command.text
    if name is None or not name:
        message = "the name of the command is known only when the script runs"
        hint = "write the name itself; use case to choose between commands"
        call.report.dynamic(call.node, message, hint)
        return
    if "/" in name:
        match = _TRUSTED.fullmatch(name)
        if match is None:
            message = f"{quoted(name)} is a program that is not read here"
            hint = "use a command of the system, or write a function in the script"
            call.report.dynamic(call.node, message, hint)
            return
        _run(_called(call, match[1], is_builtin=False))
    else:
        _run(_called(call, name, is_builtin=call.is_builtin))


def _called(call: Call, name: str, *, is_builtin: bool) -> Call:
    return replace(call, name=name, is_builtin=is_builtin)


def _run(call: Call) -> None:
    if call.name not in _OTHER_LANGUAGES:
        _check_texts(call)
    model = model_of(call.name)
    if model is not None:
        model(call)
    elif call.name in _RESERVED or call.name.startswith("-") or "=" in call.name:
        message = f"{quoted(call.name)} is a word of Bash, and no command here"
        call.report.dynamic(call.node, message, "write the construct in its usual form")
    elif not (call.is_builtin and call.name in call.context.facts.functions):
        message = f"{quoted(call.name)} is no command that is known here"
        hint = "use jq, awk and the usual text tools; check that it writes nothing"
        call.report.warn(call.node, UNKNOWN_COMMAND, message, hint)


def _check_texts(call: Call) -> None:
    for argument in call.arguments:
        if argument.text is not None and "[" in argument.text:
            check_text(argument.node, argument.text, call.context)
