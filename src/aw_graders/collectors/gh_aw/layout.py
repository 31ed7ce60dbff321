"""Where the artifacts of a run lie below a root, whatever downloaded them.

Three layouts are known: every artifact in a folder of its name (with a prefix when the workflow was
called by another); all artifacts in one folder; and the older one whose files keep `tmp/gh-aw/` in
front, or lie in a folder of their own name.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from aw_graders.collectors.gh_aw.notes import RunNotes
from aw_graders.collectors.gh_aw.tree import Tree

_AGENT: Final = ("agent", "agent-artifacts", "agent_outputs", "agent-output-fallback")
_ACTIVATION: Final = ("activation", "info", "aw-info", "aw_info")
_DETECTION: Final = ("threat-detection", "detection")
_SAFE_OUTPUTS: Final = ("safe-outputs-items", "safe-output-items")
_EVALS: Final = ("evals",)
_EXPERIMENT: Final = ("experiment", "experiments")
_USAGE: Final = ("usage",)
_FIREWALL: Final = ("firewall-audit-logs", "firewall-logs", "squid-logs")
_OLD_PREFIX: Final = "tmp/gh-aw"
_IN_DETECTION: Final = "threat-detection"


class Layout(msgspec.Struct, frozen=True):
    """The folders that may hold each kind of evidence, those that win first; `""` is the root."""

    tree: Tree
    agent: tuple[str, ...]
    activation: tuple[str, ...]
    detection: tuple[str, ...]
    safe_outputs: tuple[str, ...]
    evals: tuple[str, ...]
    experiment: tuple[str, ...]
    usage: tuple[str, ...]
    firewall: tuple[str, ...]

    def first(self, folders: Sequence[str], *names: str) -> str | None:
        """Find the first of `names` that exists in one of `folders`; an earlier name wins."""
        return next(self.each(folders, *names), None)

    def each(self, folders: Sequence[str], *names: str) -> Iterator[str]:
        """Yield every one of `names` that exists in one of `folders`, those that win first."""
        for name in names:
            for folder in folders:
                path = joined(folder, name)
                for candidate in (path, f"{path}/{name.rsplit('/', 1)[-1]}"):
                    if candidate in self.tree.files:
                        yield candidate

    def below(self, folder: str, suffix: str) -> list[str]:
        """List the files below a folder whose names end in `suffix`, in lexical order."""
        start = f"{folder}/"
        return [
            path for path in self.tree.files if path.startswith(start) and path.endswith(suffix)
        ]

    def first_below(self, folders: Sequence[str], name: str, suffix: str) -> list[str]:
        """List the files below the first folder called `name` that holds any."""
        for folder in folders:
            found = self.below(joined(folder, name), suffix)
            if found:
                return found
        return []


def joined(folder: str, name: str) -> str:
    """Put a folder in front of a relative path."""
    return f"{folder}/{name}" if folder else name


def layout_of(tree: Tree, notes: RunNotes) -> Layout:
    """Find the artifact folders directly below the root.

    Where workflows call others, artifacts of several agents lie there, told apart by their prefix.
    Those that go with the first agent are read, and the others noted.
    """
    artifacts = _Artifacts([folder for folder in tree.folders if "/" not in folder], notes)

    def with_older(folders: Sequence[str]) -> tuple[str, ...]:
        known = set(tree.folders)
        older = [joined(folder, _OLD_PREFIX) for folder in folders]
        return (*folders, *(folder for folder in older if folder in known))

    agent = with_older(("", *artifacts.of(_AGENT)))
    detection = artifacts.of(_DETECTION)
    nested = [joined(folder, _IN_DETECTION) for folder in (*agent, *detection)]
    return Layout(
        tree,
        agent=agent,
        activation=with_older(("", *artifacts.of(_ACTIVATION))),
        detection=tuple(dict.fromkeys((*nested, *with_older(detection)))),
        safe_outputs=with_older(("", *artifacts.of(_SAFE_OUTPUTS))),
        evals=with_older(artifacts.of(_EVALS)),
        experiment=with_older(artifacts.of(_EXPERIMENT)),
        usage=with_older((*artifacts.of(_USAGE), "")),
        firewall=with_older(artifacts.of(_FIREWALL)),
    )


class _Artifacts:
    """The folders below the root, and the prefix that the artifacts of one agent share."""

    def __init__(self, top: Sequence[str], notes: RunNotes) -> None:
        self.top = top
        self.notes = notes
        agents = [folder for name in _AGENT for folder in self._called(name)]
        others = [
            folder.removesuffix(name)
            for names in (_USAGE, _DETECTION, _SAFE_OUTPUTS, _EVALS, _ACTIVATION)
            for name in names
            for folder in self._called(name)
            if folder != name
        ]
        self.prefix = min(others, default="")
        if agents:
            first = agents[0]
            self.prefix = next(first.removesuffix(name) for name in _AGENT if first.endswith(name))

    def of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Find the folder of each of these artifacts."""
        found = [folder for name in names for folder in self._one(name)]
        return tuple(dict.fromkeys(found))

    def _called(self, name: str) -> list[str]:
        """List the folders of artifacts of a name: without a prefix first, then by name."""
        exact = [folder for folder in self.top if folder == name]
        if name in _FIREWALL:
            # The older firewall artifact has the workflow's name behind its own.
            exact += [folder for folder in self.top if folder.startswith(f"{name}-")]
        others = [
            folder
            for folder in self.top
            if folder.endswith(f"-{name}") and folder not in _EXACT and folder not in exact
        ]
        return [*exact, *others]

    def _one(self, name: str) -> list[str]:
        """Choose the agent's own artifact, then one without a prefix; note any other."""
        found = self._called(name)
        chosen = [folder for folder in found if folder == f"{self.prefix}{name}"]
        chosen += [folder for folder in found if folder == name and folder not in chosen]
        if not chosen and (name in _EXPERIMENT or name in _FIREWALL):
            # What stands beside these names is the workflow's own.
            chosen = found[:1]
        for folder in found:
            if folder not in chosen:
                message = f'an artifact called "{name}" that goes with another agent; not read'
                self.notes.of(folder).add("several-artifacts", message, None, lossy=True)
        return chosen


_EXACT: Final = frozenset(
    (*_AGENT, *_ACTIVATION, *_DETECTION, *_SAFE_OUTPUTS, *_EVALS, *_EXPERIMENT, *_USAGE, *_FIREWALL)
)
