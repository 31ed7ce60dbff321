"""Judges what a script sets: names that change the meaning of others, and texts that are code."""

from aw_graders.analysis.bash.context import Context
from aw_graders.analysis.bash.names import (
    TRACE_PROMPT,
    holds_code,
    holds_subscript_code,
    is_guarded,
    is_network,
    is_plain_trace,
)
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.words import exact_text, literal_pieces
from aw_graders.diagnostics import quoted


def check_name(node: Node, name: str | None, context: Context, value: Node | None = None) -> None:
    """Refuse to set a variable that changes what later lines mean, or one nobody can name.

    Takes: the value when it is a word of the script; None when it is anything else.
    """
    if name is None:
        message = "the variable that is set is known only when the script runs"
        hint = "name the variable in the script, or keep the values in an associative array"
        context.report.dynamic(node, message, hint)
    elif is_guarded(name):
        message = f"{name} changes what later commands are, or what they write"
        context.report.dynamic(node, message, f"leave {name} as it is")
    elif name == TRACE_PROMPT:
        text = exact_text(value)
        if text is None or not is_plain_trace(text):
            message = "PS4 is expanded before each line that `set -x` shows"
            context.report.dynamic(node, message, "show variables alone in PS4")


def check_value(word: Node, context: Context) -> None:
    """Refuse to keep a text that holds code for whoever evaluates it later."""
    text = "".join(literal_pieces(word))
    if holds_code(text):
        message = f"{quoted(text[:60])} is code for whoever reads it as Bash"
        context.report.dynamic(word, message, "write the command where it runs: $(...)")
    elif is_network(text):
        message = "this is a network connection for a redirection"
        context.report.write(word, message, 'read the session: "$1"')
    else:
        check_text(word, text, context)


def check_text(word: Node, text: str, context: Context) -> None:
    """Refuse a text whose subscripts hold a substitution, which arithmetic would run."""
    if holds_subscript_code(text):
        message = "a substitution within square brackets runs when arithmetic reads this text"
        context.report.dynamic(word, message, "keep code out of texts")
