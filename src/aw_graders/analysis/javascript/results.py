"""Warns about values that the runtime does not take, and zeros that stand for no evidence."""

from collections.abc import Iterator
from typing import Final

from aw_graders.analysis.javascript.kinds import arguments_of, bare
from aw_graders.analysis.javascript.report import Reading, Report
from aw_graders.analysis.javascript.scopes import FUNCTIONS
from aw_graders.analysis.javascript.tree import Node

RESULT_TYPE: Final = "grader-result-type"
ZERO: Final = "grader-zero-without-evidence"

_LITERALS: Final = {
    "true": "a boolean",
    "false": "a boolean",
    "string": "a text",
    "template_string": "a text",
    "array": "a list",
    "regex": "a regular expression",
    "undefined": "undefined",
    "class": "a class",
    **dict.fromkeys(FUNCTIONS, "a function"),
}
_OPERATORS: Final = {
    **dict.fromkeys(
        ("===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"), "a boolean"
    ),
    "!": "a boolean",
    "delete": "a boolean",
    "typeof": "a text",
    "void": "undefined",
}
_NAMES: Final = {"NaN": "no finite number", "Infinity": "no finite number"}
# What built-in functions and methods give, whatever they are called with.
_CALLS: Final = {
    **dict.fromkeys(("String", "JSON.stringify"), "a text"),
    **dict.fromkeys(("Boolean", "Array.isArray", "Number.isFinite", "isNaN"), "a boolean"),
    **dict.fromkeys(("Object.keys", "Object.values", "Object.entries", "Array.from"), "a list"),
    **dict.fromkeys(("Map", "Set", "Object.fromEntries"), "an object without `value`"),
    "BigInt": "a big integer",
}
_METHODS: Final = {
    **dict.fromkeys(("toFixed", "toPrecision", "toLowerCase", "toUpperCase", "join"), "a text"),
    **dict.fromkeys(("every", "some", "includes", "startsWith", "endsWith"), "a boolean"),
    **dict.fromkeys(("filter", "map", "flatMap", "eventsOfType"), "a list"),
}
_HINT: Final = "return a finite number, null, or `{ value }` with one of them"
_TEXT_HINT: Final = "return the number, and leave its form to the report"
_BOOLEAN_HINT: Final = "return 1 or 0, or null without evidence"


def warn_result_type(reading: Reading, report: Report) -> None:
    """Report each result that the runtime answers with an error."""
    has_result = False
    for node in _returns(reading):
        has_result = True
        if not node.children:
            report.add(RESULT_TYPE, node, "this returns nothing, which is an error", _HINT)
            continue
        for result in _outcomes(node.children[0]):
            _warn_result(reading, result, report)
    if not has_result and not reading.script.broken:
        message = "the script returns nothing, which is an error when it runs"
        report.add(RESULT_TYPE, reading.script.root, message, _HINT)


def _warn_result(reading: Reading, result: Node, report: Report) -> None:
    what, place = type_of(reading, result), result
    if result.kind == "object":
        value = _value_part(reading, result)
        if value is None:
            what = _without_value(result)
        elif value is not result:
            what, place = type_of(reading, value), value
            if what is None and value.kind == "object":
                what = "an object"
    if what is None:
        return
    hint = {"a text": _TEXT_HINT, "a boolean": _BOOLEAN_HINT}.get(what, _HINT)
    message = f"the value is {what}, which is an error: it has to be a finite number or null"
    report.add(RESULT_TYPE, place, message, hint)


def _value_part(reading: Reading, result: Node) -> Node | None:
    """Return what an object literal has as `value`; itself when that cannot be told."""
    for part in result.children:
        if part.kind == "pair" and reading.values.key(part.child("key")) == "value":
            return bare(part.child("value"))
        if part.kind == "shorthand_property_identifier" and part.text == "value":
            return part
        if part.kind == "spread_element" or part.has("computed_property_name"):
            return result
        if part.kind == "method_definition":
            name = part.child("name")
            if name is not None and name.text == "value":
                return result if part.has("get") else part
    return None


def _without_value(result: Node) -> str:
    return "an empty object" if not result.children else "an object without `value`"


def type_of(reading: Reading, node: Node) -> str | None:
    """Name what an expression gives, when it is certainly no number and not null."""
    kind = node.kind
    if kind in _LITERALS:
        return _LITERALS[kind]
    if kind in {"binary_expression", "unary_expression"}:
        operator = node.child("operator")
        return None if operator is None else _OPERATORS.get(operator.kind)
    if kind == "number" and node.text.endswith("n"):
        return "a big integer"
    path = reading.values.of(node).path
    if kind == "identifier" and path is not None:
        return _NAMES.get(path)
    return _type_of_call(reading, node) if kind in {"call_expression", "new_expression"} else None


def _type_of_call(reading: Reading, call: Node) -> str | None:
    callee = bare(call.child("function") or call.child("constructor"))
    path = reading.values.of(callee).path
    if path in _CALLS:
        return _CALLS[path]
    place = None if callee is None else callee.child("property")
    if place is None or not (path is None or path.startswith("helpers.")):
        return None
    return _METHODS.get(place.text)


def _returns(reading: Reading) -> Iterator[Node]:
    """Yield the return statements of the grader itself, not those of functions inside."""
    for node, function in reading.names.functions.items():
        if function is reading.script.root:
            yield node


def _outcomes(node: Node) -> Iterator[Node]:
    """Yield the expressions one of which an expression gives."""
    left = [node]
    while left:
        inner = bare(left.pop())
        if inner is None:
            continue
        if inner.kind == "ternary_expression":
            left += [
                part for part in inner.children if part.field in {"consequence", "alternative"}
            ]
        elif _operator(inner) in {"||", "??", "&&"}:
            left += [part for part in inner.children if part.field == "right"]
        else:
            yield inner


def _operator(node: Node) -> str:
    operator = node.child("operator")
    return "" if operator is None else operator.kind


# --- zeros ---


_ZERO_HINT: Final = "return null when there is nothing to measure"
_COUNTS: Final = frozenset(("length", "size"))
_RATIOS: Final = frozenset(("helpers.ratio",))


def warn_zero(reading: Reading, report: Report) -> None:
    """Report each zero that is returned where there was nothing to measure."""
    divisors = _divisor_names(reading)
    for node in reading.script.nodes:
        if node.kind == "if_statement":
            _warn_if(reading, node, divisors, report)
        elif node.kind == "ternary_expression":
            _warn_ternary(reading, node, divisors, report)
        elif node.kind == "binary_expression":
            _warn_fallback(reading, node, report)


def _warn_if(reading: Reading, node: Node, divisors: set[str], report: Report) -> None:
    """`if (!calls.length) return 0`, in the grader itself."""
    if not _is_emptiness(reading, node.child("condition"), divisors):
        return
    body = node.child("consequence")
    if body is not None and body.kind == "statement_block" and body.children:
        body = body.children[-1]
    if body is None or body.kind != "return_statement" or not body.children:
        return
    if reading.names.functions[body] is reading.script.root and _is_zero(reading, body.children[0]):
        _report(body, report)


def _warn_ternary(reading: Reading, node: Node, divisors: set[str], report: Report) -> None:
    """`calls.length ? good / calls.length : 0`, and the other way round."""
    condition = node.child("condition")
    then, other = bare(node.child("consequence")), bare(node.child("alternative"))
    if then is None or other is None:
        return
    if _is_zero(reading, other) and not _is_zero(reading, then):
        is_ratio = _is_ratio(reading, then)
        if is_ratio and _is_presence(reading, condition, divisors):
            _report(other, report)
    elif (
        _is_zero(reading, then)
        and _is_emptiness(reading, condition, divisors)
        and not (_is_constant(other) or _is_count(other))
    ):
        _report(then, report)


def _warn_fallback(reading: Reading, node: Node, report: Report) -> None:
    """`ratio ?? 0`, `a / b || 0`, and `a / (b || 1)`."""
    operator = _operator(node)
    left, right = bare(node.child("left")), bare(node.child("right"))
    if left is None or right is None:
        return
    is_fallback = operator in {"||", "??"} and _is_zero(reading, right)
    is_division = operator == "/" and _is_never_zero(reading, right)
    if is_division or (is_fallback and _is_ratio(reading, left)):
        _report(right, report)


def _is_never_zero(reading: Reading, divisor: Node) -> bool:
    """Tell whether a divisor is made 1 when it would be 0."""
    if _operator(divisor) in {"||", "??"}:
        return _is_number(reading, divisor.child("right"), 1)
    is_largest = reading.values.of(bare(divisor.child("function"))).path == "Math.max"
    return is_largest and any(_is_number(reading, part, 1) for part in arguments_of(divisor))


def _report(node: Node, report: Report) -> None:
    message = "without evidence this gives 0, which reads as a measured value"
    report.add(ZERO, node, message, _ZERO_HINT)


def _is_number(reading: Reading, node: Node | None, number: int) -> bool:
    inner = bare(node)
    is_number = inner is not None and inner.kind == "number"
    return is_number and reading.values.of(inner).constant == number


def _is_zero(reading: Reading, node: Node) -> bool:
    inner = bare(node)
    if inner is None:
        return False
    if inner.kind == "object":
        value = _value_part(reading, inner)
        return value is not None and value is not inner and _is_number(reading, value, 0)
    return _is_number(reading, inner, 0)


def _is_constant(node: Node) -> bool:
    while node.kind == "unary_expression":
        node = node.children[-1]
    return node.kind in {"number", "null", "true", "false"}


def _is_count(node: Node) -> bool:
    name = node.child("property")
    return name is not None and name.text in _COUNTS


def _is_ratio(reading: Reading, node: Node) -> bool:
    """Tell whether an expression divides, in itself or under a rounding call."""
    left = [node]
    for _ in range(50):
        inner = bare(left.pop()) if left else None
        if inner is None:
            return False
        if _operator(inner) == "/":
            return True
        if inner.kind == "call_expression":
            if reading.values.of(bare(inner.child("function"))).path in _RATIOS:
                return True
            left += arguments_of(inner)
        elif inner.kind in {"binary_expression", "unary_expression", "object", "pair"}:
            left += inner.children
        elif inner.kind == "identifier":
            left += _only_value(reading, inner)
    return False


def _only_value(reading: Reading, name: Node) -> list[Node]:
    """Return what a name that is never assigned to is declared as."""
    binding = reading.names.bindings.get(name)
    if binding is None or binding.writes or len(binding.declarations) != 1:
        return []
    declarator = binding.declarations[0].parent
    value = declarator.child("value") if declarator.kind == "variable_declarator" else None
    return [] if value is None else [value]


def _divisor_names(reading: Reading) -> set[str]:
    """Return the names that the script divides by."""
    found: set[str] = set()
    for node in reading.script.nodes:
        if node.kind == "binary_expression" and _operator(node) == "/":
            right = bare(node.child("right"))
            if right is not None and right.kind == "identifier":
                found.add(right.text)
    return found


def _is_presence(reading: Reading, condition: Node | None, divisors: set[str]) -> bool:
    """Tell whether a condition asks for one piece of evidence at least."""
    node = bare(condition)
    if node is None:
        return False
    operator = _operator(node)
    left, right = bare(node.child("left")), bare(node.child("right"))
    if operator in {"&&", "||"}:
        return any(_is_presence(reading, side, divisors) for side in (left, right))
    if operator in {">", "!==", "!="} and _is_number(reading, right, 0):
        return left is not None and _is_quantity(reading, left, divisors)
    if operator == ">=" and _is_number(reading, right, 1):
        return left is not None and _is_quantity(reading, left, divisors)
    return _is_quantity(reading, node, divisors)


def _is_emptiness(reading: Reading, condition: Node | None, divisors: set[str]) -> bool:
    """Tell whether a condition asks whether there is no evidence."""
    node = bare(condition)
    if node is None:
        return False
    operator = _operator(node)
    left, right = bare(node.child("left")), bare(node.child("right"))
    if operator in {"&&", "||"}:
        return any(_is_emptiness(reading, side, divisors) for side in (left, right))
    if operator == "!":
        inner = bare(node.children[-1])
        return inner is not None and _is_quantity(reading, inner, divisors)
    if operator in {"===", "=="} and _is_number(reading, left, 0):
        left, right = right, left
    limit = {"===": 0, "==": 0, "<=": 0, "<": 1}.get(operator)
    if limit is None or left is None or not _is_number(reading, right, limit):
        return False
    return _is_quantity(reading, left, divisors)


def _is_quantity(reading: Reading, node: Node, divisors: set[str]) -> bool:
    """Tell whether an expression says how much evidence there is."""
    if _is_count(node):
        return True
    if node.kind == "identifier":
        if node.text in divisors:
            return True
        return any(_is_count(value) for value in _only_value(reading, node))
    return False
