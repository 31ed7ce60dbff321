"""A workflow file: its graders from all the files that say something about them."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from aw_graders.config.custom import (
    OPERATIONAL_VALUE,
    Definition,
    read_custom,
)
from aw_graders.config.executable import Executable, executable
from aw_graders.config.files import FileProblem, Files, joined
from aw_graders.config.frontmatter import read_frontmatter
from aw_graders.config.imports import Importing
from aw_graders.config.jobs import check_jobs, check_work_queue
from aw_graders.config.metric_refs import State, check_metrics
from aw_graders.config.nodes import InvalidNode, MapNode, Node, ScalarNode, is_null, kind_of
from aw_graders.config.positions import Report, Sources
from aw_graders.config.resolve import fields_of, read_built_in, resolve
from aw_graders.diagnostics import Diagnostic, quoted
from aw_graders.graders.model import GraderSpec
from aw_graders.graders.registry import BUILT_IN
from aw_graders.graders.settings import GraderSettings

# Graders Specification 0.5.0, section 5: inclusive. The analysis reports what is larger.
MAX_EVALUATOR_BYTES: Final = 65_536


class CustomSource(msgspec.Struct, frozen=True):
    """The code of one custom grader, and where it was written.

    `node` holds an inline script, and its span the place; of an evaluator it is None, and `path`
    is its file as shown. The bytes are read once: what is analysed is what runs.
    """

    grader: Executable
    node: ScalarNode | None
    path: str


class Workflow(msgspec.Struct, frozen=True):
    """What one workflow file asks for, with everything that is wrong in it.

    `root` is None when the settings could not be read at all. `settings` are the built-ins as
    `resolve` orders them, none when a diagnostic is an error; `custom` has each custom grader whose
    code could be read, by id, disabled ones too. `unread` names imports that nobody looked at.
    """

    path: str
    root: MapNode | None
    settings: tuple[GraderSettings, ...]
    custom: tuple[CustomSource, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Sources
    unread: tuple[str, ...] = ()


def read_workflow(
    path: str, text: str, files: Files, registry: Mapping[str, GraderSpec] = BUILT_IN
) -> Workflow:
    """Read the graders of a workflow and of what it imports.

    Takes: the path of the file from the root of its repository, its whole text, and the files of
        the repository.
    Returns: what was understood, with all diagnostics of all files in the order of the places.
    Raises: nothing.
    Source: Graders Specification 0.5.0, sections 3 and 5; decisions 22 to 28.
    """
    shown = files.shown(path)
    sources = Sources(shown, text)
    report = Report(sources)
    root = read_frontmatter(text, report)
    if root is None:
        return Workflow(shown, None, (), (), tuple(report.sorted()), sources)
    importing = Importing(files, sources, report)
    importing.declared_in[shown] = path
    merged = importing.graders(path, root)
    given, definitions = _read(merged, registry, report)
    check_jobs(importing.roots, report)
    check_work_queue(importing.roots, definitions, report)
    states = _states(given, definitions, merged, registry)
    for declaring in importing.roots:
        check_metrics(declaring, states, report)
    custom = [_source(definition, importing) for definition in definitions]
    settings = () if report.has_errors() else resolve(given, registry)
    return Workflow(
        shown,
        root,
        settings,
        tuple(item for item in custom if item is not None),
        tuple(report.sorted()),
        sources,
        tuple(importing.unread),
    )


def _read(
    merged: Node | None, registry: Mapping[str, GraderSpec], report: Report
) -> tuple[list[GraderSettings], list[Definition]]:
    """Read every entry: the settings of built-ins, and the custom graders by id."""
    given: list[GraderSettings] = []
    definitions: list[Definition] = []
    if not isinstance(merged, MapNode):
        if merged is not None and not is_null(merged) and not isinstance(merged, InvalidNode):
            message = f'"graders" is a map of ids, got {kind_of(merged)}'
            hint = "write one id a line, as loops: {threshold: 5}"
            report.add("config-wrong-type", message, merged.span, hint)
        return given, definitions
    for entry in merged.entries:
        spec = registry.get(entry.key)
        if spec is not None:
            settings = read_built_in(entry, spec, report)
            if settings is not None:
                given.append(settings)
            continue
        fields = fields_of(entry, report)
        if fields is None:
            continue
        definition = read_custom(entry, fields, registry, report)
        if definition is not None:
            definitions.append(definition)
    definitions.sort(key=lambda item: item.settings.id)
    return given, definitions


def _states(
    given: Sequence[GraderSettings],
    definitions: Sequence[Definition],
    merged: Node | None,
    registry: Mapping[str, GraderSpec],
) -> dict[str, State]:
    """Say of every grader that there is for this workflow whether it runs."""
    states: dict[str, State] = {
        spec.id: "enabled" if spec.default else "unlisted" for spec in registry.values()
    }
    # An entry that could not be read was meant; its own diagnostic is enough.
    listed = merged.entries if isinstance(merged, MapNode) else ()
    states.update((entry.key, "enabled") for entry in listed)
    for settings in (*given, *(item.settings for item in definitions)):
        states[settings.id] = "enabled" if settings.enabled else "disabled"
    return states


def _source(definition: Definition, importing: Importing) -> CustomSource | None:
    node = definition.code
    if node is None:
        return None
    text = str(node.value)
    if definition.settings.id != OPERATIONAL_VALUE:
        grader = executable(definition.settings, definition.source, text.encode())
        return CustomSource(grader, node, importing.sources.at(*node.span).path)
    return _evaluator(definition, node, text, importing)


def _evaluator(
    definition: Definition, node: ScalarNode, declared: str, importing: Importing
) -> CustomSource | None:
    """Read the file of an evaluator, enabled or not; every fault is a diagnostic at `run`."""
    files, report = importing.files, importing.report
    if definition.settings.enabled and not files.in_repository:
        message = f'"run" {quoted(declared)} names a file of a repository, and this is none'
        hint = "run git init in the folder that the path starts from"
        report.add("evaluator-no-repository", message, node.span, hint)
    declaring = importing.declared_in[importing.sources.at(*node.span).path]
    path = joined(declared, declaring if declared.startswith("./") else "")
    if path is None:
        message = f'"run" {quoted(declared)} leads out of the repository'
        report.add("evaluator-outside", message, node.span, "move the file into the repository")
        return None
    try:
        code = files.read(path, MAX_EVALUATOR_BYTES)
    except FileProblem as problem:
        message = f'"run" {quoted(declared)}: the file {quoted(files.shown(path))} {problem}'
        hint = "a path that begins with ./ starts at this file, any other at the repository's root"
        report.add("evaluator-unreadable", message, node.span, hint)
        return None
    grader = executable(definition.settings, definition.source, code)
    return CustomSource(grader, None, files.shown(path))
