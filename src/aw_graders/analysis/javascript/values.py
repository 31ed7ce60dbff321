"""What each expression of a script may be, as far as its text tells.

This follows names, constants and literals, not every flow of data: what it cannot see, the place
where graders run does not have either.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from aw_graders.analysis.javascript import constants
from aw_graders.analysis.javascript.constants import Constant, Fields
from aw_graders.analysis.javascript.kinds import (
    BITS,
    FUNCTION,
    GIVEN,
    HELD,
    OBJECT,
    PLAIN_OBJECTS,
    TAKES_ONE_OUT,
    UNKNOWN,
    Kind,
    Read,
    Value,
    arguments_of,
    bare,
    member,
    merged,
)
from aw_graders.analysis.javascript.names import ECMASCRIPT
from aw_graders.analysis.javascript.scopes import FUNCTIONS, Binding, Names, name_of
from aw_graders.analysis.javascript.tree import Node, Script

_MAX_ROUNDS: Final = 8
_MAX_ITEMS: Final = 200
_GIVES_ARGUMENT: Final = frozenset(
    ("Object", "Object.assign", "Object.freeze", "Object.seal", "Object.preventExtensions")
)
PROTOTYPES_OF: Final = frozenset(("Object.getPrototypeOf", "Reflect.getPrototypeOf"))
READS_OF: Final = frozenset(("Reflect.get",))
DESCRIPTORS_OF: Final = frozenset(
    ("Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor")
)


class Values:
    """The values of all expressions of a script."""

    def __init__(self, script: Script, names: Names) -> None:
        """Compute them in rounds: a later one sees what an earlier one learnt of each name.

        Cost: O(nodes) for each round; hostile scripts get no more than a few.
        """
        self._names = names
        self._of: dict[Node, Value] = {}
        self._bound: dict[Binding, Value] = {}
        self._given: dict[Node, int] = {}
        self._free = dict(_free_values(names))
        self.reads: dict[Node, Read] = {}
        helpers = names.top.get("helpers")
        if helpers is not None and not helpers.writes:
            self._bound[helpers] = Value(path="helpers", kinds=Kind.OBJECT)
        nodes = list(_inner_first(script))
        for _ in range(_MAX_ROUNDS):
            self._is_changed = False
            for node in nodes:
                value = _READERS[node.kind](self, node)
                if value is not UNKNOWN:
                    self._of[node] = value
            if not self._is_changed:
                break

    def of(self, node: Node | None) -> Value:
        """Return what an expression may be."""
        return UNKNOWN if node is None else self._of.get(node, UNKNOWN)

    def text(self, node: Node | None) -> str | None:
        """Return the constant text that an expression is."""
        constant = self.of(node).constant
        return constant if isinstance(constant, str) else None

    def read(self, base: Value, key: str, place: Node) -> Value:
        """Note that a property is read, and return its value."""
        value = member(base, key)
        self.reads[place] = Read(base, key, value, place)
        return value

    def bind(self, pattern: Node, value: Value) -> None:
        """Note that names of a pattern get a value, or parts of it."""
        left = [(pattern, value)]
        while left:
            node, value = left.pop()
            if node in self._names.bindings:
                self._learn(self._names.bindings[node], value)
            elif node.kind in {"assignment_pattern", "object_assignment_pattern"}:
                target = node.child("left")
                if target is not None:
                    is_short = node.kind == "object_assignment_pattern"
                    left.append((target, self._named(target, value) if is_short else value))
            elif node.kind == "array_pattern":
                left.extend(
                    (part, self._element(value, at)) for at, part in enumerate(node.children)
                )
            elif node.kind == "object_pattern":
                left.extend(self._parts(node, value))

    def _parts(self, pattern: Node, value: Value) -> Iterator[tuple[Node, Value]]:
        for part in pattern.children:
            if part.kind == "pair_pattern":
                key, target = part.child("key"), part.child("value")
                name = self.key(key)
                if key is not None and target is not None:
                    found = UNKNOWN if name is None else self.read(value, name, key)
                    yield target, found
            elif part.kind == "shorthand_property_identifier_pattern":
                yield part, self._named(part, value)
            elif part.kind == "rest_pattern":
                yield from ((rest, value) for rest in part.children)
            else:
                yield part, value

    def _named(self, node: Node, value: Value) -> Value:
        return self.read(value, node.text, node)

    def _element(self, value: Value, at: int) -> Value:
        kinds = (value.kinds >> HELD) & BITS
        return Value(constants.element(value.constant, str(at)), None, kinds)

    def _learn(self, binding: Binding, value: Value) -> None:
        before = self._bound.get(binding, UNKNOWN)
        after = merged(before, value)
        if after != before:
            self._bound[binding] = after
            self._is_changed = True

    def key(self, node: Node | None) -> str | None:
        """Return the name of a property, as it is written before a colon or behind a dot."""
        if node is None:
            return None
        if node.kind in {"property_identifier", "number"}:
            return name_of(node)
        if node.kind == "computed_property_name":
            node = bare(node.children[0]) if node.children else None
        return constants.as_key(self.of(node).constant)

    # How each kind of node gets its value; the parts of a node have theirs before.

    def name(self, node: Node) -> Value:
        """Take the value of a name."""
        binding = self._names.bindings.get(node)
        if binding is not None:
            return self._bound.get(binding, UNKNOWN)
        return self._free.get(node, UNKNOWN)

    def regex(self, node: Node) -> Value:
        """Take an object that knows its own text."""
        pattern = node.child("pattern")
        text = None if pattern is None else constants.piece_text(pattern)
        return Value(Fields((("source", text),)) if text else None, None, Kind.OBJECT)

    def string(self, node: Node) -> Value:
        """Take the text of a literal."""
        return Value(constants.literal_text(node), None, Kind.OBJECT)

    def template(self, node: Node) -> Value:
        """Join the parts of a template, when all are constant."""
        text: Constant | None = ""
        for part in node.children[:_MAX_ITEMS]:
            is_hole = part.kind == "template_substitution"
            held = bare(part.children[0]) if is_hole and part.children else part
            piece = self.of(held).constant if is_hole else constants.piece_text(part)
            text = constants.added(text, constants.as_key(piece))
        return Value(text, None, Kind.OBJECT)

    def number(self, node: Node) -> Value:
        """Take a whole number."""
        return Value(constants.number(node.text), None, Kind.OBJECT)

    def object_literal(self, node: Node) -> Value:
        """Take what an object holds."""
        named: list[tuple[str, Constant]] = []
        held = 0
        for part in node.children:
            if part.kind == "pair":
                value = self.of(bare(part.child("value")))
                key = self.key(part.child("key"))
                if key is not None and value.constant is not None and len(named) < _MAX_ITEMS:
                    named.append((key, value.constant))
            elif part.kind == "spread_element":
                value = self.of(part.children[0] if part.children else None)
                held |= value.kinds & (BITS << HELD)
                value = UNKNOWN
            else:
                value = self.of(part)
            held |= (value.kinds & ~Kind.OBJECT & BITS) << HELD
        return Value(Fields(tuple(named)) if named else None, None, Kind.OBJECT | held)

    def array(self, node: Node) -> Value:
        """Take what a list holds."""
        held = 0
        items: list[Constant | None] = []
        for part in node.children:
            value = self.of(bare(part))
            held |= (value.kinds & ~Kind.OBJECT & BITS) << HELD
            items.append(value.constant)
        constant = tuple(items) if len(items) <= _MAX_ITEMS else None
        return Value(constant, None, Kind.OBJECT | held)

    def function(self, node: Node) -> Value:
        """Take what calling a function gives."""
        body = node.child("body")
        given = self._given.get(node, 0)
        if body is not None and body.kind != "statement_block":
            given |= self.of(bare(body)).kinds & BITS
        value = Value(None, None, Kind.FUNCTION | given << GIVEN)
        name = node.child("name")
        if name is not None and name in self._names.bindings:
            self._learn(self._names.bindings[name], value)
        return value

    def returned(self, node: Node) -> Value:
        """Note what a function gives."""
        if node.children:
            owner = self._names.functions[node]
            kinds = self.of(bare(node.children[0])).kinds & BITS
            if kinds & ~self._given.get(owner, 0):
                self._given[owner] = self._given.get(owner, 0) | kinds
                self._is_changed = True
        return UNKNOWN

    def parameters(self, node: Node) -> Value:
        """Look at the patterns among the parameters; nothing is known of what is passed."""
        for part in node.children:
            if part.kind != "identifier":
                self.bind(part, UNKNOWN)
        return UNKNOWN

    def declared(self, node: Node) -> Value:
        """Bind a declaration to its value."""
        name = node.child("name")
        if name is not None:
            self.bind(name, self.of(bare(node.child("value"))))
        return UNKNOWN

    def assigned(self, node: Node) -> Value:
        """Bind what is assigned to, and give the value."""
        target, value = node.child("left"), self.of(bare(node.child("right")))
        if target is not None:
            self.bind(target, value)
        return value

    def looped(self, node: Node) -> Value:
        """Bind the name of a loop to what the list holds."""
        target = node.child("left")
        if target is not None:
            value = self.of(bare(node.child("right")))
            self.bind(target, Value(None, None, (value.kinds >> HELD) & BITS))
        return UNKNOWN

    def last(self, node: Node) -> Value:
        """Give the value of the last part."""
        return self.of(node.children[-1]) if node.children else UNKNOWN

    def ternary(self, node: Node) -> Value:
        """Give either value."""
        return merged(
            self.of(bare(node.child("consequence"))), self.of(bare(node.child("alternative")))
        )

    def binary(self, node: Node) -> Value:
        """Add constants, or give either side of a logical operation."""
        operator = node.child("operator")
        left, right = self.of(bare(node.child("left"))), self.of(bare(node.child("right")))
        kind = "" if operator is None else operator.kind
        if kind == "+":
            return Value(constants.added(left.constant, right.constant), None, Kind.OBJECT)
        return merged(left, right) if kind in {"||", "&&", "??"} else UNKNOWN

    def dotted(self, node: Node) -> Value:
        """Read a property by its name."""
        base, key = bare(node.child("object")), node.child("property")
        if key is None or key.kind != "property_identifier":
            return UNKNOWN
        return self.read(self.of(base), self.key(key) or "", key)

    def subscript(self, node: Node) -> Value:
        """Read a property by a computed name."""
        base, index = self.of(bare(node.child("object"))), node.child("index")
        key = constants.as_key(self.of(bare(index)).constant)
        if key is None or index is None:
            return Value(None, None, (base.kinds >> HELD) & BITS)
        return self.read(base, key, index)

    def call(self, node: Node) -> Value:
        """Give what a call gives."""
        callee = bare(node.child("function") or node.child("constructor"))
        target = self.of(callee)
        given = arguments_of(node)
        template = node.child("arguments")
        if target.path == "String.raw" and template is not None:
            return self.of(template)
        values = [self.of(bare(part)) for part in given[:_MAX_ITEMS]]
        if callee is not None and callee.kind in FUNCTIONS:
            self._pass(callee, values)
        kinds = (target.kinds >> GIVEN) & BITS
        if target.path is not None:
            return merged(self._global_call(target.path, given, values), Value(kinds=kinds))
        if callee is None or callee.kind not in {"member_expression", "subscript_expression"}:
            return Value(kinds=kinds)
        read = self.reads.get(callee.child("property") or callee.child("index") or callee)
        if read is None:
            return Value(kinds=kinds)
        if read.key in TAKES_ONE_OUT:
            kinds |= (read.base.kinds >> HELD) & BITS
        if read.key in {"concat", "slice", "reverse", "flat", "toReversed"}:
            kinds |= read.base.kinds & (BITS << HELD)
        found = constants.method(read.base.constant, read.key, [part.constant for part in values])
        return Value(found, None, kinds | (0 if found is None else Kind.OBJECT))

    def _pass(self, function: Node, values: list[Value]) -> None:
        """Bind the parameters of a function that is called where it is written."""
        given = function.child("parameters") or function.child("parameter")
        if given is None:
            return
        patterns = given.children if given.kind == "formal_parameters" else [given]
        for pattern, value in zip(patterns, values, strict=False):
            self.bind(pattern, value)

    def _global_call(self, path: str, given: list[Node], values: list[Value]) -> Value:
        first = values[0] if values else UNKNOWN
        if path in PROTOTYPES_OF:
            inherited = Kind.PROTOTYPE | Kind.INHERITED
            return Value(None, None, inherited | (first.kinds & Kind.FUNCTION))
        if path in _GIVES_ARGUMENT:
            return first
        if path in {"String.fromCharCode", "String.fromCodePoint"}:
            return Value(constants.from_codes([part.constant for part in values]), None, 0)
        found = constants.function(path, first.constant)
        if found is not None:
            return Value(found)
        if len(values) > 1 and path in READS_OF | DESCRIPTORS_OF:
            key = constants.as_key(values[1].constant)
            if key is not None:
                value = self.read(first, key, given[1])
                held = value.kinds & BITS
                return value if path in READS_OF else Value(kinds=Kind.OBJECT | held << HELD)
        return UNKNOWN


def _free_values(names: Names) -> Iterator[tuple[Node, Value]]:
    for name, node in names.free:
        if name in ECMASCRIPT:
            kind = Kind.OBJECT if name in PLAIN_OBJECTS else Kind.FUNCTION
            yield node, Value(None, name, kind)


def _inner_first(script: Script) -> Iterator[Node]:
    """Yield the nodes that have a value, the parts of each before itself."""
    open_nodes: list[Node] = []
    for node in script.nodes:
        while open_nodes and open_nodes[-1].last < node.first:
            yield open_nodes.pop()
        if node.kind in _READERS:
            open_nodes.append(node)
    while open_nodes:
        yield open_nodes.pop()


def _a_function(_: Values, __: Node) -> Value:
    return FUNCTION


def _an_object(_: Values, __: Node) -> Value:
    return OBJECT


_READERS: Final[Mapping[str, Callable[[Values, Node], Value]]] = MappingProxyType(
    {
        "array": Values.array,
        "assignment_expression": Values.assigned,
        "assignment_pattern": Values.assigned,
        "augmented_assignment_expression": Values.assigned,
        "await_expression": Values.last,
        "binary_expression": Values.binary,
        "call_expression": Values.call,
        "catch_clause": Values.parameters,
        "class": _a_function,
        "for_in_statement": Values.looped,
        "formal_parameters": Values.parameters,
        "identifier": Values.name,
        "member_expression": Values.dotted,
        "new_expression": Values.call,
        "number": Values.number,
        "object": Values.object_literal,
        "object_assignment_pattern": Values.assigned,
        "parenthesized_expression": Values.last,
        "regex": Values.regex,
        "return_statement": Values.returned,
        "sequence_expression": Values.last,
        "shorthand_property_identifier": Values.name,
        "string": Values.string,
        "subscript_expression": Values.subscript,
        "template_string": Values.template,
        "ternary_expression": Values.ternary,
        "this": _an_object,
        "variable_declarator": Values.declared,
        **dict.fromkeys(FUNCTIONS, Values.function),
    }
)
