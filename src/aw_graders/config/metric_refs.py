"""References from an experiment to the value of a grader."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from aw_graders.config.nodes import InvalidNode, ListNode, MapNode, Node, ScalarNode, entry_of
from aw_graders.config.positions import Report
from aw_graders.diagnostics import did_you_mean, quoted

State: TypeAlias = Literal["enabled", "disabled", "unlisted"]

_COLON: Final = "grader:"
_DOTTED: Final = "graders."
_VALUE: Final = "value"
_RIGHT: Final = "write grader:<id>, or graders.<id>.value"
# Keys of `experiments` that are no experiment.
_SETTINGS: Final = frozenset({"identity", "storage"})


class Reference(msgspec.Struct, frozen=True):
    """A metric that names a grader: its id, and what stands behind it.

    `suffix` is None when nothing does; only `value` is right, and only after `graders.<id>`.
    """

    id: str
    suffix: str | None
    is_dotted: bool


def grader_reference(metric: str) -> Reference | None:
    """Read the name of a metric; None when it does not speak of a grader.

    Source: decision 28.
    """
    text = metric.strip()
    if text.startswith(_COLON):
        id_, dot, suffix = text.removeprefix(_COLON).partition(".")
        return Reference(id_, suffix if dot else None, is_dotted=False)
    if text == _DOTTED[:-1] or text.startswith(_DOTTED):
        id_, dot, suffix = text.removeprefix(_DOTTED[:-1]).removeprefix(".").partition(".")
        return Reference(id_, suffix if dot else None, is_dotted=True)
    return None


def check_metrics(root: MapNode, states: Mapping[str, State], report: Report) -> None:
    """Check every metric of the experiments that a file declares.

    Takes: the settings of the file; the state of every grader that exists for the workflow,
        built-ins that are neither default nor listed as "unlisted".
    Raises: nothing.
    Source: Graders Specification 0.5.0, section 7; decision 28.
    """
    experiments = entry_of(root, "experiments")
    if experiments is None or not isinstance(experiments.value, MapNode):
        return
    for experiment in experiments.value.entries:
        if experiment.key in _SETTINGS:
            continue
        for field, node in _metrics(experiment.value):
            if isinstance(node, InvalidNode):
                continue
            if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
                message = f"{field} of experiment {quoted(experiment.key)} is the name of a metric"
                report.add("config-wrong-type", message, node.span)
                continue
            _check(node.value, node.span, states, report)


def _metrics(experiment: Node) -> Iterator[tuple[str, Node]]:
    """Yield the fields of one experiment that name a metric."""
    metric = entry_of(experiment, "metric")
    if metric is not None:
        yield '"metric"', metric.value
    for item in _items(experiment, "secondary_metrics"):
        yield '"secondary_metrics"', item
    for item in _items(experiment, "guardrail_metrics"):
        name = entry_of(item, "name")
        if name is not None:
            yield '"name" in "guardrail_metrics"', name.value


def _items(experiment: Node, key: str) -> tuple[Node, ...]:
    entry = entry_of(experiment, key)
    if entry is None or not isinstance(entry.value, ListNode):
        return ()
    return entry.value.items


def _check(metric: str, span: tuple[int, int], states: Mapping[str, State], report: Report) -> None:
    reference = grader_reference(metric)
    if reference is None:
        return
    id_ = reference.id.strip()
    if not id_:
        message = f"the metric {quoted(metric)} names no grader"
        report.add("config-metric-reference", message, span, _RIGHT)
        return
    if reference.suffix is not None and not (reference.is_dotted and reference.suffix == _VALUE):
        message = f"the metric {quoted(metric)} asks for something else than the value of a grader"
        report.add("config-metric-reference", message, span, f"write graders.{id_}.value")
        return
    state = states.get(id_)
    if state != "enabled":
        problem, hint = _unusable(id_, state, states)
        message = f"the metric {quoted(metric)} {problem}"
        report.add("config-metric-reference", message, span, hint)
    elif reference.is_dotted and reference.suffix is None:
        message = f"the metric {quoted(metric)} is short for the value of a grader"
        hint = f"write graders.{id_}.value"
        report.add("config-metric-spelling", message, span, hint, "warning")


def _unusable(id_: str, state: State | None, states: Mapping[str, State]) -> tuple[str, str | None]:
    if state == "disabled":
        return "names a grader that is disabled", f'remove "enabled: false" from {quoted(id_)}'
    if state == "unlisted":
        hint = f"add {id_}: {{}} under graders"
        return "names a built-in that runs only when it is listed", hint
    usable = [name for name, known in states.items() if known == "enabled"]
    return "names no grader of this workflow", did_you_mean(id_, usable)
