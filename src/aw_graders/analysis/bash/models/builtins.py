"""What Bash runs itself: builtins that set names, evaluate texts or change how Bash reads."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from aw_graders.analysis.bash.arguments import Argument, Parsed, grammar, parse
from aw_graders.analysis.bash.context import Call, Where
from aw_graders.analysis.bash.facts import ANYWHERE, identifier
from aw_graders.analysis.bash.models.checked import Model, refuse_doubts
from aw_graders.analysis.bash.models.declarations import check_declaring_call
from aw_graders.analysis.bash.names import holds_code, is_variable
from aw_graders.analysis.bash.report import LEGACY_STDIN
from aw_graders.analysis.bash.variables import check_name, check_text
from aw_graders.analysis.bash.words import literal_pieces
from aw_graders.diagnostics import quoted

_READ: Final = grammar("ersa:d:i:n:N:p:t:u:", stops=True)
_MAPFILE: Final = grammar("td:n:O:s:u:C:c:", stops=True)
_WAIT: Final = grammar("fnp:", stops=True)
_UNSET: Final = grammar("fvn", stops=True)
_TRAP: Final = grammar("lp", stops=True)
_EXEC: Final = grammar("cla:", stops=True)
_HASH: Final = grammar("lrp:dt", stops=True)
_SHOPT: Final = grammar("pqsuo", stops=True)
_HARMLESS_SHOPT: Final = frozenset(
    (
        *("assoc_expand_once", "autocd", "cdspell", "checkhash", "checkjobs", "checkwinsize"),
        *("cmdhist", "dirspell", "dotglob", "extglob", "extquote", "failglob", "force_fignore"),
        *("globasciiranges", "globskipdots", "globstar", "huponexit", "inherit_errexit"),
        *("lastpipe", "nocaseglob", "nocasematch", "noexpand_translation", "nullglob"),
        *("patsub_replacement", "promptvars", "varredir_close", "xpg_echo"),
    )
)
_HARMLESS_SET: Final = frozenset(
    (
        *("allexport", "braceexpand", "errexit", "errtrace", "functrace", "hashall", "monitor"),
        *("noclobber", "noexec", "noglob", "notify", "nounset", "onecmd", "physical", "pipefail"),
        *("privileged", "verbose", "xtrace"),
    )
)
_SET_LETTERS: Final = re.compile(r"[-+][abefhmnptuvxBCETP]*o?")
_COMPGEN: Final = re.compile(r"-(?:[abcdefgjksuv]+|[AGXPS])")
_NAMES: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NO_NAME: Final = re.compile(r"[^\w\[\]-]")
_OPTION_HINT: Final = "leave this option as it is"
_NAMES_HINT: Final = "name the variable in the script"
_STDIN_HINT: Final = 'read the session from "$1", which is also $GH_AW_SESSION_FILE'


def warn_empty_input(call: Call) -> None:
    """Tell the author that standard input has been empty since evaluators get a session file."""
    if not call.where.has_input and not call.where.function:
        message = f"{call.name} reads standard input, which is empty"
        call.report.warn(call.node, LEGACY_STDIN, message, _STDIN_HINT)


def _evaluator(call: Call) -> None:
    message = f"{call.name} runs code that cannot be read before the script runs"
    call.report.dynamic(call.node, message, "write the commands in the script itself")


def _refused(call: Call) -> None:
    message = f"{call.name} changes what later lines mean, or writes files"
    call.report.dynamic(call.node, message, "leave it out, or write a function")


def _set_names(call: Call, names: Iterable[Argument]) -> None:
    for argument in names:
        text = argument.text
        if text is not None and not is_variable(text):
            message = f"{quoted(text)} is not plainly the name of a variable"
            call.report.dynamic(argument.node, message, _NAMES_HINT)
        else:
            check_name(argument.node, None if text is None else identifier(text), call.context)


def _read(call: Call) -> None:
    parsed = parse(call.arguments, _READ)
    refuse_doubts(call, parsed)
    _set_names(call, [*parsed.values("a"), *parsed.operands])
    if not parsed.has("u"):
        warn_empty_input(call)


def _mapfile(call: Call) -> None:
    parsed = parse(call.arguments, _MAPFILE)
    refuse_doubts(call, parsed)
    for option in parsed.options:
        if option.name == "C":
            message = f"option -C of {call.name} evaluates a text for the lines it reads"
            call.report.dynamic(option.node, message, "loop over the array afterwards")
    _set_names(call, parsed.operands)
    if not parsed.has("u"):
        warn_empty_input(call)


def _printf(call: Call) -> None:
    if not call.arguments:
        return
    first = call.arguments[0]
    if first.head.startswith("-v") and first.head != "--":
        name = first.rest(2) if len(first.head) > len("-v") or first.text is None else None
        if name is None and call.arguments[1:]:
            name = call.arguments[1]
        _set_names(call, () if name is None else (name,))
    elif call.arguments[1:] and not first.is_calm and not _is_format(first):
        message = "option -v of printf may hide in this word"
        call.report.dynamic(first.node, message, "printf '%s' \"$text\"")


def _is_format(argument: Argument) -> bool:
    """Tell whether a word is sure to be no `-vNAME`: a text in it is part of no name."""
    pieces = "".join(literal_pieces(argument.node))
    return argument.text is not None or _NO_NAME.search(pieces) is not None


def _getopts(call: Call) -> None:
    _set_names(call, call.arguments[1:2])


def _wait(call: Call) -> None:
    parsed = parse(call.arguments, _WAIT)
    _set_names(call, list(parsed.values("p")))
    for argument in parsed.doubtful:
        if argument.head.startswith("-"):
            refuse_doubts(call, Parsed(doubtful=[argument]))


def _unset(call: Call) -> None:
    parsed = parse(call.arguments, _UNSET)
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    if not parsed.has("f"):
        _set_names(call, parsed.operands)


def _test(call: Call) -> None:
    for at, argument in enumerate(call.arguments[:-1]):
        if argument.text in ("-v", "-R"):
            named = call.arguments[at + 1]
            if named.text is None:
                _set_names(call, (named,))
            else:
                check_text(named.node, named.text, call.context)
                if holds_code(named.text):
                    _set_names(call, (named,))


def _trap(call: Call) -> None:
    parsed = parse(call.arguments, _TRAP)
    operands = parsed.operands
    if parsed.has("l", "p") or not operands:
        return
    handler = operands[0]
    text = handler.text
    if text in ("", "-") or (text is not None and (text.isdigit() or not operands[1:])):
        return
    root = None if text is None else call.context.handlers.get(text)
    if root is None:
        message = "the handler of this trap is known only when the script runs"
        hint = "write the handler in single quotes, or name a function"
        call.report.dynamic(handler.node, message, hint)
        return
    outer = call.report.within
    call.report.within = outer or handler.node
    call.context.walk_handler(text or "", root, Where(ANYWHERE, has_input=True))
    call.report.within = outer


def _exec(call: Call) -> None:
    parsed = parse(call.arguments, _EXEC)
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    call.run(parsed.operands)


def _command(call: Call) -> None:
    parsed = parse(call.arguments, grammar("pvV", stops=True))
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    if not parsed.has("v", "V"):
        call.run(parsed.operands, keeps_builtins=True)


def _builtin(call: Call) -> None:
    arguments = call.arguments
    if arguments and arguments[0].text == "--":
        arguments = arguments[1:]
    call.run(arguments, keeps_builtins=True)


def _hash(call: Call) -> None:
    parsed = parse(call.arguments, _HASH)
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    for option in parsed.options:
        if option.name == "p":
            message = "hash -p gives a name to another program"
            call.report.dynamic(option.node, message, "call the program by its name")
    for argument in parsed.doubtful:
        refuse_doubts(call, Parsed(doubtful=[argument]))


def _alias(call: Call) -> None:
    if call.arguments and not all(argument.text == "-p" for argument in call.arguments):
        message = "an alias makes another command of a name"
        call.report.dynamic(call.node, message, "write a function")


def _enable(call: Call) -> None:
    if any(argument.text not in ("-a", "-p", "-s") for argument in call.arguments):
        message = "enable changes what names stand for"
        call.report.dynamic(call.node, message, "leave builtins as they are")


def _shopt(call: Call) -> None:
    parsed = parse(call.arguments, _SHOPT)
    refuse_doubts(call, Parsed(unknown=parsed.unknown))
    if not parsed.has("s", "u"):
        return
    allowed = _HARMLESS_SET if parsed.has("o") else _HARMLESS_SHOPT
    for operand in parsed.operands:
        if operand.text not in allowed:
            _refuse_option(call, operand)


def _set(call: Call) -> None:
    takes_name = False
    for argument in call.arguments:
        text = argument.text
        if takes_name:
            if text not in _HARMLESS_SET:
                _refuse_option(call, argument)
            takes_name = False
        elif text in ("--", "-"):
            return
        elif text is None:
            if not argument.is_calm:
                _refuse_option(call, argument)
            return
        elif text[:1] not in ("-", "+"):
            return
        elif _SET_LETTERS.fullmatch(text) is None:
            _refuse_option(call, argument)
            return
        else:
            takes_name = text.endswith("o")


def _refuse_option(call: Call, argument: Argument) -> None:
    shown = "this option" if argument.text is None else f"option {quoted(argument.text)}"
    message = f"{shown} of {call.name} changes how Bash reads later lines"
    call.report.dynamic(argument.node, message, _OPTION_HINT)


def _history(call: Call) -> None:
    if any(argument.text not in ("-c", "-d") for argument in call.arguments):
        call.report.write(call.node, f"{call.name} reads and writes files")


def _jobs(call: Call) -> None:
    if any(argument.text is None or "x" in argument.text for argument in call.arguments):
        message = "jobs -x runs the command behind it"
        call.report.dynamic(call.node, message, "call the command itself")


def _compgen(call: Call) -> None:
    for argument in call.arguments:
        text = argument.text
        if text is None or (text.startswith("-") and _COMPGEN.fullmatch(text) is None):
            message = "compgen expands texts and calls functions"
            call.report.dynamic(argument.node, message, "list names with ${!prefix*}")
            return


def _let(call: Call) -> None:
    for argument in call.arguments:
        for name in _NAMES.findall(argument.text or ""):
            check_name(argument.node, name, call.context)
        if argument.text is not None and holds_code(argument.text):
            message = "arithmetic would run what stands in square brackets within this text"
            call.report.dynamic(argument.node, message, "write ((...)) instead of let")


BUILTINS: Final[Mapping[str, Model]] = {
    **dict.fromkeys((".", "eval", "source"), _evaluator),
    **dict.fromkeys(("bind", "complete", "compopt", "fc"), _refused),
    **dict.fromkeys(("declare", "export", "local", "readonly", "typeset"), check_declaring_call),
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **dict.fromkeys(("[", "test"), _test),
    "alias": _alias,
    "builtin": _builtin,
    "command": _command,
    "compgen": _compgen,
    "enable": _enable,
    "exec": _exec,
    "getopts": _getopts,
    "hash": _hash,
    "history": _history,
    "jobs": _jobs,
    "let": _let,
    "printf": _printf,
    "read": _read,
    "set": _set,
    "shopt": _shopt,
    "trap": _trap,
    "unset": _unset,
    "wait": _wait,
}
