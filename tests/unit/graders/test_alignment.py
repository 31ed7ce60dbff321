"""Alignments with a process against brute force: over all words, and step by step over facts.

A word is a sequence of activities, each one letter.
"""

import heapq
import math
import random
from itertools import pairwise, product

import numpy as np
import pytest

from tests.unit.graders.support import kinds, outcome, value

_ID = "process-alignment-fitness"
_RANDOM_CASES = 10_000


# --- what a process means, said of whole words --------------------------------------


def _holds(constraint, word):
    template, first, then = constraint
    if template == "existence":
        return first in word
    if template == "absence":
        return first not in word
    if template == "precedence":
        return then not in word or first in word[: word.index(then)]
    return all(then in word[at:] for at, symbol in enumerate(word) if symbol == first)


def _fits_graph(graph, word):
    edges, start, end = graph
    return (
        bool(word)
        and word[0] in start
        and word[-1] in end
        and all(pair in edges for pair in pairwise(word))
    )


def _is_allowed(graph, constraints, word):
    return (graph is None or _fits_graph(graph, word)) and all(
        _holds(constraint, word) for constraint in constraints
    )


def _recorded(graph, constraints):
    """The process as a session records it."""
    process = {}
    if graph is not None:
        edges, start, end = graph
        process |= {
            "edges": [{"from": a, "to": b} for a, b in sorted(edges)],
            "start": sorted(start),
            "end": sorted(end),
        }
    if constraints:
        process["constraints"] = [
            {"template": template, "activity": first}
            if template in {"existence", "absence"}
            else {"template": template, "first": first, "then": then}
            for template, first, then in constraints
        ]
    return {"process": process}


def _random_constraints(source, alphabet, most):
    found = []
    for _ in range(source.randint(0, most)):
        template = source.choice(["existence", "absence", "precedence", "response", "response"])
        first, then = source.sample(alphabet, 2)
        found.append((template, first, then))
    return found


def _random_process(source, alphabet, most):
    constraints = _random_constraints(source, alphabet, most)
    if constraints and source.random() < 0.4:
        return None, constraints
    pairs = list(product(alphabet, repeat=2))
    edges = set(source.sample(pairs, source.randint(0, len(pairs))))
    start, end = (set(source.sample(alphabet, source.randint(1, 2))) for _ in range(2))
    return (edges, start, end), constraints


def _names(graph, constraints):
    """The activities that a process names; events of other kinds do not concern it."""
    names = {first for _, first, _ in constraints}
    names |= {then for template, _, then in constraints if template in {"precedence", "response"}}
    if graph is not None:
        edges, start, end = graph
        names |= start | end | {name for edge in edges for name in edge}
    return names


# --- over all words ---------------------------------------------------------------

_LETTERS = "abc"
_MAX_WORD = 7
_MAX_TRACE = 4


def _words(most):
    return [
        "".join(letters) for size in range(most + 1) for letters in product(_LETTERS, repeat=size)
    ]


def _common(words, traces):
    """The length of the longest common subsequence of each trace and each word."""
    table = np.zeros((len(traces), len(words)), dtype=np.int16)
    for number, trace in enumerate(traces):
        rows = {"": [0] * (len(trace) + 1)}
        for at, word in enumerate(words):
            if word:
                before, row = rows[word[:-1]], [0]
                for place, symbol in enumerate(trace):
                    same = before[place] + 1 if symbol == word[-1] else 0
                    row.append(max(same, before[place + 1], row[-1]))
                rows[word] = row
            table[number, at] = rows[word][-1]
    return table


def test_no_allowed_word_is_nearer_than_the_optimal_alignment():
    words, traces = _words(_MAX_WORD), [trace for trace in _words(_MAX_TRACE) if trace]
    lengths = np.array([len(word) for word in words])
    costs = (
        np.array([len(trace) for trace in traces])[:, None] + lengths - 2 * _common(words, traces)
    )
    source = random.Random(31)
    settled = 0
    while settled < _RANDOM_CASES:
        graph, constraints = _random_process(source, _LETTERS, 3)
        allowed = np.array([_is_allowed(graph, constraints, word) for word in words])
        reference = _recorded(graph, constraints)
        names = _names(graph, constraints)
        for number, trace in enumerate(traces):
            # Events of a kind that the process does not name are for another test.
            if not set(trace) <= names:
                continue
            found = outcome(_ID, reference, events=kinds(trace))
            if not allowed.any():
                # Three letters and three constraints allow a short word, or none.
                assert found.reason in {"malformed-reference", "nothing-to-measure"}
                continue
            best, shortest = costs[number][allowed].min(), lengths[allowed].min()
            # Any longer word costs more than what it is longer than the trace.
            if best > _MAX_WORD + 1 - len(trace):
                continue
            settled += 1
            assert math.isclose(found.value, 1 - best / (len(trace) + shortest)), (
                graph,
                constraints,
                trace,
            )


# --- step by step -----------------------------------------------------------------


def _step(graph, constraints, facts, symbol):
    """What is known after one more activity: the last one, those done, and answers that are due."""
    last, done, due = facts
    if graph is not None:
        edges, start, _ = graph
        if symbol not in start if last is None else (last, symbol) not in edges:
            return None
        last = symbol
    for template, first, then in constraints:
        if template == "absence" and symbol == first:
            return None
        if template == "precedence" and symbol == then and first not in done:
            return None
        if template == "response" and symbol == then:
            due = due - {(first, then)}
    for template, first, then in constraints:
        if template == "response" and symbol == first:
            due = due | {(first, then)}
    return last, done | {symbol}, due


def _may_end(graph, constraints, facts):
    last, done, due = facts
    return (
        not due
        and (graph is None or last in graph[2])
        and all(first in done for template, first, _ in constraints if template == "existence")
    )


def _least_cost(graph, constraints, trace, names):
    """Dijkstra's search over places in the trace and what is known; None when nothing is allowed."""
    begin = (None, frozenset(), frozenset())
    queue, costs, number = [(0, 0, 0, begin)], {}, 0
    while queue:
        cost, _, at, facts = heapq.heappop(queue)
        if (at, facts) in costs:
            continue
        costs[at, facts] = cost
        if at == len(trace) and _may_end(graph, constraints, facts):
            return cost
        following = []
        if at < len(trace):
            following.append((cost + 1, at + 1, facts))
            after = _step(graph, constraints, facts, trace[at])
            if after is not None:
                following.append((cost, at + 1, after))
        for symbol in names:
            after = _step(graph, constraints, facts, symbol)
            if after is not None:
                following.append((cost + 1, at, after))
        for item in following:
            number += 1
            heapq.heappush(queue, (item[0], number, item[1], item[2]))
    return None


def test_the_optimal_alignment_is_the_cheapest_way_through_trace_and_process():
    source = random.Random(32)
    for _ in range(_RANDOM_CASES):
        alphabet = "abcd"[: source.randint(2, 4)]
        graph, constraints = _random_process(source, alphabet, 2)
        trace = source.choices(alphabet, k=source.randint(1, 12))
        names = sorted(_names(graph, constraints))
        concerned = [symbol for symbol in trace if symbol in names]
        shortest = _least_cost(graph, constraints, [], names)
        found = outcome(_ID, _recorded(graph, constraints), events=kinds(trace))
        if shortest is None or not len(concerned) + shortest:
            assert found.reason in {"malformed-reference", "nothing-to-measure"}
            continue
        cost = _least_cost(graph, constraints, concerned, names)

        assert math.isclose(found.value, 1 - cost / (len(concerned) + shortest)), (
            graph,
            constraints,
            trace,
        )


def test_without_the_events_left_out_only_steps_are_missing():
    source = random.Random(33)
    checked = 0
    while checked < 2000:
        graph, constraints = _random_process(source, "abc", 2)
        trace = source.choices("abc", k=source.randint(1, 10))
        names = sorted(_names(graph, constraints))
        found = outcome(_ID, _recorded(graph, constraints), events=kinds(trace))
        if not set(trace) <= set(names) or not hasattr(found, "value"):
            continue
        checked += 1
        words = found.details.split()
        extra, missing = int(words[0]), int(words[words.index("steps") - 1])
        left_out = {place.index for place in found.evidence.places}
        rest = [symbol for at, symbol in enumerate(trace) if at not in left_out]

        assert len(left_out) == found.evidence.count == extra
        assert _least_cost(graph, constraints, trace, names) == extra + missing
        assert _least_cost(graph, constraints, rest, names) == missing
        assert (found.value == 1) == _is_allowed(graph, constraints, "".join(trace))


@pytest.mark.parametrize(
    ("trace", "want"),
    [("", None), ("a", 1), ("ab", 1 / 2), ("b", 0), ("aab", 2 / 3), ("ba", 1 / 2), ("cc", None)],
)
def test_one_activity_that_has_to_be_absent_among_free_ones(trace, want):
    constraints = [
        {"template": "absence", "activity": "b"},
        {"template": "response", "first": "x", "then": "a"},
    ]
    found = outcome(_ID, {"process": {"constraints": constraints}}, events=kinds(trace))

    assert getattr(found, "value", None) == (want if want is None else pytest.approx(want))


def test_groups_that_share_no_activity_are_aligned_as_one_process():
    """Ten pairs would need 1,024 states together, and 20 apart."""
    constraints = [{"template": "response", "first": f"a{n}", "then": f"b{n}"} for n in range(10)]
    trace = [f"a{n}" for n in range(10)] + [f"b{n}" for n in range(7)]

    found = value(_ID, {"process": {"constraints": constraints}}, events=kinds(trace))

    assert found == pytest.approx(1 - 3 / 17)
