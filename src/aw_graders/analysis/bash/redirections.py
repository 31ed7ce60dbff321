"""Judges redirections: what they open for writing, and what they do to descriptors."""

import re
from typing import Final

from aw_graders.analysis.bash.context import Context, Where
from aw_graders.analysis.bash.descriptors import (
    CLOSE,
    OUTPUTS,
    Descriptors,
    is_sink,
    number_of,
)
from aw_graders.analysis.bash.names import is_network
from aw_graders.analysis.bash.report import LEGACY_STDIN
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.words import exact_text, literal_pieces
from aw_graders.diagnostics import quoted

_STANDARD_INPUT: Final = frozenset(("/dev/stdin", "/dev/fd/0"))
_FILES: Final = frozenset((">", ">>", ">|", "<>", "&>", "&>>"))
_READING: Final = frozenset(("<", "<<", "<<-", "<<<"))
_DOCUMENTS: Final = frozenset(("<<", "<<-"))
_ALLOWED: Final = "write to standard output, standard error or /dev/null, spelt out"
_JOINED: Final = re.compile(r"\\\n\t*")


def check_redirection(
    redirect: Node, where: Where, context: Context, descriptors: Descriptors, source: bytes
) -> None:
    """Refuse a redirection that writes a file, or of which nobody can tell that it does not.

    Takes: the redirection, where it stands, and the bytes that its place is about.
    """
    operator, word = redirect.text("Op"), redirect.node("Word")
    if word is None:
        return
    if operator in _DOCUMENTS:
        _document(redirect, word, context, source)
    if operator in _FILES:
        _file(redirect, word, context)
    elif operator == "<":
        _input(redirect, word, where, context)
    elif operator in (">&", "<&"):
        _duplicate(redirect, word, context, descriptors)
    if operator in _READING and number_of(redirect) in OUTPUTS:
        message = f"descriptor {number_of(redirect)} is opened on what is read"
        hint = "read through standard input or a descriptor from 3 on"
        context.report.write(redirect, message, hint)


def _file(redirect: Node, word: Node, context: Context) -> None:
    if is_sink(word, context.sinks):
        return
    operator, text = redirect.text("Op"), exact_text(word)
    if text is None:
        message = f"the target of {quoted(operator)} is known only when the script runs"
        context.report.dynamic(redirect, message, _ALLOWED)
    else:
        context.report.write(redirect, f"{quoted(operator)} writes to {quoted(text)}")


def _input(redirect: Node, word: Node, where: Where, context: Context) -> None:
    text = exact_text(word)
    if is_network("".join(literal_pieces(word))):
        message = "this is a network connection"
        context.report.write(redirect, message, 'read the session: "$1"')
    if text in _STANDARD_INPUT and not where.has_input and not where.function:
        hint = 'read the session from "$1", which is also $GH_AW_SESSION_FILE'
        context.report.warn(redirect, LEGACY_STDIN, "standard input is empty", hint)


def _duplicate(redirect: Node, word: Node, context: Context, descriptors: Descriptors) -> None:
    operator, text = redirect.text("Op"), exact_text(word)
    if text == CLOSE:
        return
    source = descriptors.duplicated(word)
    if source is not None and descriptors.is_good(source):
        return
    is_output = operator == ">&" or number_of(redirect) in OUTPUTS
    if not is_output:
        return
    if operator == ">&" and source is None and text is not None:
        if not is_sink(word, context.sinks):
            context.report.write(redirect, f"{quoted(operator)} writes to {quoted(text)}")
        return
    if operator == ">&" and source is None and is_sink(word, context.sinks):
        return
    if text is None and source is None:
        message = f"the target of {quoted(operator)} is known only when the script runs"
        context.report.dynamic(redirect, message, _ALLOWED)
        return
    message = f"descriptor {source or text} is not always standard output or standard error"
    hint = "duplicate descriptor 1 or 2: `exec 3>&1`"
    context.report.write(redirect, message, hint)


def _document(redirect: Node, word: Node, context: Context, source: bytes) -> None:
    """Refuse a here-document whose end Bash may see elsewhere than the parser does."""
    delimiter = exact_text(word)
    parts = word.nodes("Parts")
    is_quoted = any(part.kind != "Lit" or "\\" in part.text() for part in parts)
    if delimiter is None or any(part.flag("Dollar") for part in parts):
        message, hint = "the end of this here-document is uncertain", "end it with a plain word"
        context.report.dynamic(redirect, message, hint)
        return
    body = redirect.node("Hdoc")
    held = "" if body is None else source[body.start : body.end].decode("utf-8", "replace")
    if delimiter not in held.replace("\\\n", "").replace("\t", ""):
        return
    # Bash joins lines before it compares them, and within $(...) takes the beginning of one.
    forms = [held] if is_quoted else [held, held.replace("\\\n", ""), _JOINED.sub("", held)]
    lines = (line.lstrip("\t") for form in forms for line in form.split("\n")[:-1])
    if any(line.startswith(delimiter) for line in lines):
        message = "a line may end this here-document early"
        context.report.dynamic(redirect, message, "end it with a word that begins no line of it")
