"""The syntax tree of a script, in a form that holds no construct nobody looks at.

The parser prints JSON whose nodes partly tell their kind by `Type`, partly by the field that holds
them. `build` names every kind and refuses each kind, field and operator that the tables here do not
list: a newer parser then ends in a finding, not in a construct that slips through.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from aw_graders._json import JsonValue

_MAX_DEPTH: Final = 400

# What a field holds: a kind for a node whose kind is not written in it, ANY for one where it is,
# both with MANY for a list of them; TEXT and FLAG for values that are no nodes.
_ANY: Final = "any"
_TEXT: Final = "text"
_FLAG: Final = "flag"
_MANY: Final = "*"

_SCHEMA: Final[Mapping[str, Mapping[str, str]]] = {
    "File": {"Name": _TEXT, "Stmts": "*Stmt"},
    "Stmt": {"Cmd": _ANY, "Negated": _FLAG, "Background": _FLAG, "Redirs": "*Redirect"},
    "Redirect": {"Op": _TEXT, "N": "Lit", "Word": "Word", "Hdoc": "Word"},
    "Word": {"Parts": "*any"},
    "Lit": {"Value": _TEXT},
    "SglQuoted": {"Value": _TEXT, "Dollar": _FLAG},
    "DblQuoted": {"Parts": "*any", "Dollar": _FLAG},
    "CmdSubst": {"Stmts": "*Stmt", "Backquotes": _FLAG},
    "ProcSubst": {"Op": _TEXT, "Stmts": "*Stmt"},
    "ArithmExp": {"X": _ANY, "Bracket": _FLAG},
    "ExtGlob": {"Op": _TEXT, "Pattern": "Lit"},
    "ParamExp": {
        "Short": _FLAG,
        "Excl": _FLAG,
        "Length": _FLAG,
        "Param": "Lit",
        "Index": _ANY,
        "Slice": "Slice",
        "Repl": "Replace",
        "Names": _TEXT,
        "Exp": "Expansion",
    },
    "Slice": {"Offset": _ANY, "Length": _ANY},
    "Replace": {"All": _FLAG, "Orig": "Word", "With": "Word"},
    "Expansion": {"Op": _TEXT, "Word": "Word"},
    "CallExpr": {"Assigns": "*Assign", "Args": "*Word"},
    "Assign": {
        "Append": _FLAG,
        "Naked": _FLAG,
        "Name": "Lit",
        "Index": _ANY,
        "Value": "Word",
        "Array": "ArrayExpr",
    },
    "ArrayExpr": {"Elems": "*ArrayElem"},
    "ArrayElem": {"Index": _ANY, "Value": "Word"},
    "BinaryCmd": {"Op": _TEXT, "X": "Stmt", "Y": "Stmt"},
    "Subshell": {"Stmts": "*Stmt"},
    "Block": {"Stmts": "*Stmt"},
    "IfClause": {"Cond": "*Stmt", "Then": "*Stmt", "Else": "IfClause"},
    "WhileClause": {"Until": _FLAG, "Cond": "*Stmt", "Do": "*Stmt"},
    "ForClause": {"Select": _FLAG, "Braces": _FLAG, "Loop": _ANY, "Do": "*Stmt"},
    "WordIter": {"Name": "Lit", "Items": "*Word"},
    "CStyleLoop": {"Init": _ANY, "Cond": _ANY, "Post": _ANY},
    "CaseClause": {"Braces": _FLAG, "Word": "Word", "Items": "*CaseItem"},
    "CaseItem": {"Op": _TEXT, "Patterns": "*Word", "Stmts": "*Stmt"},
    "FuncDecl": {"RsrvWord": _FLAG, "Parens": _FLAG, "Name": "Lit", "Body": "Stmt"},
    "TestClause": {"X": _ANY},
    "BinaryTest": {"Op": _TEXT, "X": _ANY, "Y": _ANY},
    "UnaryTest": {"Op": _TEXT, "X": _ANY},
    "ParenTest": {"X": _ANY},
    "ArithmCmd": {"Unsigned": _FLAG, "X": _ANY},
    "BinaryArithm": {"Op": _TEXT, "X": _ANY, "Y": _ANY},
    "UnaryArithm": {"Op": _TEXT, "Post": _FLAG, "X": _ANY},
    "ParenArithm": {"X": _ANY},
    "LetClause": {"Exprs": "*any"},
    "DeclClause": {"Variant": "Lit", "Args": "*Assign"},
    "TimeClause": {"PosixFormat": _FLAG, "Stmt": "Stmt"},
    "CoprocClause": {"Name": "Word", "Stmt": "Stmt"},
}
_IGNORED: Final = frozenset({"Type", "Comments", "Last"})
_OPERATORS: Final[Mapping[str, frozenset[str]]] = {
    "Redirect": frozenset(
        (">", ">>", ">|", "<", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<")
    ),
    "BinaryCmd": frozenset(("&&", "||", "|", "|&")),
    "ProcSubst": frozenset(("<(", ">(")),
    "CaseItem": frozenset((";;", ";&", ";;&")),
    "ExtGlob": frozenset(("?(", "*(", "+(", "@(", "!(")),
    "Expansion": frozenset(
        (
            "-",
            "=",
            "?",
            "+",
            ":-",
            ":=",
            ":?",
            ":+",
            "#",
            "##",
            "%",
            "%%",
            "^",
            "^^",
            ",",
            ",,",
            "@",
        )
    ),
}


class UnknownSyntaxError(Exception):
    """A construct that the tables do not list; `line` and `column` (in bytes) count from 1."""

    def __init__(self, what: str, line: int, column: int) -> None:
        """Keep the name and the place of the construct."""
        super().__init__(what)
        self.what = what
        self.line = line
        self.column = column


class TooDeepError(Exception):
    """Nodes that are nested deeper than a person writes."""


_Value: TypeAlias = "Node | tuple[Node, ...] | str | bool"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One construct; places count from 1, columns in bytes, and the end is the byte after it."""

    kind: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    values: Mapping[str, _Value]

    def node(self, field: str) -> "Node | None":
        """Give the node of a field, or None."""
        value = self.values.get(field)
        return value if isinstance(value, Node) else None

    def nodes(self, field: str) -> "tuple[Node, ...]":
        """Give the nodes of a field."""
        value = self.values.get(field)
        return value if isinstance(value, tuple) else ()

    def text(self, field: str = "Value") -> str:
        """Give the text of a field, empty when there is none."""
        value = self.values.get(field)
        return value if isinstance(value, str) else ""

    def flag(self, field: str) -> bool:
        """Tell whether a flag is set."""
        return self.values.get(field) is True

    def children(self) -> "list[Node]":
        """Give all nodes directly below, in the order of their fields."""
        found: list[Node] = []
        for value in self.values.values():
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += value
        return found


def build(document: JsonValue) -> Node:
    """Name every node of the parser's output.

    Raises: UnknownSyntaxError; TooDeepError.
    """
    return _node(document, "File", 0)


def _node(value: JsonValue, kind: str, depth: int) -> Node:
    if depth > _MAX_DEPTH:
        raise TooDeepError
    record = _record(value)
    line, column, start = _place(record.get("Pos"))
    end_line, end_column, end = _place(record.get("End"))
    written = record.get("Type", kind)
    if not isinstance(written, str) or written not in _SCHEMA or kind not in (_ANY, written):
        _refuse(f"a construct of kind {written}", line, column)
    fields = _SCHEMA[written]
    found: dict[str, _Value] = {}
    for name, held in record.items():
        form = fields.get(name)
        if form is not None:
            read = _value(held, form, depth + 1)
            if read is not None:
                found[name] = read
        elif name not in _IGNORED and not _is_place(held):
            _refuse(f"a {written} with a field {name}", line, column)
    operators = _OPERATORS.get(written)
    if operators is not None and found.get("Op") not in operators:
        _refuse(f"a {written} with operator {found.get('Op')}", line, column)
    return Node(written, line, column, end_line, end_column, start, end, found)


def _value(held: JsonValue, form: str, depth: int) -> "_Value | None":
    """Read a field that the schema lists; None when it holds nothing."""
    if held is None:
        return None
    if form in (_TEXT, _FLAG):
        if isinstance(held, str | bool):
            return held
        # `Dollar` is a flag in some kinds and a place in others.
        if not _is_place(held):
            _refuse("a value that is neither text nor flag", 1, 1)
        return None
    if form[0] == _MANY:
        if not isinstance(held, list):
            _refuse("a list that is none", 1, 1)
        kind = form[1:]
        return tuple([_node(item, kind, depth) for item in held])
    return _node(held, form, depth)


def _refuse(what: str, line: int, column: int) -> NoReturn:
    raise UnknownSyntaxError(what, line, column)


def _record(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _place(value: JsonValue) -> tuple[int, int, int]:
    record = _record(value)
    line, column, offset = record.get("Line"), record.get("Col"), record.get("Offset")
    if isinstance(line, int) and isinstance(column, int) and isinstance(offset, int):
        return max(1, line), max(1, column), offset
    return 1, 1, 0


def _is_place(value: JsonValue) -> bool:
    """Tell whether a value is a position, which the parser writes for every token."""
    record = _record(value)
    return "Line" in record and isinstance(record.get("Offset"), int)
