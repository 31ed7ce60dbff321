"""Which graders a workflow asks for, built-in and custom, and where their code stands."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from aw_graders.config.executable import Executable
from aw_graders.config.scripts import ScriptPlaces
from aw_graders.config.workflow import CustomSource, Workflow
from aw_graders.diagnostics import Location, did_you_mean, quoted
from aw_graders.flows.analysing import Analysed
from aw_graders.flows.linting import lint_workflow
from aw_graders.graders import BUILT_IN, GraderSettings
from aw_graders.runtimes.outcome import Failure


class ChoiceError(Exception):
    """A grader that a workflow does not run; the message is one line that says why."""


class RefusedError(Exception):
    """A workflow with mistakes, none of whose graders may run."""

    def __init__(self, analysed: Analysed) -> None:
        """Keep what was found."""
        super().__init__()
        self.analysed = analysed


class Chosen(msgspec.Struct, frozen=True):
    """The graders to run, in the order of their results: built-ins, then custom ones by id."""

    settings: tuple[GraderSettings, ...]
    custom: tuple[CustomSource, ...] = ()

    @property
    def graders(self) -> tuple[Executable, ...]:
        """The custom graders with their code."""
        return tuple(item.grader for item in self.custom)


def read_graders(path: Path) -> Workflow:
    """Read a workflow whose graders are to run.

    Raises: RefusedError when anything in it is an error: what would not compile does not run;
        LintInputError and ParserMissingError as linting does.
    Cost: that of linting.
    """
    workflow, analysed = lint_workflow(path)
    if workflow is None or any(
        finding.diagnostic.severity == "error" for finding in analysed.findings
    ):
        raise RefusedError(analysed)
    return workflow


def choose(workflow: Workflow, grader: str | None = None) -> Chosen:
    """Choose all graders of a workflow that are enabled, or one of them.

    Takes: the id of one, which may be a default that the workflow does not list.
    Raises: ChoiceError for one that is unknown, disabled, or an opt-in that is not listed.
    """
    if grader is None:
        return Chosen(
            workflow.settings,
            tuple(item for item in workflow.custom if item.grader.settings.enabled),
        )
    settings = [item for item in workflow.settings if item.id == grader]
    custom = [item for item in workflow.custom if item.grader.id == grader]
    if not settings and not custom:
        raise ChoiceError(_absent(grader, workflow))
    if not all(item.enabled for item in (*settings, *(one.grader.settings for one in custom))):
        msg = f"grader {quoted(grader)} is disabled in {workflow.path}"
        raise ChoiceError(msg)
    return Chosen(tuple(settings), tuple(custom))


def _absent(grader: str, workflow: Workflow) -> str:
    if grader in BUILT_IN:
        return (
            f"grader {quoted(grader)} is opt-in and {workflow.path} does not list it; "
            f"add {grader}: {{}} under graders"
        )
    return (
        f"{workflow.path} has no grader {quoted(grader)}; {did_you_mean(grader, _known(workflow))}"
    )


def _known(workflow: Workflow) -> Sequence[str]:
    return [
        *(item.id for item in workflow.settings),
        *(item.grader.id for item in workflow.custom),
    ]


def place_of(failure: Failure, source: CustomSource, workflow: Workflow) -> Location:
    """Say where a custom grader failed, in the file that holds its code.

    Without a line, that is where its code begins.
    """
    line, column = failure.line or 1, failure.column or 1
    if source.node is None:
        return Location(source.path, line, column, 1)
    if failure.line is None:
        return workflow.sources.at(*source.node.span)
    return ScriptPlaces(source.node, workflow.sources).at(line, column)
