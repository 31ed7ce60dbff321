"""How much the next event is a surprise, and how much new there is in a trajectory."""

import math
from collections import Counter
from itertools import pairwise
from typing import Final

from aw_graders.graders.model import HIGHER, GraderInput, GraderSpec, Measured, Outcome
from aw_graders.graders.trajectory import bounded, not_applicable, symbols
from aw_graders.lookups.trajectory import Trajectory

_EVIDENCE: Final = "trajectory events: recorded, or calls, observations, messages and outputs"


def _symbols(trajectory: Trajectory) -> list[str]:
    return [symbol for _, symbol in symbols(trajectory)]


def entropy_rate(sequence: list[str]) -> float:
    """Give the first-order conditional entropy of a sequence, in bits."""
    steps = Counter(pairwise(sequence))
    before = Counter(sequence[:-1])
    total = len(sequence) - 1
    return math.fsum(
        count / total * math.log2(before[first] / count) for (first, _), count in steps.items()
    )


@bounded
def _entropy_rate(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the entropy of the next event, given the one before, by the largest it could be."""
    found = _symbols(trajectory)
    if len(found) < 2:  # noqa: PLR2004 - a step takes two
        return not_applicable("fewer than 2 events")
    alphabet = len(set(found))
    details = f"{len(found) - 1} steps between {alphabet} kinds of events"
    if alphabet < 2:  # noqa: PLR2004 - one kind is no surprise
        return Measured(0, details)
    return Measured(min(1, max(0, entropy_rate(found) / math.log2(alphabet))), details)


def phrase_count(sequence: list[str]) -> int:
    """Count the phrases of the Lempel-Ziv (1976) parsing.

    A phrase grows while it occurs starting anywhere before its own start, overlap allowed, and ends
    with the symbol that makes it new; what is left at the end counts as one.
    Cost: O(n) steps over a suffix automaton.
    """
    automaton = _Automaton(sequence)
    phrases = start = 0
    while start < len(sequence):
        state, at = 0, start
        while at < len(sequence):
            following = automaton.steps[state].get(sequence[at])
            # The first occurrence ends at `at` itself when there is none before.
            if following is None or automaton.first_end[following] >= at:
                break
            state, at = following, at + 1
        phrases += 1
        start = at + 1
    return phrases


class _Automaton:
    """The suffix automaton of a sequence, with where each state's texts first end."""

    def __init__(self, sequence: list[str]) -> None:
        self.steps: list[dict[str, int]] = [{}]
        self.first_end = [-1]
        self._lengths = [0]
        self._links = [-1]
        self._last = 0
        for at, symbol in enumerate(sequence):
            self._extend(at, symbol)

    def _extend(self, at: int, symbol: str) -> None:
        added = self._state(self._lengths[self._last] + 1, {}, at)
        place = self._last
        while place >= 0 and symbol not in self.steps[place]:
            self.steps[place][symbol] = added
            place = self._links[place]
        if place < 0:
            self._links[added] = 0
        else:
            following = self.steps[place][symbol]
            if self._lengths[place] + 1 == self._lengths[following]:
                self._links[added] = following
            else:
                self._links[added] = self._links[following] = self._split(place, symbol, following)
        self._last = added

    def _split(self, place: int, symbol: str, following: int) -> int:
        copy = self._state(
            self._lengths[place] + 1, dict(self.steps[following]), self.first_end[following]
        )
        self._links[copy] = self._links[following]
        while place >= 0 and self.steps[place].get(symbol) == following:
            self.steps[place][symbol] = copy
            place = self._links[place]
        return copy

    def _state(self, length: int, steps: dict[str, int], first_end: int) -> int:
        self.steps.append(steps)
        self.first_end.append(first_end)
        self._lengths.append(length)
        self._links.append(-1)
        return len(self.steps) - 1


@bounded
def _complexity(_: GraderInput, trajectory: Trajectory) -> Outcome:
    """Divide the number of Lempel-Ziv phrases by that of a random sequence of this length."""
    found = _symbols(trajectory)
    if len(found) < 2:  # noqa: PLR2004 - as above
        return not_applicable("fewer than 2 events")
    alphabet = len(set(found))
    if alphabet < 2:  # noqa: PLR2004 - as above
        return Measured(0, f"{len(found)} events of one kind")
    phrases = phrase_count(found)
    details = f"{phrases} phrases in {len(found)} events of {alphabet} kinds"
    expected = len(found) / (math.log(len(found)) / math.log(alphabet))
    return Measured(min(1, max(0, phrases / expected)), details)


GRADERS: Final = (
    GraderSpec(
        id="event-entropy-rate",
        name="Event Entropy Rate",
        summary="Entropy of the next event given the one before / the largest possible",
        formula="sum of p(a,b) log2(count(a) / count(a,b)), divided by log2(kinds)",
        reading="0.2 means that the next event is nearly always known from the one before; 1 that anything may follow.",
        example="events a b a b: after a always b and after b always a, so 0 bits of 1, 0",
        evidence=_EVIDENCE,
        unavailable="with fewer than 2 events that have a kind; without events; when events were recorded as something else than a list",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_entropy_rate,
        default=False,
        needs_events=True,
        cost="O(N)",
        source="Shannon, A mathematical theory of communication, 1948",
    ),
    GraderSpec(
        id="lempel-ziv-trajectory-complexity",
        name="Lempel-Ziv Trajectory Complexity",
        summary="Lempel-Ziv phrases / those of a random sequence",
        formula="phrases / (N / log base kinds of N), at most 1",
        reading="0.3 means that the run is made of few passages repeated; 1 that nearly every step is new. Short runs reach 1 soon.",
        example="events a b a b a b a b: phrases a, b, ababab, so 3 / (8 / log2 8) = 1.125, at most 1",
        evidence=_EVIDENCE,
        unavailable="with fewer than 2 events that have a kind; without events; when events were recorded as something else than a list",
        unit="ratio",
        direction=HIGHER,
        minimum=0,
        maximum=1,
        compute=_complexity,
        default=False,
        needs_events=True,
        cost="O(N) with a suffix automaton",
        source="Lempel and Ziv, On the complexity of finite sequences, 1976; Kaspar and Schuster, 1987",
    ),
)
