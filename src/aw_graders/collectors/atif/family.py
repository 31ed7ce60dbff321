"""Trajectories and what they refer to: sub-agents, embedded or in files of their own, and parts."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from aw_graders.collectors.atif.detect import is_trajectory
from aw_graders.collectors.normalise import Notes, list_of, mapping_of, text_of

_REFERENCES: Final = "subagent_trajectory_ref"
_CONTINUED: Final = "continued_trajectory_ref"


class Trajectory(msgspec.Struct, frozen=True, eq=False):
    """One trajectory, where it stands, and the document around it.

    `number` tells trajectories of one recording apart; `document` is the number of the outermost.
    """

    number: int
    document: int
    name: str
    line: int
    value: Mapping[str, Any]
    notes: Notes

    def text(self, key: str) -> str | None:
        """Return a text field of the trajectory."""
        return text_of(self.value.get(key))

    def steps(self) -> Iterator[Mapping[str, Any]]:
        """List the steps that are objects."""
        for item in list_of(self.value.get("steps")):
            step = mapping_of(item)
            if step is not None:
                yield step


class Member(msgspec.Struct, frozen=True, eq=False):
    """A trajectory that belongs to the session; `agent_id` is None for the root's own parts."""

    trajectory: Trajectory
    agent_id: str | None
    label: str


def is_copied(step: Mapping[str, Any]) -> bool:
    """Tell whether a step was copied from another trajectory and did not happen in this one."""
    return step.get("is_copied_context") is True


def results_of(step: Mapping[str, Any]) -> list[Any]:
    """List what a step observed."""
    return list_of((mapping_of(step.get("observation")) or {}).get("results"))


def references_of(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the sub-agents that a result refers to."""
    value = result.get(_REFERENCES)
    single = mapping_of(value)
    items = list_of(value) if single is None else [single]
    return [reference for item in items if (reference := mapping_of(item)) is not None]


class Family:
    """All trajectories of a recording, found by what a reference may name."""

    def __init__(self, documents: Sequence[Trajectory]) -> None:
        """Index the documents and the trajectories embedded in them.

        Cost: linear.
        """
        self.documents = documents
        self.embedded: dict[int, list[Trajectory]] = {}
        self._by_id: dict[tuple[int, str], Trajectory] = {}
        self._documents_by: dict[tuple[str, str], Trajectory] = {}
        self.all: list[Trajectory] = []
        for document in documents:
            self._index(document)
        self._open(documents)

    def _index(self, document: Trajectory) -> None:
        keys = [("name", _last_part(document.name))]
        for key in ("trajectory_id", "session_id"):
            text = document.text(key)
            if text is not None:
                keys.append((key, text))
        for key_pair in keys:
            self._documents_by.setdefault(key_pair, document)

    def _open(self, documents: Sequence[Trajectory]) -> None:
        waiting = deque(documents)
        number = len(documents)
        while waiting:
            outer = waiting.popleft()
            self.all.append(outer)
            for item in list_of(outer.value.get("subagent_trajectories")):
                value = mapping_of(item)
                if value is None or not list_of(value.get("steps")):
                    message = "an embedded trajectory has no steps and was skipped"
                    outer.notes.count("subagent-without-steps", message, outer.line, lossy=True)
                    continue
                inner = msgspec.structs.replace(outer, number=number, value=value)
                number += 1
                self.embedded.setdefault(outer.number, []).append(inner)
                for key in ("trajectory_id", "session_id"):
                    text = inner.text(key)
                    if text is not None:
                        self._by_id.setdefault((inner.document, f"{key}:{text}"), inner)
                waiting.append(inner)

    def referred(self, outer: Trajectory, reference: Mapping[str, Any]) -> Trajectory | None:
        """Find the trajectory that a reference names.

        The id and the path name it; the session's id did until version 1.6, when both are absent.
        """
        trajectory_id = text_of(reference.get("trajectory_id"))
        path = text_of(reference.get("trajectory_path"))
        session_id = text_of(reference.get("session_id"))
        found: Trajectory | None = None
        if trajectory_id is not None:
            found = self._named(outer, "trajectory_id", trajectory_id)
        if found is None and path is not None:
            found = self._documents_by.get(("name", _last_part(path)))
        if trajectory_id is None and path is None and session_id is not None:
            found = self._named(outer, "session_id", session_id)
        return None if found is None or found.number == outer.number else found

    def _named(self, outer: Trajectory, key: str, text: str) -> Trajectory | None:
        inner = self._by_id.get((outer.document, f"{key}:{text}"))
        return inner or self._documents_by.get((key, text))

    def continuation(self, trajectory: Trajectory) -> Trajectory | None:
        """Find the document that continues a trajectory."""
        path = trajectory.text(_CONTINUED)
        found = None if path is None else self._documents_by.get(("name", _last_part(path)))
        return None if found is None or found.number == trajectory.number else found

    def roots(self) -> list[Trajectory]:
        """List the documents that no other trajectory refers to."""
        targets: set[int] = set()
        for trajectory in self.all:
            continuation = self.continuation(trajectory)
            if continuation is not None:
                targets.add(continuation.number)
            for _, reference in _all_references(trajectory):
                found = self.referred(trajectory, reference)
                if found is not None:
                    targets.add(found.number)
        free = [document for document in self.documents if document.number not in targets]
        return free or list(self.documents[:1])

    def members(self, root: Trajectory) -> list[Member]:
        """List what belongs to the session of `root`: its parts, then sub-agents below them.

        A sub-agent's trajectory follows the one that refers to it or holds it.
        """
        gathering = _Gathering(self)
        gathering.parts(root)
        gathering.below()
        return gathering.members


class _Gathering:
    """Walks from a root to everything that belongs to it, each trajectory once."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.members: list[Member] = []
        self.seen: set[int] = set()
        self.agent_ids: set[str] = set()

    def parts(self, root: Trajectory) -> None:
        part: Trajectory | None = root
        while part is not None and part.number not in self.seen:
            self.seen.add(part.number)
            self.members.append(Member(part, None, part.name))
            following = self.family.continuation(part)
            if following is None and part.text(_CONTINUED) is not None:
                message = "the trajectory goes on in a file that was not given"
                part.notes.add("continuation-not-given", message, part.line, lossy=True)
            part = following

    def below(self) -> None:
        at = 0
        while at < len(self.members):
            outer = self.members[at].trajectory
            at += 1
            for is_own, reference in _all_references(outer):
                inner = self.family.referred(outer, reference)
                if inner is not None:
                    self._add(inner)
                elif is_own:
                    message = "a sub-agent's trajectory was not given"
                    outer.notes.count("subagent-not-given", message, outer.line, lossy=True)
            for inner in self.family.embedded.get(outer.number, []):
                self._add(inner)

    def _add(self, inner: Trajectory) -> None:
        if inner.number in self.seen:
            return
        self.seen.add(inner.number)
        agent_id = inner.text("trajectory_id") or inner.text("session_id") or inner.name
        if agent_id in self.agent_ids:
            agent_id = f"{agent_id}#{inner.number}"
        self.agent_ids.add(agent_id)
        self.members.append(Member(inner, agent_id, f"{inner.name}/{agent_id}"))


def _all_references(trajectory: Trajectory) -> Iterator[tuple[bool, Mapping[str, Any]]]:
    """List all references of a trajectory, and whether each stands in a step of its own."""
    for step in trajectory.steps():
        for item in results_of(step):
            for reference in references_of(mapping_of(item) or {}):
                yield not is_copied(step), reference


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def read_document(
    number: int, name: str, line: int, value: Mapping[str, Any], notes: Notes
) -> Trajectory | None:
    """Take an object of a file as a trajectory, or answer None when it is none."""
    if not is_trajectory(value):
        message = "an object is no trajectory and was skipped"
        notes.count("not-a-trajectory", message, line, lossy=True)
        return None
    return Trajectory(number, number, name, line, value, notes)
