"""Visits every construct of a script, also those within strings, patterns and arithmetic."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Final, TypeAlias

from aw_graders.analysis.bash.commands import judge_command
from aw_graders.analysis.bash.context import Context, Where
from aw_graders.analysis.bash.descriptors import Descriptors, number_of
from aw_graders.analysis.bash.facts import TOP, arithmetic_name, is_assigning, name_of
from aw_graders.analysis.bash.models.declarations import check_declared
from aw_graders.analysis.bash.names import is_guarded, is_identifier
from aw_graders.analysis.bash.redirections import check_redirection
from aw_graders.analysis.bash.registry import is_known
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.values import Trait
from aw_graders.analysis.bash.variables import check_name, check_text, check_value
from aw_graders.analysis.bash.words import exact_text, literal_pieces, read_word
from aw_graders.diagnostics import quoted


class Quoting(Enum):
    """What surrounds a part of a word: it decides what quotes mean."""

    NONE = "none"
    DOUBLE = "double"
    ARITHMETIC = "arithmetic"


_PIPES: Final = frozenset(("|", "|&"))
_INPUTS: Final = frozenset(("<", "<<", "<<-", "<<<", "<&", "<>"))
_NUMERIC_TESTS: Final = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NAME_TESTS: Final = frozenset(("-v", "-R"))
# Operators behind which single quotes are ordinary characters within double quotes.
_UNQUOTING: Final = frozenset(("-", ":-", "=", ":=", "?", ":?", "+", ":+"))
_ASSIGNING: Final = frozenset(("=", ":="))
_TRANSFORMATIONS: Final = frozenset("QEAKakuUL")
_PLAIN: Final = re.compile(r"[^$`\"'\\{}\[\]]*")
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)
_HIDDEN: Final = re.compile(r"\$\(|`|[<>]\(|\$\{")
_PATTERN: Final = re.compile(r"(?:[^$`\"'\\<>]|\$\w|\$\{\w+\})*")
_NAMES: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_CHOSEN: Final = re.compile(r"\{([A-Za-z_]\w*)(?:\[[0-9]+\])?\}", re.ASCII)
_COMMAND_NAME: Final = re.compile(r"[A-Za-z_/.][\w/.+-]*", re.ASCII)
_LET_REDIRECTS: Final = re.compile(r"[<>&|]")
_ENDS_EARLY: Final = re.compile(rb"<<(?!<)|(?<![^\s;&|()`])#|\besac\b")
_QUOTES_HINT: Final = "use double quotes there, or keep the text in a variable"
_NUMBER_HINT: Final = "give the variable a number"

_State: TypeAlias = tuple[Node, Where, Quoting]


class Walker:
    """Looks at one script; `source` is the text that the places of its nodes are about."""

    def __init__(self, context: Context, source: bytes) -> None:
        """Take what everything shares, and the bytes of the script."""
        self._context = context
        self._report = context.report
        self._source = source
        self._descriptors = Descriptors(context.facts, context.sinks)
        self._waiting: list[_State] = []

    def walk(self, root: Node, where: Where) -> None:
        """Visit a tree.

        Cost: O(nodes).
        """
        waiting = self._waiting
        waiting.append((root, where, Quoting.NONE))
        while waiting and not self._report.is_full:
            node, at, quoting = waiting.pop()
            visit = _VISITS.get(node.kind)
            if visit is None:
                waiting += [(child, at, quoting) for child in node.children()]
            else:
                visit(self, node, at, quoting)

    def _later(self, nodes: "tuple[Node | None, ...]", where: Where, quoting: Quoting) -> None:
        self._waiting += [(node, where, quoting) for node in nodes if node is not None]

    def visit_statement(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit a command with its redirections."""
        redirects = node.nodes("Redirs")
        inner = where
        for redirect in redirects:
            check_redirection(redirect, where, self._context, self._descriptors, self._source)
            if redirect.text("Op") in _INPUTS and number_of(redirect) == "0":
                inner = replace(where, has_input=True)
            self._later((redirect.node("Word"),), where, Quoting.NONE)
            number = redirect.node("N")
            if number is not None and not number.text().isdigit():
                self._chosen(number)
            if self._expands(redirect):
                self._later((redirect.node("Hdoc"),), where, Quoting.DOUBLE)
            self._text_of_input(redirect)
        self._later((node.node("Cmd"),), inner, Quoting.NONE)

    def _chosen(self, number: Node) -> None:
        match = _CHOSEN.fullmatch(number.text())
        check_name(number, None if match is None else match[1], self._context)

    @staticmethod
    def _expands(redirect: Node) -> bool:
        word = redirect.node("Word")
        if redirect.node("Hdoc") is None or word is None:
            return False
        parts = word.nodes("Parts")
        return all(part.kind == "Lit" and "\\" not in part.text() for part in parts)

    def _text_of_input(self, redirect: Node) -> None:
        word = redirect.node("Hdoc") or redirect.node("Word")
        if word is not None and redirect.text("Op").startswith("<<"):
            check_text(word, "".join(literal_pieces(word)), self._context)

    def visit_pipeline(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit two commands."""
        second = replace(where, has_input=True) if node.text("Op") in _PIPES else where
        self._later((node.node("X"),), where, Quoting.NONE)
        self._later((node.node("Y"),), second, Quoting.NONE)

    def visit_loop(self, node: Node, where: Where, quoting: Quoting) -> None:
        """Visit `for` and `select`."""
        loop = node.node("Loop")
        if loop is not None and loop.kind == "CStyleLoop":
            self._later(tuple(loop.children()), where, Quoting.ARITHMETIC)
        elif loop is not None:
            name = loop.node("Name")
            if name is not None:
                check_name(name, name.text(), self._context)
            for item in loop.nodes("Items"):
                check_value(item, self._context)
            self._later(loop.nodes("Items"), where, quoting)
        self._later(node.nodes("Do"), where, Quoting.NONE)

    def visit_function(self, node: Node, _: Where, __: Quoting) -> None:
        """Visit a function."""
        name = node.node("Name")
        if name is not None and is_known(name.text()):
            message = f"the function {quoted(name.text())} hides a command of that name"
            self._report.dynamic(name, message, "give the function a name of its own")
        self._later((node.node("Body"),), Where(name_of(node), has_input=True), Quoting.NONE)

    def visit_coprocess(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit a coprocess."""
        name = node.node("Name")
        if name is not None:
            check_name(name, exact_text(name), self._context)
        statement = node.node("Stmt")
        command = None if statement is None else statement.node("Cmd")
        words = () if command is None else command.nodes("Args")
        if words and _COMMAND_NAME.fullmatch(exact_text(words[0]) or "") is None:
            message = "Bash may take the beginning of this coprocess for something else"
            self._report.dynamic(words[0], message, "write coproc NAME { ...; }")
        self._later((statement,), replace(where, has_input=True), Quoting.NONE)

    def visit_command(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit a simple command."""
        judge_command(node, where, self._context)
        self._later(node.nodes("Assigns"), where, Quoting.NONE)
        self._later(node.nodes("Args"), where, Quoting.NONE)

    def visit_declaration(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit `declare` and its kin."""
        check_declared(node, where, self._context)
        self._later(node.nodes("Args"), where, Quoting.NONE)

    def visit_assignment(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit an assignment."""
        name, value = node.node("Name"), node.node("Value")
        if name is not None:
            check_name(name, name.text(), self._context, value)
        if value is not None and not node.flag("Naked"):
            check_value(value, self._context)
        array = node.node("Array")
        written = "" if name is None else name.text()
        is_keyed = bool({(where.function, written), (TOP, written)} & self._context.facts.keyed)
        for element in () if array is None else array.nodes("Elems"):
            item = element.node("Value")
            if item is not None:
                check_value(item, self._context)
            self._later((item,), where, Quoting.NONE)
            index = element.node("Index")
            if index is not None and not is_keyed:
                self._element(index, where)
            self._later((index,), where, Quoting.ARITHMETIC)
        self._later((value,), where, Quoting.NONE)
        self._later((node.node("Index"),), where, Quoting.ARITHMETIC)

    def _element(self, index: Node, where: Where) -> None:
        """Refuse an index in a list that Bash would expand a second time."""
        waiting = [index]
        while waiting:
            part = waiting.pop()
            if part.kind != "Word":
                waiting += part.children()
                continue
            text = exact_text(part)
            is_plain = text is not None and (text.isdigit() or is_identifier(text))
            if not is_plain and Trait.NUMBER not in self._context.values.of(part, where.function):
                message = "Bash expands the text of this index a second time"
                hint = "declare -A the array before, or set one element at a time: name[$i]=..."
                self._report.dynamic(index, message, hint)
                return

    def visit_test(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit a test in [[...]]."""
        operator, first = node.text("Op"), node.node("X")
        if operator in _NUMERIC_TESTS:
            self._later((first, node.node("Y")), where, Quoting.ARITHMETIC)
            return
        if operator in _NAME_TESTS and first is not None:
            self._name_test(first)
        self._later((first, node.node("Y")), where, Quoting.NONE)

    def _name_test(self, word: Node) -> None:
        text = read_word(word)
        if text.exact is None and "[" not in "".join(literal_pieces(word)):
            message = "the variable that is asked for is known only when the script runs"
            self._report.dynamic(word, message, "name the variable in the script")
        elif text.exact is not None:
            check_text(word, text.exact, self._context)

    def visit_arithmetic(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit what holds arithmetic."""
        self._later(tuple(node.children()), where, Quoting.ARITHMETIC)

    def visit_calculation(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit an operation of arithmetic."""
        target = node.node("X")
        name = arithmetic_name(target)
        if target is not None and name is not None and is_assigning(node):
            check_name(target, name, self._context)
        self._later(tuple(node.children()), where, Quoting.ARITHMETIC)

    def visit_let(self, node: Node, where: Where, _: Quoting) -> None:
        """Visit `let`."""
        self._later(node.nodes("Exprs"), where, Quoting.ARITHMETIC)
        inner = list(node.nodes("Exprs"))
        while inner:
            part = inner.pop()
            if part.kind in ("BinaryArithm", "UnaryArithm", "ParenArithm"):
                inner += part.children()
                if part.kind == "ParenArithm" or _LET_REDIRECTS.search(part.text("Op")):
                    message = "Bash takes a part of this for a redirection or another command"
                    self._report.dynamic(node, message, "write ((...)) instead of let")
                    return

    def visit_word(self, node: Node, where: Where, quoting: Quoting) -> None:
        """Visit a word."""
        if quoting is Quoting.ARITHMETIC:
            self._operand(node, where)
        self._later(node.nodes("Parts"), where, quoting)

    def _operand(self, word: Node, where: Where) -> None:
        """Refuse an operand of arithmetic whose text the script fills with code."""
        exact = exact_text(word)
        for name in _NAMES.findall(exact or ""):
            if is_guarded(name) and name != exact:
                check_name(word, name, self._context)
        if exact is not None and is_identifier(exact):
            traits = self._context.values.variable(exact, where.function)
        else:
            traits = self._context.values.of(word, where.function)
        if Trait.INERT not in traits:
            message = "arithmetic would run what stands in square brackets within this text"
            self._report.dynamic(word, message, _NUMBER_HINT)

    def visit_quoted(self, node: Node, where: Where, quoting: Quoting) -> None:
        """Visit double quotes."""
        inner = Quoting.DOUBLE if quoting is Quoting.NONE else quoting
        self._later(node.nodes("Parts"), where, inner)

    def visit_single(self, node: Node, _: Where, quoting: Quoting) -> None:
        """Visit single quotes."""
        if quoting is not Quoting.NONE and not _PLAIN.fullmatch(node.text()):
            message = "single quotes do not quote here: Bash expands what they hold"
            self._report.dynamic(node, message, _QUOTES_HINT)

    def visit_literal(self, node: Node, _: Where, quoting: Quoting) -> None:
        """Visit plain text."""
        text = node.text()
        if "(" not in text and "`" not in text and "${" not in text:
            return
        bare = _ESCAPED.sub("", text)
        if quoting is Quoting.DOUBLE:
            bare = bare.replace("<(", "").replace(">(", "")
        if _HIDDEN.search(bare):
            message = "it is uncertain what Bash expands here"
            self._report.dynamic(node, message, "quote this text, or split it")

    def visit_pattern(self, node: Node, _: Where, __: Quoting) -> None:
        """Visit an extended pattern."""
        pattern = node.node("Pattern")
        if pattern is not None and not _PATTERN.fullmatch(pattern.text()):
            message = "this pattern holds more than text and plain variables"
            self._report.dynamic(node, message, "put the pattern into a variable first")

    def visit_substitution(self, node: Node, where: Where, quoting: Quoting) -> None:
        """Visit a command substitution."""
        held = self._source[node.start : node.end]
        if quoting is Quoting.ARITHMETIC and _ENDS_EARLY.search(held):
            message = "within arithmetic, Bash may end this substitution early"
            hint = "keep what it prints in a variable first"
            self._report.dynamic(node, message, hint)
        if node.flag("Backquotes") and b"\\" in held.replace(b"\\`", b""):
            message = "backslashes within backticks are uncertain"
            self._report.dynamic(node, message, "write $(...) instead of backticks")
        self._later(node.nodes("Stmts"), where, Quoting.NONE)

    def visit_parameter(self, node: Node, where: Where, quoting: Quoting) -> None:
        """Visit a parameter expansion."""
        name = node.node("Param")
        index, cut = node.node("Index"), node.node("Slice")
        self._indirection(node)
        if index is not None:
            self._later((index,), where, Quoting.ARITHMETIC)
        if cut is not None:
            self._later(tuple(cut.children()), where, Quoting.ARITHMETIC)
        replacing = node.node("Repl")
        if replacing is not None:
            kept = quoting if quoting is Quoting.ARITHMETIC else Quoting.NONE
            self._later(tuple(replacing.children()), where, kept)
        expansion = node.node("Exp")
        if expansion is None:
            return
        operator, word = expansion.text("Op"), expansion.node("Word")
        if operator == "@" and exact_text(word) not in _TRANSFORMATIONS:
            message = "${...@P} runs the substitutions in the text of a variable"
            self._report.dynamic(node, message, "use the variable as it is")
        if operator in _ASSIGNING and name is not None:
            check_name(name, name.text(), self._context, word)
            if word is not None:
                check_value(word, self._context)
        is_kept = operator in _UNQUOTING or quoting is Quoting.ARITHMETIC
        self._later((word,), where, quoting if is_kept else Quoting.NONE)

    def _indirection(self, node: Node) -> None:
        if not node.flag("Excl") or node.text("Names"):
            return
        name, index = node.node("Param"), node.node("Index")
        if name is not None and name.text() == "#":
            return
        if index is None or "".join(literal_pieces(index)) not in ("@", "*"):
            message = "the variable that is read is known only when the script runs"
            hint = "keep the values in an associative array"
            self._report.dynamic(node, message, hint)


_VISITS: Final[Mapping[str, Callable[[Walker, Node, Where, Quoting], None]]] = {
    "Stmt": Walker.visit_statement,
    "BinaryCmd": Walker.visit_pipeline,
    "ForClause": Walker.visit_loop,
    "FuncDecl": Walker.visit_function,
    "CoprocClause": Walker.visit_coprocess,
    "CallExpr": Walker.visit_command,
    "DeclClause": Walker.visit_declaration,
    "Assign": Walker.visit_assignment,
    "BinaryTest": Walker.visit_test,
    "UnaryTest": Walker.visit_test,
    "ArithmExp": Walker.visit_arithmetic,
    "ArithmCmd": Walker.visit_arithmetic,
    "BinaryArithm": Walker.visit_calculation,
    "UnaryArithm": Walker.visit_calculation,
    "LetClause": Walker.visit_let,
    "Word": Walker.visit_word,
    "DblQuoted": Walker.visit_quoted,
    "SglQuoted": Walker.visit_single,
    "Lit": Walker.visit_literal,
    "ExtGlob": Walker.visit_pattern,
    "CmdSubst": Walker.visit_substitution,
    "ProcSubst": Walker.visit_substitution,
    "ParamExp": Walker.visit_parameter,
}
