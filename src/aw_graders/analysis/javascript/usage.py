"""Warns about promises, unknown names, unread configuration, and what no value ever equals."""

from collections.abc import Collection
from typing import Final

from aw_graders.analysis.javascript.capabilities import is_only_asked_for
from aw_graders.analysis.javascript.kinds import bare
from aw_graders.analysis.javascript.names import ECMASCRIPT, REFUSED, hint_for_unknown
from aw_graders.analysis.javascript.report import Reading, Report
from aw_graders.analysis.javascript.scopes import FUNCTIONS, Binding
from aw_graders.analysis.javascript.tree import Node
from aw_graders.diagnostics import quoted

PROMISE: Final = "grader-promise-result"
UNUSED: Final = "grader-unused-config"
UNAVAILABLE: Final = "grader-unavailable-comparison"
UNKNOWN_NAME: Final = "grader-unknown-name"

_EQUALITIES: Final = frozenset(("===", "!==", "==", "!="))
# The parser takes `await (value)` for a call.
_KNOWN: Final = ECMASCRIPT | {"await"}
_MAX_ALIASES: Final = 20
# More of them are one mistake, or no JavaScript.
_MAX_UNKNOWN_NAMES: Final = 20


def warn_promises(reading: Reading, report: Report) -> None:
    """Report what is done later, as the value of a grader is asked for at once."""
    hint = "compute the value at once, without promises"
    for name, node in reading.names.free:
        if name == "Promise":
            report.add(PROMISE, node, "a promise is no value, and nothing waits for it", hint)
    for node in reading.script.nodes:
        if node.kind in FUNCTIONS and node.has("async"):
            word = next(child for child in node.children if child.kind == "async")
            message = "an async function gives a promise, and nothing waits for it"
            report.add(PROMISE, word, message, "write a function that is not `async`")
        elif node.kind == "call_expression":
            callee = bare(node.child("function"))
            place = None if callee is None else callee.child("property")
            if place is not None and place.text == "then":
                report.add(PROMISE, place, "`then` runs after the grader has returned", hint)


def warn_unknown_names(reading: Reading, report: Report) -> None:
    """Report names that nothing declares, each where it is first used."""
    seen: set[str] = set()
    for name, node in reading.names.free:
        if name in seen or name in _KNOWN or name in REFUSED or is_only_asked_for(node):
            continue
        seen.add(name)
        if len(seen) > _MAX_UNKNOWN_NAMES:
            return
        message = f"nothing declares {quoted(name)}, so the script ends there with an error"
        report.add(UNKNOWN_NAME, node, message, hint_for_unknown(name, reading.names.declared))


def warn_unavailable(reading: Reading, report: Report) -> None:
    """Report comparisons with the word for a missing value, which a grader never sees."""
    for node in reading.script.nodes:
        if node.kind == "binary_expression":
            operator = node.child("operator")
            if operator is None or operator.kind not in _EQUALITIES:
                continue
            sides = (node.child("left"), node.child("right"))
        elif node.kind == "switch_case":
            sides = (node.child("value"), None)
        else:
            continue
        for side in sides:
            if side is not None and reading.values.text(bare(side)) == "unavailable":
                message = 'no value is the text "unavailable": a missing one is null'
                report.add(UNAVAILABLE, side, message, "compare with null")


def warn_unused_config(
    reading: Reading, report: Report, config_keys: Collection[str] | None
) -> None:
    """Report keys of the configuration that the script never reads."""
    if not config_keys:
        return
    read = _keys_read(reading)
    if read is None:
        return
    for key in sorted(set(config_keys) - read):
        message = f"the script never reads {quoted(key)} from `config`"
        hint = f"read {quoted(key)} in the script, or remove it from the configuration"
        report.add(UNUSED, _start(reading), message, hint, about=key)


def _start(reading: Reading) -> Node:
    return Node("program", None, (0, 0), 0, reading.script.places.data)


def _keys_read(reading: Reading) -> set[str] | None:
    """Return the keys read from `config` by name, or None when any may be."""
    if reading.script.broken or "arguments" in _used_at_top(reading):
        return None
    keys: set[str] = set()
    bindings = [reading.names.top["config"]]
    for binding in bindings:
        if len(bindings) > _MAX_ALIASES:
            return None
        for use in binding.uses:
            found = _use(reading, use)
            if found is None:
                return None
            if isinstance(found, Binding):
                if found not in bindings:
                    bindings.append(found)
            else:
                keys |= found
    return keys


def _used_at_top(reading: Reading) -> set[str]:
    return {name for name, binding in reading.names.top.items() if binding.uses}


def _use(reading: Reading, use: Node) -> set[str] | Binding | None:
    """Return the keys that one use reads, a name that stands for all of it, or None for any."""
    node = use
    while node.parent.kind == "parenthesized_expression" or _is_default(node):
        node = node.parent
    above = node.parent
    if above.kind in {"member_expression", "subscript_expression"} and node.field == "object":
        place = above.child("property") or above.child("index")
        read = None if place is None else reading.values.reads.get(place)
        return None if read is None else {read.key}
    if above.kind == "binary_expression" and node.field == "right":
        operator = above.child("operator")
        key = reading.values.text(bare(above.child("left")))
        is_asked = operator is not None and operator.kind == "in" and key is not None
        return {str(key)} if is_asked else None
    if above.kind in {"variable_declarator", "assignment_expression"}:
        target = above.child("name") or above.child("left")
        return None if target is None or target is node else _pattern(reading, target)
    return None


def _is_default(node: Node) -> bool:
    """Tell whether a node is the left side of `config ?? {}`."""
    operator = node.parent.child("operator")
    if operator is None or operator.kind not in {"??", "||"} or node.field != "left":
        return False
    other = bare(node.parent.child("right"))
    return other is not None and other.kind == "object" and not other.children


def _pattern(reading: Reading, target: Node) -> set[str] | Binding | None:
    if target.kind == "identifier":
        return reading.names.bindings.get(target)
    if target.kind != "object_pattern":
        return None
    keys: set[str] = set()
    for part in target.children:
        place = part
        if part.kind == "object_assignment_pattern":
            place = part.child("left") or part
        elif part.kind == "pair_pattern":
            place = part.child("key") or part
        read = reading.values.reads.get(place)
        if read is None:
            return None
        keys.add(read.key)
    return keys
