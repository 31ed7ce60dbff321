"""Dynamic time warping of two sequences of states, where states are equal or not."""

from collections.abc import Sequence
from typing import Final

# Up to this length, distances and costs fit into 16 bits, which halves the time.
_MAX_SHORT_STATES: Final = 10_000
_KEPT_ROWS: Final = 256
# So few equal places are cheaper to count one by one.
_FEW_PLACES: Final = 4


def warping_distance(path: Sequence[str], reference: Sequence[str]) -> int:
    """Give the least number of unequal pairs on a warping path between two sequences.

    Takes: sequences of at least one state each. Steps lead on in one of them, or in both.
    Returns: the classic DTW distance with cost 0 for equal and 1 for unequal states.
    Cost: O(n m) time in whole rows at a time, O(n + m) memory.
    Source: Sakoe and Chiba, 1978.
    """
    # Loaded for this grader alone: loading it takes as long as grading most sessions.
    import numpy as np  # noqa: PLC0415

    # Fewer and longer rows take less time; the distance is the same either way around.
    outer, inner = sorted((path, reference), key=len)
    kind = np.int16 if len(inner) <= _MAX_SHORT_STATES else np.int32
    places: dict[str, list[int]] = {}
    for place, state in enumerate(inner):
        places.setdefault(state, []).append(place)
    unmatched = np.arange(len(inner) + 1, dtype=kind)
    # What it costs to go from the start of a row to each place of it, for states met lately.
    known: dict[str, np.ndarray] = {}
    row, entry = unmatched[1:].copy(), np.empty(len(inner), dtype=kind)
    for at, state in enumerate(outer):
        costs = known.get(state)
        if costs is None:
            costs = unmatched
            found = places.get(state, ())
            if len(found) > _FEW_PLACES:
                matches = np.zeros(len(inner) + 1, dtype=kind)
                matches[np.array(found) + 1] = 1
                costs = unmatched - np.cumsum(matches, dtype=kind)
            elif found:
                costs = unmatched.copy()
                for place in found:
                    np.subtract(costs[place + 1 :], 1, out=costs[place + 1 :])
            if len(known) < _KEPT_ROWS:
                known[state] = costs
        if at == 0:
            row[:] = costs[1:]
            continue
        # Enter the row at the best place, from above or from above before, and go on along it.
        entry[0] = row[0]
        np.minimum(row[1:], row[:-1], out=entry[1:])
        np.subtract(entry, costs[:-1], out=entry)
        np.minimum.accumulate(entry, out=entry)
        np.add(entry, costs[1:], out=row)
    return int(row[-1])
