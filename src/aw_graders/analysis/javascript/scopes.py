"""Which declaration each name of a script refers to."""

import re
from collections import defaultdict
from typing import Final

from aw_graders.analysis.javascript.names import PARAMETERS
from aw_graders.analysis.javascript.tree import Node, Script

FUNCTIONS: Final = frozenset(
    (
        *("function_declaration", "function_expression", "generator_function"),
        *("generator_function_declaration", "arrow_function", "method_definition"),
    )
)
_DECLARED_FUNCTIONS: Final = frozenset({"function_declaration", "generator_function_declaration"})
_NAMED_FUNCTIONS: Final = frozenset({"function_expression", "generator_function"})
_CLASSES: Final = frozenset({"class", "class_declaration"})
_BLOCKS: Final = frozenset(
    ("statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body")
)
_DECLARATIONS: Final = frozenset(
    ("variable_declaration", "lexical_declaration", "using_declaration")
)
_USED: Final = frozenset(
    ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")
)
# In these roles a name is assigned to.
_TARGETS: Final = frozenset(
    (
        *(("assignment_expression", "left"), ("augmented_assignment_expression", "left")),
        *(("update_expression", "argument"), ("for_in_statement", "left")),
        *(("pair_pattern", "value"), ("assignment_pattern", "left")),
        *(("object_assignment_pattern", "left"), ("array_pattern", None), ("rest_pattern", None)),
        ("object_pattern", None),
    )
)
_ESCAPE: Final = re.compile(r"\\u(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{4}))")


class Binding:
    """A name that the script declares; `uses` and `writes` count after its declarations."""

    __slots__ = ("declarations", "name", "uses", "writes")

    def __init__(self, name: str) -> None:
        """Take the name; places and uses follow."""
        self.name = name
        self.declarations: list[Node] = []
        self.uses: list[Node] = []
        self.writes = 0


class Scope:
    """A run of nodes in which names are declared.

    `function` is the scope that holds `var`; `receiver` says what `this` is: nothing at the top.
    """

    __slots__ = ("first", "function", "last", "names", "owner", "receiver")

    def __init__(self, owner: Node, first: int, last: int) -> None:
        """Take the node that opens it, and the first and the last node inside."""
        self.owner = owner
        self.first = first
        self.last = last
        self.names: dict[str, Binding] = {}
        self.function: Scope = self
        self.receiver = False


class Names:
    """What every name of a script refers to."""

    def __init__(self) -> None:
        """Start with nothing; `resolve` fills it."""
        self.bindings: dict[Node, Binding] = {}
        self.free: list[tuple[str, Node]] = []
        self.declared: frozenset[str] = frozenset()
        self.top: dict[str, Binding] = {}
        self.outer_this: list[Node] = []
        self.functions: dict[Node, Node] = {}


def name_of(node: Node) -> str:
    """Return the name that an identifier stands for, its escapes decoded."""
    text = node.text
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_decoded, text)


def _decoded(match: re.Match[str]) -> str:
    number = int(match[1] or match[2], 16)
    return chr(number) if number < 0x110000 else match[0]  # noqa: PLR2004 - the last character


def pattern_names(pattern: Node) -> list[Node]:
    """Return the identifiers that a pattern declares, without those of its default values."""
    found: list[Node] = []
    left = [pattern]
    while left:
        node = left.pop()
        if node.kind in _USED:
            found.append(node)
        elif node.kind in {"assignment_pattern", "object_assignment_pattern"}:
            left.extend(child for child in node.children if child.field == "left")
        elif node.kind == "pair_pattern":
            left.extend(child for child in node.children if child.field == "value")
        elif node.kind in {"object_pattern", "array_pattern", "rest_pattern"}:
            left.extend(node.children)
    return found


def resolve(script: Script) -> Names:
    """Find for each name its declaration, or that there is none.

    Takes: a script, whose top is the body of a function with the parameters of a grader.
    Returns: all bindings, and the names that refer to the globals, in reading order.
    Cost: O(nodes).
    """
    return _Resolved(script, _Declared(script)).names


class _Declared:
    """First pass: all scopes with all their names, as hoisting lets a use come before."""

    def __init__(self, script: Script) -> None:
        self.opened: dict[int, list[Scope]] = defaultdict(list)
        self.nodes: dict[Node, Binding] = {}
        top = Scope(script.root, 0, script.root.last)
        for name in (*PARAMETERS, "arguments"):
            top.names[name] = Binding(name)
        self.top = top
        self.opened[0].append(top)
        self._stack = [top]
        opened = self.opened
        for node in script.nodes:
            at = node.first
            while self._stack[-1].last < at:
                self._stack.pop()
            if at in opened and at:
                for scope in opened[at]:
                    if scope.function is not scope:
                        scope.function = self._stack[-1].function
                    self._stack.append(scope)
            self._read(node)

    def _read(self, node: Node) -> None:
        kind = node.kind
        if kind in FUNCTIONS:
            self._function(node)
        elif kind in _BLOCKS:
            self._block(node)
        elif kind in _DECLARATIONS:
            scope = self._stack[-1].function if kind == "variable_declaration" else self._stack[-1]
            for part in node.children:
                name = part.child("name") if part.kind == "variable_declarator" else None
                if name is not None:
                    self._declare(scope, name)
        elif kind in _CLASSES:
            self._class(node)
        elif kind == "field_definition":
            self._inside_class(node.child("value"))
        elif kind == "class_static_block":
            self._inside_class(node.child("body"))

    def _declare(self, scope: Scope, pattern: Node) -> None:
        for node in pattern_names(pattern):
            name = name_of(node)
            binding = scope.names.get(name)
            if binding is None:
                binding = scope.names[name] = Binding(name)
            binding.declarations.append(node)
            self.nodes[node] = binding

    def _open(self, owner: Node, first: int, last: int, *, is_function: bool = False) -> Scope:
        scope = Scope(owner, first, last)
        if not is_function:
            scope.function = self._stack[-1]
        self.opened[first].append(scope)
        return scope

    def _function(self, node: Node) -> None:
        name = node.child("name")
        if name is not None and node.kind in _DECLARED_FUNCTIONS:
            self._declare(self._stack[-1], name)
        elif name is not None and node.kind in _NAMED_FUNCTIONS:
            self._declare(self._open(node, name.first, node.last), name)
        body = node.child("body")
        given = node.child("parameters") or node.child("parameter")
        start = given or body
        if start is None:
            return
        outer = self._open(node, start.first, node.last, is_function=True)
        if node.kind != "arrow_function":
            outer.receiver = True
            outer.names["arguments"] = Binding("arguments")
        if given is not None:
            patterns = given.children if given.kind == "formal_parameters" else [given]
            for pattern in patterns:
                self._declare(outer, pattern)
        if body is not None:
            self._open(node, body.first, body.last, is_function=True)

    def _block(self, node: Node) -> None:
        if node.field == "body" and node.parent.kind in FUNCTIONS:
            return
        if node.last == node.first:
            return
        scope = self._open(node, node.first + 1, node.last)
        if node.kind == "catch_clause":
            parameter = node.child("parameter")
            if parameter is not None:
                self._declare(scope, parameter)
        elif node.kind == "for_in_statement":
            kind, left = node.child("kind"), node.child("left")
            if kind is not None and left is not None:
                is_var = kind.kind == "var"
                self._declare(self._stack[-1].function if is_var else scope, left)

    def _class(self, node: Node) -> None:
        name = node.child("name")
        scope = self._open(node, node.first + 1, node.last)
        if name is None:
            return
        if node.kind == "class_declaration":
            self._declare(self._stack[-1], name)
            # Inside, the class is seen under its name even when the outer one is assigned to.
            scope.names[name_of(name)] = self.nodes[name]
        else:
            self._declare(scope, name)

    def _inside_class(self, node: Node | None) -> None:
        if node is not None:
            self._open(node, node.first, node.last, is_function=True).receiver = True


class _Resolved:
    """Second pass: each name with the nearest declaration around it."""

    def __init__(self, script: Script, declared: _Declared) -> None:
        self.names = Names()
        self._declared = declared
        self._visible: dict[str, list[Binding]] = defaultdict(list)
        self._stack: list[Scope] = []
        self._functions: list[Node] = []
        self._receivers = 0
        every: set[str] = set()
        for node in script.nodes:
            at = node.first
            while self._stack and self._stack[-1].last < at:
                self._leave()
            for scope in declared.opened.get(at, ()):
                self._enter(scope)
                every.update(scope.names)
            if node.kind in _USED:
                self._use(node)
            elif node.kind == "this" and not self._receivers:
                self.names.outer_this.append(node)
            elif node.kind == "return_statement":
                self.names.functions[node] = self._functions[-1]
        self.names.top = declared.top.names
        self.names.declared = frozenset(every)

    def _enter(self, scope: Scope) -> None:
        self._stack.append(scope)
        self._receivers += scope.receiver
        if scope.function is scope:
            self._functions.append(scope.owner)
        for name, binding in scope.names.items():
            self._visible[name].append(binding)

    def _leave(self) -> None:
        scope = self._stack.pop()
        self._receivers -= scope.receiver
        if scope.function is scope:
            self._functions.pop()
        for name in scope.names:
            self._visible[name].pop()

    def _use(self, node: Node) -> None:
        binding = self._declared.nodes.get(node)
        if binding is None:
            name = name_of(node)
            visible = self._visible.get(name)
            if not visible:
                self.names.free.append((name, node))
                return
            binding = visible[-1]
            binding.uses.append(node)
            if (node.parent.kind, node.field) in _TARGETS:
                binding.writes += 1
        self.names.bindings[node] = binding
