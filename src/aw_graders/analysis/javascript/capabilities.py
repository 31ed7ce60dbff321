"""Refuses what reaches out of a grader: modules, files, network, clock, chance, code from text."""

from typing import Final

from aw_graders.analysis.javascript import names as tables
from aw_graders.analysis.javascript.kinds import (
    CALLEE_FIELDS,
    Kind,
    Read,
    Value,
    arguments_of,
    bare,
)
from aw_graders.analysis.javascript.names import ERRORS, REFUSED
from aw_graders.analysis.javascript.report import Reading, Report
from aw_graders.analysis.javascript.tree import Node

_STACK_NAMES: Final = frozenset(("prepareStackTrace", "captureStackTrace"))
_ACCESSORS: Final = frozenset(
    ("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__")
)
# They call what they are given.
_CALLERS: Final = frozenset(("Reflect.apply", "Reflect.construct", "Array.from"))
_CALLBACK_METHODS: Final = frozenset(
    (
        *("every", "filter", "find", "findIndex", "findLast", "flatMap", "forEach", "map"),
        *("reduce", "reduceRight", "replace", "replaceAll", "some", "sort", "then", "toSorted"),
    )
)
# They change what they are given.
_CHANGERS: Final = frozenset(
    (
        *("Object.assign", "Object.defineProperty", "Object.defineProperties"),
        *("Object.setPrototypeOf", "Reflect.defineProperty", "Reflect.set"),
        "Reflect.setPrototypeOf",
    )
)
_MEMBERS: Final = frozenset(("member_expression", "subscript_expression"))
_TARGET_FIELDS: Final = frozenset(
    (
        *(("assignment_expression", "left"), ("augmented_assignment_expression", "left")),
        ("update_expression", "argument"),
    )
)


def refuse_capabilities(reading: Reading, report: Report) -> None:
    """Report each use of what a grader has not, as an error."""
    _names(reading, report)
    for read in reading.values.reads.values():
        _read(read, report)
    _whole_math(reading, report)
    for node in reading.script.nodes:
        check = _CHECKS.get(node.kind)
        if check is not None:
            check(reading, node, report)


def _names(reading: Reading, report: Report) -> None:
    for name, node in reading.names.free:
        refused = REFUSED.get(name)
        if refused is not None and not is_only_asked_for(node):
            report.refuse(node, name, refused)
    for node in reading.names.outer_this:
        report.refuse(node, "this", tables.GLOBAL)


def is_only_asked_for(node: Node) -> bool:
    """Tell whether a name stands behind `typeof`, which reads nothing."""
    above = node.parent
    while above.kind == "parenthesized_expression":
        above = above.parent
    operator = above.child("operator") if above.kind == "unary_expression" else None
    return operator is not None and operator.kind == "typeof"


def _read(read: Read, report: Report) -> None:
    kinds = read.value.kinds
    if read.key == "constructor" and kinds & Kind.CODE:
        report.refuse(read.place, "constructor", tables.FUNCTION_CONSTRUCTOR)
    elif read.value.path == "Math.random":
        report.refuse(read.place, "Math.random", tables.CHANCE)
    elif read.key in _STACK_NAMES and _is_of_errors(read):
        report.refuse(read.place, read.key, tables.STACK)
    elif read.key == "__proto__" and (_is_no_data(read.base) or _is_followed(read.place)):
        report.refuse(read.place, "__proto__", tables.PROTOTYPE)
    elif read.key in _ACCESSORS and _whole(read.place).field in CALLEE_FIELDS:
        report.refuse(read.place, read.key, tables.PROTOTYPE)


def _is_of_errors(read: Read) -> bool:
    if _is_target(_whole(read.place)):
        return True
    return read.base.path in ERRORS or bool(
        read.base.kinds & (Kind.CONSTRUCTOR | Kind.PROTOTYPE | Kind.OBJECT)
    )


def _is_no_data(base: Value) -> bool:
    return base.path is not None or base.kinds != 0


def _whole(place: Node) -> Node:
    """Return the outermost expression that has the value of a read property."""
    node = place.parent
    while node.parent.kind == "parenthesized_expression":
        node = node.parent
    return node


def _is_target(node: Node) -> bool:
    return (node.parent.kind, node.field) in _TARGET_FIELDS


def _is_followed(place: Node) -> bool:
    """Tell whether more is done with a property than to read it."""
    if place.parent.kind not in _MEMBERS:
        return place.parent.kind == "pair_pattern" and place.parent.has("object_pattern")
    node = _whole(place)
    if _is_target(node) or node.field in CALLEE_FIELDS:
        return True
    return node.field == "object" and node.parent.kind in _MEMBERS


def _call(reading: Reading, call: Node, report: Report) -> None:
    callee = bare(call.child("function") or call.child("constructor"))
    if callee is None:
        return
    if callee.kind == "import":
        report.refuse(callee, "import", tables.MODULE)
        return
    target = reading.values.of(callee)
    if target.kinds & (Kind.CONSTRUCTOR | Kind.CODE):
        place = callee.child("property") or callee.child("index") or callee
        report.refuse(place, "constructor", tables.FUNCTION_CONSTRUCTOR)
    given = arguments_of(call)
    if not given:
        return
    if target.path in _CHANGERS:
        _change(reading, given, report)
    name = _called_name(reading, callee)
    if target.path in _CALLERS or name in _CALLBACK_METHODS:
        for part in given:
            if reading.values.of(bare(part)).kinds & (Kind.CONSTRUCTOR | Kind.CODE):
                report.refuse(part, "constructor", tables.FUNCTION_CONSTRUCTOR)


def _called_name(reading: Reading, callee: Node) -> str | None:
    place = callee.child("property") or callee.child("index")
    read = None if place is None else reading.values.reads.get(place)
    return None if read is None else read.key


def _change(reading: Reading, given: list[Node], report: Report) -> None:
    """Refuse to change what all objects, or all errors, inherit from."""
    first = bare(given[0])
    base = reading.values.of(first)
    if base.path is not None and base.path.endswith(".prototype"):
        report.refuse(given[0], base.path, tables.PROTOTYPE_CHANGE)
    if base.path not in ERRORS:
        return
    for part in given[1:]:
        constant = reading.values.text(bare(part))
        keys = [
            constant,
            *(
                reading.values.key(pair.child("key") or pair.child("name"))
                for pair in part.children
            ),
        ]
        if any(key in _STACK_NAMES for key in keys):
            report.refuse(part, f"{base.path}.prepareStackTrace", tables.STACK)


def _assignment(reading: Reading, node: Node, report: Report) -> None:
    target = bare(node.child("left"))
    if target is None or target.kind not in _MEMBERS:
        return
    base = reading.values.of(bare(target.child("object")))
    is_shared = base.path is not None and base.path.endswith(".prototype")
    if is_shared or base.kinds & Kind.INHERITED:
        report.refuse(target, base.path or target.text, tables.PROTOTYPE_CHANGE)


def _meta(_: Reading, node: Node, report: Report) -> None:
    if node.has("import"):
        report.refuse(node, "import.meta", tables.MODULE_RESULT)


def _module(_: Reading, node: Node, report: Report) -> None:
    word = node.kind.partition("_")[0]
    report.refuse(node, word, tables.MODULE if word == "import" else tables.MODULE_RESULT)


def _pair(reading: Reading, node: Node, report: Report) -> None:
    key, value = node.child("key"), node.child("value")
    if key is None or value is None or key.kind == "computed_property_name":
        return
    if value.kind != "null" and reading.values.key(key) == "__proto__":
        report.refuse(key, "__proto__", tables.PROTOTYPE)


def _whole_math(reading: Reading, report: Report) -> None:
    """Refuse to hand on all of `Math` in a script that reads something called `random`."""
    reads = reading.values.reads.values()
    if not any(read.key == "random" for read in reads):
        return
    if any(read.value.path == "Math.random" for read in reads):
        return
    for name, node in reading.names.free:
        is_read = node.parent.kind in _MEMBERS and node.field == "object"
        if name == "Math" and not is_read and node.parent.kind != "variable_declarator":
            report.refuse(node, "Math.random", tables.CHANCE)


_CHECKS: Final = {
    "assignment_expression": _assignment,
    "augmented_assignment_expression": _assignment,
    "call_expression": _call,
    "export_statement": _module,
    "import_statement": _module,
    "meta_property": _meta,
    "new_expression": _call,
    "pair": _pair,
}
