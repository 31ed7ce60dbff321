"""What a value of a script may be: a constant, a global, or where it comes from."""

from enum import IntFlag
from typing import Final

import msgspec

from aw_graders.analysis.javascript import constants
from aw_graders.analysis.javascript.constants import Constant
from aw_graders.analysis.javascript.tree import Node

_MAX_PATH_CHARACTERS: Final = 80
# These are told apart from other texts when a value may be one of several.
_TELLING: Final = frozenset(
    ("constructor", "__proto__", "prototype", "random", "prepareStackTrace", "captureStackTrace")
)


class Kind(IntFlag):
    """What a value may come from."""

    FUNCTION = 1
    CONSTRUCTOR = 2  # read as `constructor`, of what may be data
    CODE = 4  # the constructor of a function, which makes code out of text
    PROTOTYPE = 8
    OBJECT = 16  # written in the script, so it is no data of the session
    INHERITED = 32  # what another object inherits from, not the prototype of a class


# What a list or an object holds, and what calling a function gives, in the same bits further up.
HELD: Final = 8
GIVEN: Final = 16
BITS: Final = 0xFF


class Value(msgspec.Struct, frozen=True):
    """What an expression may be: a constant, a global by its path, and where it comes from."""

    constant: Constant | None = None
    path: str | None = None
    kinds: int = 0


UNKNOWN: Final = Value()
FUNCTION: Final = Value(kinds=Kind.FUNCTION)
OBJECT: Final = Value(kinds=Kind.OBJECT)

PLAIN_OBJECTS: Final = frozenset(("Math", "JSON", "Reflect", "undefined", "NaN", "Infinity"))
_NO_FUNCTIONS: Final = frozenset(("name", "length", "prototype", "message", "stack"))
# Reading one of these from anything gives a function, unless data happens to have the name.
_METHODS: Final = frozenset(
    (
        *("apply", "bind", "call", "concat", "entries", "every", "filter", "find", "flat"),
        *("flatMap", "forEach", "hasOwnProperty", "includes", "indexOf", "isPrototypeOf", "join"),
        *("keys", "map", "pop", "push", "reduce", "reverse", "shift", "slice", "some", "sort"),
        *("splice", "split", "toLocaleString", "toString", "trim", "unshift", "valueOf", "at"),
        *("charAt", "charCodeAt", "match", "matchAll", "replace", "startsWith", "endsWith"),
        *("substring", "toFixed", "eventsOfType", "propertyIsEnumerable", "fill"),
    )
)
TAKES_ONE_OUT: Final = frozenset(("at", "find", "findLast", "pop", "shift", "values"))

CALLEE_FIELDS: Final = ("function", "constructor")


class Read(msgspec.Struct, frozen=True):
    """A property that is read under a known name; `place` is where the name is written."""

    base: Value
    key: str
    value: Value
    place: Node


def bare(node: Node | None) -> Node | None:
    """Return the expression inside parentheses, and the last one of a sequence."""
    while node is not None and node.children:
        if node.kind == "parenthesized_expression":
            node = node.children[0]
        elif node.kind == "sequence_expression":
            node = node.children[-1]
        else:
            break
    return node


def arguments_of(call: Node) -> list[Node]:
    """Return the expressions that a call passes."""
    given = call.child("arguments")
    return given.children if given is not None and given.kind == "arguments" else []


def merged(left: Value, right: Value) -> Value:
    """Return what is the one or the other."""
    if left == right or right is UNKNOWN:
        return left
    if left is UNKNOWN:
        return right
    constant = _either(left.constant, right.constant)
    return Value(constant, left.path or right.path, left.kinds | right.kinds)


def _either(left: Constant | None, right: Constant | None) -> Constant | None:
    if left is None or left == right:
        return right
    if right is None or (isinstance(left, str) and left in _TELLING):
        return left
    return right if isinstance(right, str) and right in _TELLING else None


def member(base: Value, key: str) -> Value:
    """Return what reading a property gives."""
    path = _path(base.path, key)
    kinds = (base.kinds >> HELD) & BITS
    if base.kinds & Kind.CODE:
        kinds |= 0 if key in _NO_FUNCTIONS - {"prototype"} else Kind.CODE
    elif key == "constructor":
        is_function = base.kinds & (Kind.FUNCTION | Kind.CONSTRUCTOR)
        kinds |= Kind.CODE if is_function else Kind.CONSTRUCTOR
    elif key == "__proto__":
        kinds |= Kind.PROTOTYPE | Kind.INHERITED | (base.kinds & Kind.FUNCTION)
    elif key == "prototype":
        kinds |= Kind.PROTOTYPE | (Kind.INHERITED if base.kinds & Kind.CONSTRUCTOR else 0)
    elif base.kinds & Kind.CONSTRUCTOR and key not in _NO_FUNCTIONS:
        kinds |= Kind.CONSTRUCTOR if key in {"call", "apply", "bind"} else Kind.FUNCTION
    elif key in _METHODS or (path is not None and not _is_plain(path)):
        kinds |= Kind.FUNCTION
    return Value(constants.element(base.constant, key), path, kinds)


def _path(base: str | None, key: str) -> str | None:
    if base is None or len(base) + len(key) > _MAX_PATH_CHARACTERS or "." in key:
        return None
    return f"{base}.{key}"


def _is_plain(path: str) -> bool:
    """Tell whether a path leads to a number or an object, as `Math.PI` does, not to a function."""
    last = path.rpartition(".")[2]
    return last in _NO_FUNCTIONS or last.isupper() or path in PLAIN_OBJECTS
