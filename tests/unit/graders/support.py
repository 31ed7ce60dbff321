"""A grader over a trajectory made by hand, without a session around it."""

from types import SimpleNamespace

from aw_graders.graders import BUILT_IN
from aw_graders.graders.model import GraderInput
from aw_graders.lookups.places import Place
from aw_graders.lookups.trajectory import Collection, Trajectory

PATH = "evidence.jsonl"
REFERENCE_PLACE = Place(PATH, 7)


def outcome(id_, reference=None, **collections):
    """What a grader answers; each entry was recorded in an event of its own."""
    made = {
        name: Collection(
            tuple(entries),
            recorded=True,
            pieces=tuple((at, Place(PATH, at)) for at in range(len(entries))),
        )
        for name, entries in collections.items()
    }
    trajectory = Trajectory(made, {}, reference, REFERENCE_PLACE)
    lookups = SimpleNamespace(trajectory=trajectory)
    return BUILT_IN[id_].compute(GraderInput(lookups, {}))


def value(id_, reference=None, **collections):
    """The number that a grader measures."""
    return outcome(id_, reference, **collections).value


def kinds(symbols):
    """One event of each kind."""
    return [{"kind": symbol} for symbol in symbols]
