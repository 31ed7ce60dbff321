"""Sequence graders against the formulas, counted one by one, and against other libraries.

A symbol is an event kind, a state id, or a number where a library wants one.
"""

import math
import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from antropy import lziv_complexity
from dtaidistance import dtw_ndim

from aw_graders.graders.families.information import phrase_count
from aw_graders.graders.families.recurrence import diagonal_points, vertical_points
from aw_graders.graders.warping import warping_distance
from tests.unit.graders.support import kinds, outcome, value

_RANDOM_CASES = 10_000
_ALPHABET = "abcde"


def _random_sequences(seed, most):
    source = random.Random(seed)
    for _ in range(_RANDOM_CASES):
        alphabet = _ALPHABET[: source.randint(1, len(_ALPHABET))]
        yield source.choices(alphabet, k=source.randint(1, most))


def _small_sequences():
    """All sequences of two symbols up to size 12, of three up to size 7, of four up to size 5."""
    for alphabet, most in (("ab", 12), ("abc", 7), ("abcd", 5)):
        for size in range(1, most + 1):
            yield from product(alphabet, repeat=size)


# --- the formulas, read aloud ----------------------------------------------------


def _runs(points):
    """The lengths of the runs of True."""
    length = 0
    for point in [*points, False]:
        if point:
            length += 1
        elif length:
            yield length
            length = 0


def _formulas(q):
    """The five state measures, each from its definition over the recurrence matrix."""
    size = len(q)
    same = [[i != j and q[i] == q[j] for j in range(size)] for i in range(size)]
    diagonal = [
        length
        for d in range(1, size)
        for length in _runs([same[i][i + d] for i in range(size - d)])
    ]
    vertical = [length for column in same for length in _runs(column)]
    long_diagonal = [length for length in diagonal if length >= 2]
    long_vertical = [length for length in vertical if length >= 2]

    def share(part, whole):
        return sum(part) / sum(whole) if whole else 0

    few = size < 4
    return {
        "state-revisit-probability-rep": (
            None if size < 2 else sum(q[i] in q[:i] for i in range(size)) / size
        ),
        "recurrence-rate": (None if size < 2 else sum(map(sum, same)) / (size * size - size)),
        "recurrence-determinism": None if few else share(long_diagonal, diagonal),
        "recurrence-laminarity": None if few else share(long_vertical, vertical),
        "recurrence-trapping-time": (
            None if few else sum(long_vertical) / len(long_vertical) if long_vertical else 0
        ),
    }


def _phrases(s):
    """Cut off the shortest text that does not start anywhere before, over and over."""
    count = start = 0
    while start < len(s):
        end = start + 1
        while end <= len(s) and any(s[i : i + end - start] == s[start:end] for i in range(start)):
            end += 1
        count, start = count + 1, end
    return count


def _information(s):
    """Entropy rate and complexity of a sequence, None and 0 where the formulas have no say."""
    if len(s) < 2:
        return {"event-entropy-rate": None, "lempel-ziv-trajectory-complexity": None}
    size = len(set(s))
    if size < 2:
        return {"event-entropy-rate": 0, "lempel-ziv-trajectory-complexity": 0}
    steps = list(pairwise(s))
    entropy = 0.0
    for (first, then), count in Counter(steps).items():
        given = count / sum(a == first for a, _ in steps)
        entropy -= steps.count((first, then)) / len(steps) * math.log2(given)
    complexity = _phrases(s) / (len(s) / math.log(len(s), size))
    return {
        "event-entropy-rate": min(1, entropy / math.log2(size)),
        "lempel-ziv-trajectory-complexity": min(1, complexity),
    }


def _assert_formulas(sequence):
    s = "".join(sequence)
    for id_, want in _formulas(s).items():
        got = outcome(id_, states=list(s))
        assert want is getattr(got, "value", None) or math.isclose(got.value, want), (id_, s)
    for id_, want in _information(s).items():
        got = outcome(id_, events=kinds(s))
        number = getattr(got, "value", None)
        assert want is number or math.isclose(number, want, abs_tol=1e-12), (id_, s)


def test_all_small_sequences_measure_what_the_formulas_say():
    count = 0
    for sequence in _small_sequences():
        _assert_formulas(sequence)
        count += 1

    assert count > _RANDOM_CASES


def test_random_sequences_measure_what_the_formulas_say():
    for sequence in _random_sequences(21, 12):
        _assert_formulas(sequence)


# --- other libraries -------------------------------------------------------------


def test_phrases_are_those_of_another_library():
    for sequence in _random_sequences(22, 60):
        assert phrase_count(sequence) == lziv_complexity("".join(sequence)), sequence


@pytest.mark.parametrize(
    ("sequence", "ours"),
    # The library starts counting at one, so that it finds a phrase in nothing at all.
    [("", 0), ("a", 1), ("aa", 2), ("ab", 2), ("aba", 3), ("abab", 3), ("0001", 2)],
)
def test_the_library_differs_on_the_empty_sequence_alone(sequence, ours):
    assert phrase_count(list(sequence)) == ours
    assert lziv_complexity(sequence) == max(ours, 1)


def test_the_scaled_complexity_is_that_of_another_library():
    for sequence in _random_sequences(23, 60):
        # Of one symbol the library takes two kinds for granted; ours is 0.
        if len(set(sequence)) < 2:
            continue
        want = lziv_complexity("".join(sequence), normalize=True)

        found = value("lempel-ziv-trajectory-complexity", events=kinds(sequence))

        assert math.isclose(found, min(1, want))


def _line_lengths(lines):
    """Count the lengths of runs of ones in the rows of a matrix, with array operations alone."""
    padded = np.pad(lines, ((0, 0), (1, 1)))
    edges = np.diff(padded, axis=1)
    starts, ends = np.nonzero(edges == 1)[1], np.nonzero(edges == -1)[1]
    # Starts and ends come row by row, and those of one row alternate.
    return np.bincount(ends - starts, minlength=2)


def _points(histogram):
    lengths = np.arange(len(histogram))
    on_runs = int((histogram * lengths)[2:].sum())
    return int((histogram * lengths).sum()), on_runs, int(histogram[2:].sum())


def test_lines_of_the_dense_recurrence_matrix_are_counted_alike():
    for sequence in _random_sequences(24, 40):
        numbers = np.array([_ALPHABET.index(symbol) for symbol in sequence])
        matrix = (numbers[:, None] == numbers[None, :]).astype(np.int8)
        np.fill_diagonal(matrix, 0)
        size = len(sequence)
        skewed = np.zeros((size, size), dtype=np.int8)
        for offset in range(1, size):
            skewed[offset, : size - offset] = np.diagonal(matrix, offset)
        total, on_runs, _ = _points(_line_lengths(skewed))

        assert diagonal_points(sequence) == (total, on_runs)
        assert vertical_points(sequence) == _points(_line_lengths(matrix.T.copy()))


def test_warping_costs_are_those_of_another_library():
    source = random.Random(25)
    corners = np.eye(len(_ALPHABET))
    for _ in range(_RANDOM_CASES):
        path = source.choices(range(5), k=source.randint(1, 30))
        reference = source.choices(range(5), k=source.randint(1, 30))
        # Two corners of the unit simplex are sqrt(2) apart: squared, 2 for each unequal pair.
        distance = dtw_ndim.distance(corners[path], corners[reference], use_c=True)

        assert warping_distance(path, reference) == round(distance**2 / 2)
        assert math.isclose(distance**2 / 2, round(distance**2 / 2), rel_tol=1e-9, abs_tol=1e-9)


def test_warping_likeness_is_that_of_another_library():
    source = random.Random(26)
    for _ in range(1000):
        path = source.choices("ab", k=source.randint(1, 12))
        reference = source.choices("ab", k=source.randint(1, 12))
        numbers = [np.array([[float(s == "b")] for s in word]) for word in (path, reference)]
        distance = dtw_ndim.distance(*numbers, use_c=True) ** 2
        events = [{"kind": "state_change", "ref": state} for state in path]

        found = value("trajectory-ndtw", {"states": reference}, events=events)

        assert math.isclose(found, math.exp(-distance / len(reference)), rel_tol=1e-9)
