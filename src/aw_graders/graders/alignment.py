"""Optimal alignments of a sequence with the words that a finite automaton accepts.

Source: van der Aalst, Adriansyah and van Dongen, Replaying history on process models for conformance
checking and performance analysis, 2012; ADR 6.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    import numpy as np

# Costs fit into 16 bits: at most MAX_ENTRIES events and MAX_STATES steps lie on either side of 0,
# and the sum of two distances without a path still fits.
_NO_PATH: Final = 16_000
# Work for one event grows with the square of the states of an automaton: 5,000 events take less
# than 100 ms with so many.
MAX_STATES: Final = 256


class Automaton(msgspec.Struct, frozen=True):
    """What may be done, one activity at a time.

    States are numbered from 0, where every run starts. `steps` has for each activity the pairs of
    states that it leads from and to. Every state can be reached, and leads to an accepting one.
    `activities` are all that it speaks of, also those that it never allows.
    """

    states: int
    steps: Mapping[str, tuple[tuple[int, int], ...]]
    accepting: tuple[int, ...]
    activities: frozenset[str] = frozenset()


class Alignment(msgspec.Struct, frozen=True):
    """What has to be left out and put in to make a sequence one that the automaton accepts.

    `cost` counts both, and no other choice costs less. `shortest` is the length of the shortest
    accepted sequence. `extra` lists the positions left out, in one choice of that cost.
    """

    cost: int
    shortest: int
    extra: tuple[int, ...]


class _Moves(msgspec.Struct, frozen=True):
    """The steps of one activity, in order of the states that they lead to.

    `starts` says where the steps to each such state begin, and `onward` how far each is from all.
    """

    sources: "np.ndarray"
    targets: "np.ndarray"
    starts: "np.ndarray"
    onward: "np.ndarray"


def align(automaton: Automaton, sequence: Sequence[str]) -> Alignment:
    """Find the least number of activities to leave out of a sequence, and to put into it.

    Takes: at most MAX_STATES states and MAX_ENTRIES activities.
    Returns: an optimal alignment, where steps taken together cost 0 and all others 1.
    Cost: O(states^3 + n states t), where t is how many states one activity can lead to.
    """
    # Loaded for this grader alone: loading it takes as long as grading most sessions.
    import numpy as np  # noqa: PLC0415

    distances = _distances(automaton)
    moves = {name: _moves(pairs, distances) for name, pairs in automaton.steps.items()}
    accepting = np.array(automaton.accepting)
    # What it costs to be in each state, less the activities seen so far: leaving one out is free.
    rows = np.empty((len(sequence) + 1, automaton.states), dtype=np.int16)
    rows[0] = row = distances[0]
    for at, activity in enumerate(sequence, 1):
        move = moves.get(activity)
        if move is None:
            rows[at] = row
        elif len(move.starts) == 1:
            np.minimum(row, move.onward[0] + (row[move.sources].min() - 1), out=rows[at])
        else:
            entered = np.minimum.reduceat(row[move.sources], move.starts) - 1
            np.minimum(row, (move.onward + entered[:, None]).min(axis=0), out=rows[at])
        row = rows[at]
    state = int(accepting[row[accepting].argmin()])
    cost = int(row[state]) + len(sequence)
    extra = _left_out(sequence, moves, distances, rows, state) if cost else ()
    return Alignment(cost, int(distances[0][accepting].min()), extra)


def _distances(automaton: Automaton) -> "np.ndarray":
    """Count the steps from each state to each other."""
    import numpy as np  # noqa: PLC0415 - as above

    distances = np.full((automaton.states, automaton.states), _NO_PATH, dtype=np.int16)
    for pairs in automaton.steps.values():
        for source, target in pairs:
            distances[source, target] = 1
    np.fill_diagonal(distances, 0)
    for middle in range(automaton.states):
        through = distances[:, middle, None] + distances[middle]
        np.minimum(distances, through, out=distances)
    return distances


def _moves(pairs: Sequence[tuple[int, int]], distances: "np.ndarray") -> _Moves:
    import numpy as np  # noqa: PLC0415 - as above

    ordered = sorted(pairs, key=lambda pair: pair[1])
    targets = np.array([target for _, target in ordered])
    reached, starts = np.unique(targets, return_index=True)
    sources = np.array([source for source, _ in ordered])
    return _Moves(sources, targets, starts, distances[reached])


def _left_out(
    sequence: Sequence[str],
    moves: Mapping[str, _Moves],
    distances: "np.ndarray",
    rows: "np.ndarray",
    state: int,
) -> tuple[int, ...]:
    """Walk back along one optimal alignment, and list the positions that it leaves out.

    Where there is a choice, what came later is left out: of two that may stand once, the second.
    """
    extra: list[int] = []
    for at in range(len(sequence), 0, -1):
        if rows[at - 1, state] == rows[at, state]:
            extra.append(at - 1)
            continue
        move = moves[sequence[at - 1]]
        costs = rows[at - 1][move.sources] + distances[move.targets, state]
        state = int(move.sources[costs.argmin()])
    return tuple(reversed(extra))
