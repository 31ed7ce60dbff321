"""Programs that fetch: a warning when they only print, an error when they write or run things."""

import re
from collections.abc import Mapping
from typing import Final

from aw_graders.analysis.bash.arguments import Argument, grammar, parse
from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models.checked import (
    WRITES,
    Model,
    check_written,
    dashed,
    refuse_doubts,
    refuse_option,
)
from aw_graders.analysis.bash.report import FETCH, PRINT_INSTEAD
from aw_graders.diagnostics import quoted

_CURL: Final = grammar(
    "0123#46aA:b:Bc:C:d:D:e:E:fF:gGhH:iIjJkK:lLm:MnNo:Oppx:P:qQ:r:RsSt:T:u:U:vVw:X:y:Y:z:Z",
    "request: header: data: data-raw: data-binary: data-ascii: data-urlencode: json: form:"
    " form-string: user: user-agent: referer: url: max-time: connect-timeout: retry:"
    " retry-delay: retry-max-time: retry-all-errors silent show-error no-progress-meter"
    " progress-bar fail fail-with-body location verbose version help head include get insecure"
    " compressed http1.0 http1.1 http2 ipv4 ipv6 proxy: noproxy: globoff path-as-is range: cookie:"
    " write-out: upload-file: cacert: max-redirs: max-filesize: oauth2-bearer: netrc"
    " output: remote-name remote-name-all remote-header-name dump-header: cookie-jar: trace:"
    " trace-ascii: stderr: config: libcurl: etag-save: hsts: alt-svc: output-dir: create-dirs",
)
_CURL_FILES: Final = frozenset(
    (
        *("o", "output", "D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr"),
        *("libcurl", "etag-save", "hsts", "alt-svc"),
    )
)
_CURL_REFUSED: Final = frozenset(
    (
        *("O", "remote-name", "remote-name-all", "J", "remote-header-name", "K", "config"),
        *("output-dir", "create-dirs"),
    )
)
_WGET: Final = grammar(
    "qSO:T:t:U:nv46",
    "output-document: quiet server-response timeout: tries: user-agent: header: no-verbose"
    " post-data: method: body-data: no-check-certificate no-hsts max-redirect:",
)
_GH_READING: Final = frozenset(("checks", "diff", "list", "ls", "status", "view"))
_GH_OBJECTS: Final = frozenset(
    (
        *("auth", "cache", "gist", "issue", "label", "org", "pr", "project", "release", "repo"),
        *("ruleset", "run", "secret", "variable", "workflow"),
    )
)
_GH_ALONE: Final = frozenset(("api", "search", "status", "version", "--version"))
_GH_REFUSED: Final = re.compile(
    r"--(?:cache|web|log|dir|output|archive|clobber|editor|body-file|recover)|-[A-Za-z]*[wDOe]"
)
_GIT_READING: Final = frozenset(
    (
        *("blame", "cat-file", "describe", "diff", "for-each-ref", "grep", "log", "ls-files"),
        *("ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse", "shortlog", "show"),
        *("show-ref", "version", "--version", "var", "count-objects", "diff-tree"),
    )
)
_GIT_CONFIG: Final = frozenset(("--get", "--get-all", "--get-regexp", "--list", "-l"))
_GIT_REFUSED: Final = (
    *("--output", "--ext-diff", "--textconv", "--filters", "--open-files-in-pager"),
    *("--output-directory", "--exec", "--upload-pack", "--paginate", "--help"),
)
_GIT_FREE: Final = frozenset(("--no-pager", "--no-replace-objects", "--bare", "-P"))
_GIT_VALUED: Final = frozenset(("-C", "--git-dir", "--work-tree", "--namespace"))
_OFFLINE: Final = frozenset(("-h", "--help", "--version", "-V"))
_NC: Final = re.compile(r"-[46bdklnNrtuvwz]+")
_FETCH_HINT: Final = "read what the session recorded"


def _warn(call: Call) -> None:
    if len(call.arguments) == 1 and call.arguments[0].text in _OFFLINE:
        return
    message = f"{call.name} fetches evidence, which the session alone may give"
    call.report.warn(call.node, FETCH, message, _FETCH_HINT)


def _curl(call: Call) -> None:
    parsed = parse(call.arguments, _CURL)
    refuse_doubts(call, parsed)
    for option in parsed.options:
        name = dashed(option.name)
        if option.name in _CURL_REFUSED:
            refuse_option(call, option.node, name, WRITES)
        elif option.name in _CURL_FILES:
            if option.value is None or option.value.text != "-":
                check_written(call, option.value, f"option {name} of curl")
        elif option.name in ("w", "write-out"):
            _check_format(call, option.value)
    _warn(call)


def _check_format(call: Call, value: Argument | None) -> None:
    text = None if value is None else value.text
    if value is not None and (text is None or "output{" in text or text.startswith("@")):
        message = "a format of curl may name a file that it writes"
        call.report.dynamic(value.node, message, "write the format in the script")


def _wget(call: Call) -> None:
    parsed = parse(call.arguments, _WGET)
    refuse_doubts(call, parsed)
    targets = [value.text for value in parsed.values("O", "output-document")]
    if not targets or any(target not in ("-", "/dev/stdout", "/dev/null") for target in targets):
        call.report.write(call.node, "wget writes what it fetches to a file", PRINT_INSTEAD)
    _warn(call)


def _gh(call: Call) -> None:
    words = [argument for argument in call.arguments if not argument.head.startswith("-")]
    options = [argument for argument in call.arguments if argument.head.startswith("-")]
    first = call.arguments[0].text if call.arguments else None
    second = words[1].text if words[1:] else None
    for argument in call.arguments:
        if argument.text is None and not argument.is_calm and not argument.head:
            message = "an option of gh may hide in this word"
            call.report.dynamic(argument.node, message, "write the options in the script")
    for option in options:
        if _GH_REFUSED.match(option.head):
            refuse_option(call, option.node, option.head, WRITES)
    is_reading = first in _GH_OBJECTS and second in _GH_READING
    if first not in _GH_ALONE and not is_reading:
        call.report.write(call.node, "gh changes files or the repository", PRINT_INSTEAD)
    _warn(call)


def _git(call: Call) -> None:
    arguments = list(call.arguments)
    while arguments and (arguments[0].head.startswith("-") and arguments[0].text != "--version"):
        option = arguments.pop(0)
        name, equals, _ = option.head.partition("=")
        if name in _GIT_VALUED and not equals and arguments:
            arguments.pop(0)
        elif name not in _GIT_VALUED and option.text not in _GIT_FREE:
            message = f"option {quoted(option.head)} of git may run another program"
            call.report.dynamic(option.node, message, "leave the option out")
            return
    if not arguments:
        return
    command, rest = arguments[0].text, arguments[1:]
    if command is None:
        call.report.dynamic(
            arguments[0].node,
            "what git does is known only when the script runs",
            "write the command of git in the script",
        )
    elif (
        command == "config" and any(argument.text in _GIT_CONFIG for argument in rest[:1])
    ) or command in _GIT_READING:
        _check_git_words(call, rest)
    else:
        call.report.write(call.node, f"git {command} changes files or the repository")
    _warn(call)


def _check_git_words(call: Call, words: list[Argument]) -> None:
    for argument in words:
        if argument.text == "--":
            return
        if argument.text is None and not argument.is_calm:
            message = "an option of git may hide in this word"
            call.report.dynamic(argument.node, message, "write the options in the script")
            continue
        name = argument.head.partition("=")[0]
        is_long = name.startswith("--") and len(name) > len("--")
        if is_long and any(refused.startswith(name) for refused in _GIT_REFUSED):
            refuse_option(call, argument.node, name, WRITES)
        elif name.startswith("-O") or (name.startswith("-") and not is_long and "O" in name):
            refuse_option(call, argument.node, name, "runs another program")


def _nc(call: Call) -> None:
    for argument in call.arguments:
        is_option = argument.head.startswith("-")
        if (argument.text is None and not argument.is_calm) or (
            is_option and _NC.fullmatch(argument.text or "") is None
        ):
            message = f"an option of {call.name} may write a file or run a program"
            call.report.dynamic(argument.node, message, _FETCH_HINT)
    _warn(call)


NETWORK: Final[Mapping[str, Model]] = {
    "curl": _curl,
    "gh": _gh,
    "git": _git,
    **dict.fromkeys(("nc", "ncat", "netcat"), _nc),
    "wget": _wget,
}
