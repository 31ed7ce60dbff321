"""`declare` and its kin: they set names, and evaluate what they are given."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aw_graders.analysis.bash.context import Call, Context, Where
from aw_graders.analysis.bash.facts import identifier, name_of
from aw_graders.analysis.bash.names import is_guarded, is_identifier, is_variable
from aw_graders.analysis.bash.tree import Node
from aw_graders.analysis.bash.values import Trait
from aw_graders.analysis.bash.variables import check_name, check_text
from aw_graders.analysis.bash.words import exact_text, only_parameter, read_word

_VARIANTS: Final = frozenset(("declare", "typeset", "local", "export", "readonly"))
# With -f, -F or -p they show what they name; export and readonly set it all the same.
_SHOWING: Final = frozenset(("declare", "typeset"))
_NAME_HINT: Final = "name the variable in the script"


@dataclass(frozen=True, slots=True)
class _Item:
    """One word of a declaration: a name, or a name with a value; `text` is a value in it."""

    node: Node
    name: str | None
    value: Node | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class _Declared:
    """Which command declares, and where it stands."""

    variant: str
    where: Where
    context: Context


def check_declared(node: Node, where: Where, context: Context) -> None:
    """Judge a declaration that the parser took for one."""
    variant = node.node("Variant")
    if variant is not None and variant.text() not in _VARIANTS:
        message = f"{variant.text()} is no command of Bash"
        context.report.dynamic(node, message, "use declare or local")
        return
    options = ""
    items: list[_Item] = []
    for assign in node.nodes("Args"):
        name, word = name_of(assign), assign.node("Value")
        if name:
            items.append(_Item(assign, name, word))
        elif word is not None:
            options += _options(word, items)
    _check(items, options, _Declared(variant.text() if variant else "", where, context))


def check_declaring_call(call: Call) -> None:
    """Judge a declaration whose name is quoted, or that stands behind `builtin` or `command`."""
    options = ""
    items: list[_Item] = []
    for argument in call.arguments:
        options += _options(argument.node, items)
    _check(items, options, _Declared(call.name, call.where, call.context))


def _options(word: Node, items: list[_Item]) -> str:
    """Add what a word names to the items, or give the option letters in it."""
    read = read_word(word)
    if read.exact is not None and read.exact[:1] in ("-", "+"):
        return read.exact
    before, equals, after = read.head.partition("=")
    if read.exact is None and (not equals or not is_identifier(before.removesuffix("+"))):
        items.append(_Item(word, None))
    elif read.exact is None:
        items.append(_Item(word, identifier(before), text=None, value=word))
    else:
        items.append(_Item(word, identifier(before) or before, text=after if equals else None))
        if not is_variable(before.removesuffix("+")):
            items.append(_Item(word, None))
    return ""


def _check(items: list[_Item], options: str, declared: _Declared) -> None:
    where, context = declared.where, declared.context
    only_shows = bool(set("fFp") & set(options)) and declared.variant in _SHOWING
    for item in items:
        if only_shows and item.value is None and item.text is None:
            continue
        check_name(item.node, item.name, context, item.value)
        if item.name is None:
            continue
        if "n" in options and (item.value is not None or item.text is not None):
            _check_reference(item, where, context)
        if set("aA") & set(options) or item.name in context.facts.arrays:
            _check_array(item, where, context)
        if "i" in options and item.value is not None:
            _check_number(item.value, where, context)
        if item.text is not None:
            check_text(item.node, item.text, context)


def _check_array(item: _Item, where: Where, context: Context) -> None:
    """Refuse to make an array of a text: Bash reads the text as code."""
    text = exact_text(item.value) if item.text is None else item.text
    if text is not None:
        is_code = text.startswith("(") and ("$" in text or "`" in text)
    elif item.value is not None:
        traits = context.values.of(item.value, where.function)
        is_code = not traits & (Trait.TIDY | Trait.NUMBER)
    else:
        is_code = False
    if is_code:
        message = "Bash makes an array of this text, and runs the substitutions in it"
        context.report.dynamic(item.node, message, "list the elements: name=(...)")


def _check_number(value: Node, where: Where, context: Context) -> None:
    if Trait.INERT not in context.values.of(value, where.function):
        message = "arithmetic would run what stands in square brackets within this text"
        context.report.dynamic(value, message, "give the variable a number")


def _check_reference(item: _Item, where: Where, context: Context) -> None:
    text = exact_text(item.value) if item.text is None else item.text
    if text is not None:
        check_name(item.node, text if is_identifier(text) else None, context)
        return
    if not all(map(_is_harmless_name, _passed_names(item.value, where, context))):
        message = "what this name stands for is known only when the script runs"
        context.report.dynamic(item.node, message, _NAME_HINT)


def _is_harmless_name(name: str | None) -> bool:
    return name is not None and is_identifier(name) and not is_guarded(name)


def _passed_names(word: Node | None, where: Where, context: Context) -> Iterator[str | None]:
    """Give the names that a function is called with for one of its parameters."""
    parameter = None if word is None else only_parameter(word)
    name = None if parameter is None else parameter.node("Param")
    if parameter is None or name is None or not name.text().isdigit() or not where.function:
        yield None
        return
    position = int(name.text()[:4])
    if set(parameter.values) - {"Short", "Param"} or where.function not in context.facts.functions:
        yield None
        return
    yield from context.facts.passed_at(where.function, position)
