"""A grader of the workflow's own: its fields, and where its code stands."""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, cast

import msgspec

from aw_graders import _json
from aw_graders.config.fields import Given, read_fields, settings_fields
from aw_graders.config.nodes import Entry, MapNode, Node, ScalarNode, Span, entry_of, kind_of
from aw_graders.config.positions import Report
from aw_graders.config.ranges import check_range
from aw_graders.diagnostics import closest, quoted
from aw_graders.graders.model import GraderSpec
from aw_graders.graders.registry import DEFAULT_IDS
from aw_graders.graders.settings import GraderSettings

OPERATIONAL_VALUE: Final = "operational-value"
INLINE: Final = "inline"
OPERATIONAL_VALUE_NAME: Final = "Operational Value"
# Graders Specification 0.5.0, section 3: 256 KiB, inclusive.
MAX_SCRIPT_BYTES: Final = 262_144
# Decision 59: it travels in one environment variable, whose limit on Linux is 131,072 bytes.
MAX_CONFIG_BYTES: Final = 120_000
ID: Final = re.compile(r"[a-z][a-z0-9-]{0,63}", re.ASCII)
_EVALUATOR_NAME: Final = "graders/value.sh"
_METADATA: Final = ("description", "unit", "direction")

Source: TypeAlias = Literal["inline", "operational-value"]


class Definition(msgspec.Struct, frozen=True):
    """A custom grader as written: its settings, and the scalar that holds its script or path.

    `code` is None when there is none that could be read; `fields` are the places of what was set.
    """

    settings: GraderSettings
    source: Source
    place: Span
    code: ScalarNode | None


def read_custom(
    entry: Entry, fields: MapNode, registry: Mapping[str, GraderSpec], report: Report
) -> Definition | None:
    """Check one grader that is no built-in, whether it is enabled or not.

    Takes: the entry under its trimmed id, after imports were merged, and its map of fields.
    Returns: what was understood, None when the id cannot be one.
    Raises: nothing; every fault is in `report`.
    Source: Graders Specification 0.5.0, section 3; decisions 23, 57 and 59.
    """
    is_evaluator = entry.key == OPERATIONAL_VALUE
    if not ID.fullmatch(entry.key):
        message = f"{quoted(entry.key)} is no id of a grader"
        hint = 'an id has lower-case letters, digits and "-", as "triage-agreement", up to 64'
        report.add("config-invalid-id", message, entry.key_span, hint)
        return None
    given = read_fields(entry.key, fields, report, "run" if is_evaluator else "script")
    code = (
        _evaluator(entry, fields, report)
        if is_evaluator
        else _script(entry, fields, registry, report)
    )
    check_range(entry.key, given, report)
    _check_direction(entry, given, report)
    if is_evaluator:
        _check_config_size(given, report)
    settings = _settings(entry.key, given)
    if settings.enabled and code is not None:
        _warn_of_metadata(entry, given, report)
    return Definition(settings, OPERATIONAL_VALUE if is_evaluator else INLINE, entry.key_span, code)


def _script(
    entry: Entry, fields: MapNode, registry: Mapping[str, GraderSpec], report: Report
) -> ScalarNode | None:
    run = entry_of(fields, "run")
    if run is not None:
        message = f'only "{OPERATIONAL_VALUE}" takes "run", not {quoted(entry.key)}'
        hint = f'write the grader as JavaScript in "script", or name it "{OPERATIONAL_VALUE}"'
        report.add("config-run-not-allowed", message, run.key_span, hint)
    script = entry_of(fields, "script")
    if script is None:
        if run is None:
            _report_unknown(entry, registry, report)
        return None
    text = _text(script, "the text of the script", report)
    if text is None:
        return None
    if not str(text.value).strip():
        message = f'"script" of grader {quoted(entry.key)} is empty'
        hint = "write JavaScript that returns a number, null, or an object with a value"
        report.add("config-empty-script", message, text.span, hint)
        return None
    size = len(str(text.value).encode())
    if size > MAX_SCRIPT_BYTES:
        message = (
            f'"script" of grader {quoted(entry.key)} has {size:,} bytes, of {MAX_SCRIPT_BYTES:,}'
        )
        report.add("config-script-too-large", message, script.key_span, "move tables to config")
        return None
    return text


def _report_unknown(entry: Entry, registry: Mapping[str, GraderSpec], report: Report) -> None:
    near = closest(entry.key, (*registry, OPERATIONAL_VALUE))
    message = f'{quoted(entry.key)} is no built-in grader and has no "script"'
    if near is not None:
        hint = f'did you mean "{near}"?'
    else:
        others = len(registry) - len(DEFAULT_IDS)
        hint = (
            f'add "script", or use a built-in: {", ".join(DEFAULT_IDS)}, '
            f"or one of {others} others (aw graders list)"
        )
    report.add("config-unknown-grader", message, entry.key_span, hint)


def _evaluator(entry: Entry, fields: MapNode, report: Report) -> ScalarNode | None:
    script = entry_of(fields, "script")
    if script is not None:
        message = f'"{OPERATIONAL_VALUE}" takes no "script"'
        hint = f"move it to a file of the repository and write run: ./{_EVALUATOR_NAME}"
        report.add("config-script-not-allowed", message, script.key_span, hint)
    run = entry_of(fields, "run")
    if run is None:
        if script is None:
            message = f'"{OPERATIONAL_VALUE}" needs "run", the path of a Bash file'
            hint = f"write run: ./{_EVALUATOR_NAME}"
            report.add("config-missing-run", message, entry.key_span, hint)
        return None
    text = _text(run, "the path of a Bash file", report)
    if text is None:
        return None
    problem = path_problem(str(text.value))
    if problem is not None:
        message = f'"run" {quoted(str(text.value))} {problem}'
        hint = f"write a path from the root of the repository, or ./{_EVALUATOR_NAME}"
        report.add("config-run-path", message, text.span, hint)
        return None
    return text


def path_problem(path: str) -> str | None:
    """Say what makes `path` no confined path of an evaluator, or None.

    Takes: `run` as written: from the root of the repository, or after `./` from the workflow.
    Source: Graders Specification 0.5.0, section 5.
    """
    parts = path.removeprefix("./").split("/")
    problems = (
        (not path, "is empty"),
        ("\\" in path, "has a backslash"),
        (not path.isprintable(), "has a character that cannot be shown"),
        (path.startswith("/"), "begins with /"),
        (any(part in {".", ".."} for part in parts), "has a part . or .."),
        (not all(parts), "has an empty part"),
        (not path.endswith(".sh"), "does not end in .sh"),
    )
    return next((problem for applies, problem in problems if applies), None)


def _text(entry: Entry, right: str, report: Report) -> ScalarNode | None:
    node: Node = entry.value
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        return node
    message = f'"{entry.key}" is {right}, got {kind_of(node)}'
    report.add("config-wrong-type", message, node.span)
    return None


def _check_direction(entry: Entry, given: Given, report: Report) -> None:
    """Report a threshold without a direction: nobody knows on which side of it is good."""
    threshold = given.values.get("threshold")
    if threshold is None or "direction" in given.values:
        return
    message = f'the threshold of grader {quoted(entry.key)} needs a "direction"'
    hint = "write direction: higher_is_better, or lower_is_better"
    report.add("config-threshold-direction", message, given.places["threshold"].key_span, hint)


def _check_config_size(given: Given, report: Report) -> None:
    config = given.values.get("config")
    if config is None:
        return
    size = len(_json.canonical(config))
    if size > MAX_CONFIG_BYTES:
        message = (
            f'"config" of "{OPERATIONAL_VALUE}" has {size:,} bytes as JSON, of {MAX_CONFIG_BYTES:,}'
        )
        hint = "keep in config what changes, and the rest in the evaluator"
        report.add("config-too-large", message, given.places["config"].key_span, hint)


def _warn_of_metadata(entry: Entry, given: Given, report: Report) -> None:
    missing = [name for name in _METADATA if name not in given.values]
    if given.values.get("threshold") is not None and "direction" in missing:
        # That one is an error already.
        missing.remove("direction")
    if missing:
        names = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
        message = f"grader {quoted(entry.key)} has no {names}"
        hint = "say what the number means, so that others can read it"
        report.add("grader-metadata", message, entry.key_span, hint, "warning")


def _settings(id_: str, given: Given) -> GraderSettings:
    values = settings_fields(given)
    values.setdefault("name", OPERATIONAL_VALUE_NAME if id_ == OPERATIONAL_VALUE else id_)
    # The types were checked field by field.
    return msgspec.structs.replace(GraderSettings(id_), **cast("dict[str, object]", values))
