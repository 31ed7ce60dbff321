"""The process that a reference allows: a graph, constraints, or both, as automata.

A graph says what may start, follow and end. Constraints say what has to be, and all else is open.
Source: Pesic, in Modern Business Process Automation, 2010, for the constraints; ADR 6.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NoReturn, TypeAlias

import msgspec

from aw_graders._json import JsonValue
from aw_graders.graders.alignment import MAX_STATES, Automaton
from aw_graders.graders.model import Unavailable
from aw_graders.graders.trajectory import (
    TOOL_CALL,
    MissingError,
    as_list,
    give_up,
    malformed_reference,
    not_applicable,
    text,
)
from aw_graders.lookups.trajectory import PROCESS, REFERENCE, Trajectory

_NAME: Final = f"{REFERENCE}.{PROCESS}"
_EDGES: Final = "edges"
_START: Final = "start"
_END: Final = "end"
_CONSTRAINTS: Final = "constraints"
# So many keep the making of automata, which looks at each activity in each state, under 50 ms.
MAX_CONSTRAINTS: Final = 100

EXISTENCE: Final = "existence"
ABSENCE: Final = "absence"
PRECEDENCE: Final = "precedence"
RESPONSE: Final = "response"
# The members that name the activities of each kind of constraint.
_TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    EXISTENCE: ("activity",),
    ABSENCE: ("activity",),
    PRECEDENCE: ("first", "then"),
    RESPONSE: ("first", "then"),
}


class Constraint(msgspec.Struct, frozen=True):
    """One rule: `existence` or `absence` of `first`, or `then` in relation to `first`."""

    template: str
    first: str
    then: str = ""

    @property
    def activities(self) -> tuple[str, ...]:
        """What the rule speaks of."""
        return (self.first, self.then) if self.then else (self.first,)


class Graph(msgspec.Struct, frozen=True):
    """Which activities may start, follow one another, and end."""

    following: Mapping[str, tuple[str, ...]]
    start: tuple[str, ...]
    end: frozenset[str]


class Process(msgspec.Struct, frozen=True):
    """Parts that share no activity; a sequence is allowed when each part accepts what concerns it.

    `kinds` are the kinds of events that the process speaks of; others do not concern it. `is_open` is
    true without a graph: activities that no part knows may be done at any time then.
    """

    parts: tuple[Automaton, ...]
    kinds: frozenset[str]
    is_open: bool


def kind_of(symbol: str) -> str:
    """Return the kind of event: of a tool call without its tool."""
    return TOOL_CALL if symbol.startswith(f"{TOOL_CALL}:") else symbol


def allowed_process(trajectory: Trajectory) -> Process:
    """Read the process of the reference.

    Raises: MissingError when none was recorded, it is malformed or too large, or it allows nothing
    or everything.
    Cost: O(edges + states x activities).
    """
    reference = trajectory.reference
    recorded = reference.get(PROCESS) if isinstance(reference, Mapping) else None
    if recorded is None:
        message = f'the session has no "{_NAME}"; record it in a "trajectory.evidence" event'
        give_up("no-reference", message)
    if not isinstance(recorded, Mapping):
        malformed_reference(trajectory, f'"{_NAME}" is no object')
    graph = _graph(trajectory, recorded)
    constraints = _constraints(trajectory, recorded)
    if graph is None and not constraints:
        raise MissingError(not_applicable(f'"{_NAME}" allows everything'))
    groups = _groups(constraints) if graph is None else [constraints]
    parts: list[Automaton] = []
    left = MAX_STATES
    for group in groups:
        part = _automaton(graph, group, left)
        if part is None:
            malformed_reference(trajectory, f'"{_NAME}" allows nothing')
        parts.append(part)
        left -= part.states
    return Process(
        tuple(parts),
        frozenset(map(kind_of, _activities(graph, constraints))),
        is_open=graph is None,
    )


def _activities(graph: Graph | None, constraints: Iterable[Constraint]) -> Iterator[str]:
    for constraint in constraints:
        yield from constraint.activities
    if graph is not None:
        yield from graph.start
        yield from graph.end
        for activity, following in graph.following.items():
            yield activity
            yield from following


# --- reading -------------------------------------------------------------------


def _list(
    trajectory: Trajectory, recorded: Mapping[str, JsonValue], key: str
) -> Sequence[JsonValue]:
    found = as_list(recorded.get(key))
    if found is None:
        malformed_reference(trajectory, f'"{_NAME}" has no list "{key}"')
    return found


def _graph(trajectory: Trajectory, recorded: Mapping[str, JsonValue]) -> Graph | None:
    """Read the graph; None when nothing of it was recorded.

    Raises: MissingError when a part of it is missing, or an entry names no activity: what is left
    out would change what is allowed.
    """
    if not {_EDGES, _START, _END} & recorded.keys():
        return None
    following: dict[str, dict[str, None]] = {}
    for position, edge in enumerate(_list(trajectory, recorded, _EDGES)):
        start = text(edge.get("from")) if isinstance(edge, Mapping) else None
        end = text(edge.get("to")) if isinstance(edge, Mapping) else None
        if start is None or end is None:
            malformed_reference(
                trajectory, f'edge {position} of "{_NAME}" has no "from" or no "to"'
            )
        following.setdefault(start, {})[end] = None
    ends: list[tuple[str, ...]] = []
    for key in (_START, _END):
        named = [text(entry) for entry in _list(trajectory, recorded, key)]
        if None in named:
            malformed_reference(trajectory, f'an entry of "{_NAME}.{key}" is no text')
        ends.append(tuple(dict.fromkeys(name for name in named if name is not None)))
    start_names, end_names = ends
    return Graph(
        {name: tuple(listed) for name, listed in following.items()},
        start_names,
        frozenset(end_names),
    )


def _constraints(
    trajectory: Trajectory, recorded: Mapping[str, JsonValue]
) -> tuple[Constraint, ...]:
    """Read the constraints, each once.

    Raises: MissingError for one of an unknown kind, or without the activities that it needs.
    """
    if _CONSTRAINTS not in recorded:
        return ()
    listed = _list(trajectory, recorded, _CONSTRAINTS)
    if len(listed) > MAX_CONSTRAINTS:
        _too_many(f'"{_NAME}.{_CONSTRAINTS}" has more than {MAX_CONSTRAINTS} entries')
    found: dict[Constraint, None] = {}
    for position, entry in enumerate(listed):
        read = _constraint(entry)
        if read is None:
            known = ", ".join(_TEMPLATES)
            what = f'constraint {position} of "{_NAME}" is none of {known}, or lacks an activity'
            malformed_reference(trajectory, what)
        found[read] = None
    return tuple(found)


def _constraint(entry: JsonValue) -> Constraint | None:
    if not isinstance(entry, Mapping):
        return None
    template = text(entry.get("template"))
    keys = _TEMPLATES.get(template or "")
    if template is None or keys is None:
        return None
    named = [name for key in keys if (name := text(entry.get(key))) is not None]
    # An activity that has to follow or precede itself could never be done at all.
    if len(set(named)) < len(keys):
        return None
    return Constraint(template, *named)


def _too_many(message: str) -> NoReturn:
    raise MissingError(Unavailable("too-many-entries", f"{message}; this grader stops there"))


# --- automata ------------------------------------------------------------------


def _groups(constraints: Iterable[Constraint]) -> list[tuple[Constraint, ...]]:
    """Part constraints into groups that share no activity.

    None of the rules speaks of neighbours, so that each group can be aligned with what concerns it.
    """
    groups: list[tuple[set[str], list[Constraint]]] = []
    for constraint in constraints:
        names, members = set(constraint.activities), [constraint]
        apart: list[tuple[set[str], list[Constraint]]] = []
        for other, listed in groups:
            if other & names:
                names |= other
                members = listed + members
            else:
                apart.append((other, listed))
        groups = [*apart, (names, members)]
    return [tuple(members) for _, members in groups]


class _Rules(msgspec.Struct, frozen=True):
    """What one activity does to the constraints, each of which is one bit.

    The bit of `existence` and `precedence` says that the activity was done, the bit of `response`
    that an answer is due.
    """

    never: bool = False
    needed: int = 0
    set_: int = 0
    cleared: int = 0

    def after(self, bits: int) -> int | None:
        """Return the bits after the activity, None when it is not allowed."""
        if self.never or self.needed & ~bits:
            return None
        return bits & ~self.cleared | self.set_


_NO_RULES: Final = _Rules()


def _rules(constraints: Sequence[Constraint]) -> dict[str, _Rules]:
    rules: dict[str, _Rules] = {}

    def add(activity: str, **more: int) -> None:
        old = rules.get(activity, _NO_RULES)
        rules[activity] = _Rules(
            old.never or bool(more.get("never")),
            old.needed | more.get("needed", 0),
            old.set_ | more.get("set_", 0),
            old.cleared | more.get("cleared", 0),
        )

    for number, constraint in enumerate(constraints):
        bit = 1 << number
        if constraint.template == ABSENCE:
            add(constraint.first, never=1)
            continue
        add(constraint.first, set_=bit)
        if constraint.template == PRECEDENCE:
            add(constraint.then, needed=bit)
        elif constraint.template == RESPONSE:
            add(constraint.then, cleared=bit)
    return rules


_State: TypeAlias = tuple[str | None, int]


def _automaton(
    graph: Graph | None, constraints: Sequence[Constraint], most: int
) -> Automaton | None:
    """Make the automaton of a graph and constraints together; None when it accepts nothing.

    Raises: MissingError when it has more than `most` states, of the MAX_STATES for all parts.
    """
    rules = _rules(constraints)
    numbers: dict[_State, int] = {(None, 0): 0}
    steps: list[tuple[str, int, int]] = []
    waiting: deque[_State] = deque(numbers)
    while waiting:
        state = waiting.popleft()
        node, bits = state
        for activity in _next(graph, node, rules):
            after = rules.get(activity, _NO_RULES).after(bits)
            if after is None:
                continue
            reached = (None if graph is None else activity, after)
            if reached not in numbers:
                if len(numbers) >= most:
                    _too_many(f'"{_NAME}" needs more than {MAX_STATES} states')
                numbers[reached] = len(numbers)
                waiting.append(reached)
            steps.append((activity, numbers[state], numbers[reached]))
    due = sum(1 << at for at, item in enumerate(constraints) if item.template == RESPONSE)
    done = sum(1 << at for at, item in enumerate(constraints) if item.template == EXISTENCE)
    accepting = [
        number
        for (node, bits), number in numbers.items()
        if not bits & due and bits & done == done and (graph is None or node in graph.end)
    ]
    return _trimmed(steps, accepting, frozenset(rules))


def _next(graph: Graph | None, node: str | None, rules: Mapping[str, _Rules]) -> Iterable[str]:
    if graph is None:
        return rules
    return graph.start if node is None else graph.following.get(node, ())


def _trimmed(
    steps: Sequence[tuple[str, int, int]], accepting: Sequence[int], activities: frozenset[str]
) -> Automaton | None:
    """Keep the states that lead to an accepting one; None when the first does not."""
    before: dict[int, list[int]] = {}
    for _, source, target in steps:
        before.setdefault(target, []).append(source)
    kept = set(accepting)
    waiting = deque(kept)
    while waiting:
        for source in before.get(waiting.popleft(), ()):
            if source not in kept:
                kept.add(source)
                waiting.append(source)
    if 0 not in kept:
        return None
    numbers = {old: new for new, old in enumerate(sorted(kept))}
    named: dict[str, list[tuple[int, int]]] = {}
    for activity, source, target in steps:
        if source in kept and target in kept:
            named.setdefault(activity, []).append((numbers[source], numbers[target]))
    return Automaton(
        len(kept),
        {activity: tuple(pairs) for activity, pairs in named.items()},
        tuple(numbers[state] for state in accepting),
        activities,
    )
