"""Linting: which files are meant, what is wrong in each, and what its authors said about that."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from aw_graders.analysis.suppressions import Suppression, read_suppressions
from aw_graders.config.files import FileProblem, read_bounded
from aw_graders.config.frontmatter import frontmatter_of, has_frontmatter
from aw_graders.config.positions import Positions
from aw_graders.config.workflow import Workflow, read_workflow
from aw_graders.diagnostics import Diagnostic, Location, did_you_mean, quoted
from aw_graders.flows.analysing import (
    CONFIGURATION,
    RULES,
    Analysed,
    RuleFinding,
    analyse_workflow,
)
from aw_graders.flows.repository import Repository

# A workflow is a page of settings and a prompt.
MAX_WORKFLOW_BYTES: Final = 4 << 20
WORKFLOWS: Final = ".github/workflows"
_SUFFIX: Final = ".md"
_SUPPRESSION: Final = "lint-suppression"


class LintInputError(Exception):
    """A file that cannot be linted; the message is one line that names it."""


class UnknownWorkflowError(Exception):
    """A word that is neither a path nor the id of a workflow; the message is one line."""


def find_workflows(names: Sequence[str]) -> list[Path]:
    """Return the files that the arguments mean, each once, in their order.

    Takes: paths of Markdown files, folders, or ids: names of Markdown files under
        `.github/workflows` of the repository that the working folder lies in. Nothing means that
        folder. Of a folder, the Markdown files in it that have frontmatter are meant.
    Raises: LintInputError for a path that cannot be read and a folder without a workflow;
        UnknownWorkflowError for a word that is no path.
    """
    found: dict[str, Path] = {}
    for name in names or [str(_workflows_folder())]:
        path = Path(name)
        for file in _in_folder(path) if path.is_dir() else [_file(path, name)]:
            found.setdefault(str(file), file)
    return list(found.values())


def find_workflow(name: str) -> Path:
    """Return the one file that a path or an id means.

    Raises: as `find_workflows` does.
    """
    return _file(Path(name), name)


def _workflows_folder() -> Path:
    root = Repository(Path("x")).root
    return Path(_relative(root / WORKFLOWS))


def _relative(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _file(path: Path, name: str) -> Path:
    if path.suffix == _SUFFIX or path.exists() or "/" in name:
        return path
    folder = _workflows_folder()
    candidate = folder / f"{name}{_SUFFIX}"
    if candidate.is_file():
        return candidate
    known = sorted(item.stem for item in folder.glob(f"*{_SUFFIX}"))
    hint = did_you_mean(name, known)
    msg = f"no workflow is called {quoted(name)}: there is no {candidate}"
    raise UnknownWorkflowError(msg if hint is None else f"{msg}; {hint}")


def _in_folder(folder: Path) -> list[Path]:
    try:
        files = sorted(item for item in folder.iterdir() if item.suffix == _SUFFIX)
        found = [item for item in files if item.is_file() and _may_be_workflow(item)]
    except OSError as failure:
        msg = f"{folder}: cannot be listed: {failure.strerror or failure}"
        raise LintInputError(msg) from failure
    if not found:
        msg = f"{folder}: holds no workflow, which is a Markdown file that begins with ---"
        raise LintInputError(msg)
    return found


def _may_be_workflow(path: Path) -> bool:
    """Tell whether a file begins as a workflow does; what cannot be read is one, to be named."""
    try:
        with path.open("rb") as file:
            return has_frontmatter(file.read(64).decode("utf-8", "replace"))
    except OSError:
        return True


def lint_file(
    path: Path, rules: Collection[str] = RULES, *, strict_coverage: bool = False
) -> Analysed:
    """Lint one workflow.

    Raises: LintInputError when it cannot be read, and when its settings cannot be while
        `configuration` is not asked for, since then no rule could look at anything;
        ParserMissingError as `analyse_workflow` does.
    """
    return lint_workflow(path, rules, strict_coverage=strict_coverage)[1]


def lint_workflow(
    path: Path, rules: Collection[str] = RULES, *, strict_coverage: bool = False
) -> tuple[Workflow | None, Analysed]:
    """Lint one workflow, and return it as it was read; None when it is no text.

    The code in it is that which was looked at: nothing is read a second time.
    Raises: as `lint_file` does.
    """
    repository = Repository(path)
    name = repository.inside(path)
    try:
        content = read_bounded(repository, name, MAX_WORKFLOW_BYTES)
    except FileProblem as problem:
        msg = f"{path}: {problem}"
        raise LintInputError(msg) from problem
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as failure:
        before = content[: failure.start].decode("utf-8")
        if CONFIGURATION not in rules:
            msg = f"{path}: is not UTF-8 text (byte {failure.start}), so no rule could be applied"
            raise LintInputError(msg) from failure
        return None, _not_utf8(str(path), before, content)
    workflow = read_workflow(name, text, repository)
    if workflow.root is None and CONFIGURATION not in rules:
        first = workflow.diagnostics[0]
        msg = f"{path}:{first.location.line}: {first.message}, so no rule could be applied"
        raise LintInputError(msg)
    analysed = analyse_workflow(workflow, rules, strict_coverage=strict_coverage)
    return workflow, _without_suppressed(analysed, rules)


def _not_utf8(path: str, before: str, content: bytes) -> Analysed:
    place = Positions(path, before).at(len(before))
    message = "the file is not UTF-8 text from here on"
    diagnostic = Diagnostic("workflow-not-utf8", message, place, "save the file as UTF-8")
    texts = {path: content.decode("utf-8", "replace")}
    return Analysed((RuleFinding(CONFIGURATION, diagnostic),), texts)


def _without_suppressed(analysed: Analysed, rules: Collection[str]) -> Analysed:
    """Take out the warnings that their authors explained; what is wrong with that is an error."""
    comments = {
        (path, comment.line): comment
        for path, text in analysed.texts.items()
        for comment in read_suppressions(_code_of(path, text))
    }
    kept: list[RuleFinding] = []
    used: set[tuple[str, int]] = set()
    for finding in analysed.findings:
        place = _explained(finding, comments)
        if place is None:
            kept.append(finding)
        else:
            used.add(place)
    if CONFIGURATION in rules:
        kept += _faults(comments, used, rules)
        order = {path: index for index, path in enumerate(analysed.texts)}
        kept.sort(key=lambda item: _order(item, order))
    return Analysed(tuple(kept), analysed.texts)


def _order(finding: RuleFinding, order: Mapping[str, int]) -> tuple[int, Location, str]:
    place = finding.diagnostic.location
    return order[place.path], place, finding.diagnostic.code


def _code_of(path: str, text: str) -> str:
    """Return the part of a text that can have comments: of Markdown, the settings."""
    return frontmatter_of(text) if path.endswith(_SUFFIX) else text


def _explained(
    finding: RuleFinding, comments: Mapping[tuple[str, int], Suppression]
) -> tuple[str, int] | None:
    place = finding.diagnostic.location
    if finding.diagnostic.severity != "warning":
        return None
    for line in (place.line, place.line - 1):
        comment = comments.get((place.path, line))
        if comment is not None and comment.rule == finding.rule and comment.reason:
            return place.path, line
    return None


def _faults(
    comments: Mapping[tuple[str, int], Suppression],
    used: Collection[tuple[str, int]],
    rules: Collection[str],
) -> Iterator[RuleFinding]:
    for (path, line), comment in comments.items():
        place = Location(path, line, comment.column, comment.length)
        problem = _problem(comment)
        if problem is not None:
            message, hint = problem
            yield RuleFinding(CONFIGURATION, Diagnostic(_SUPPRESSION, message, place, hint))
        elif (path, line) not in used and comment.rule in rules:
            message = f'this comment hides no warning of "{comment.rule}"'
            hint = "remove it, or move it to the line of the warning; errors cannot be hidden"
            diagnostic = Diagnostic(_SUPPRESSION, message, place, hint, "warning")
            yield RuleFinding(CONFIGURATION, diagnostic)


def _problem(comment: Suppression) -> tuple[str, str | None] | None:
    if not comment.rule:
        return "this comment names no rule", "write # aw-lint-ignore RULE: reason"
    if comment.rule not in RULES:
        return f"no rule is called {quoted(comment.rule)}", did_you_mean(comment.rule, RULES)
    if not comment.reason:
        return "this comment gives no reason", f"write # aw-lint-ignore {comment.rule}: reason"
    return None


class Count(msgspec.Struct, frozen=True):
    """How many errors and warnings there are."""

    errors: int
    warnings: int


def count(findings: Collection[RuleFinding]) -> Count:
    """Count findings by severity."""
    errors = sum(finding.diagnostic.severity == "error" for finding in findings)
    return Count(errors, len(findings) - errors)
