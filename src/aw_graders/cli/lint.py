"""`aw lint`: everything that is wrong with workflows, before anything runs."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from aw_graders import _json
from aw_graders.analysis.model import ParserMissingError
from aw_graders.cli.exits import Exit, stop
from aw_graders.diagnostics import did_you_mean, printable, quoted
from aw_graders.flows.analysing import RULES, RuleFinding
from aw_graders.flows.linting import (
    LintInputError,
    UnknownWorkflowError,
    count,
    find_workflows,
    lint_file,
)
from aw_graders.redaction import mask_text

_FORMATS = ("text", "json", "sarif", "github")


def _rules(_: click.Context, __: click.Parameter, given: str | None) -> frozenset[str]:
    if given is None:
        return frozenset(RULES)
    names = [name.strip() for name in given.split(",") if name.strip()]
    if not names:
        stop(Exit.USAGE, f"--rules names no rule; use one of: {', '.join(RULES)}")
    for name in names:
        if name not in RULES:
            stop(Exit.USAGE, f"no rule is called {quoted(name)}; {did_you_mean(name, RULES)}")
    return frozenset(names)


def _module(_: click.Context, __: click.Parameter, given: str | None) -> None:
    if given is not None:
        click.echo("aw: --javascript-module is not needed: the parser is built in", err=True)


@click.command("lint")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--rules", metavar="A,B", callback=_rules, help="Apply these rules only.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--strict-coverage", is_flag=True, help="What could not be checked is an error.")
@click.option(
    "--javascript-module",
    metavar="PATH",
    callback=_module,
    expose_value=False,
    help="Accepted, and not needed.",
)
def COMMAND(  # noqa: N802 - the name the lazy group looks for
    paths: tuple[str, ...],
    rules: frozenset[str],
    form: str,
    as_json: bool,
    strict_coverage: bool,
) -> None:
    """Check the graders of workflows: configuration, scripts, and the Bash files they run.

    PATH is a Markdown file, a folder of them, or the id of a workflow. Without one, all workflows
    under .github/workflows are checked.
    """
    try:
        files = find_workflows(paths)
    except UnknownWorkflowError as failure:
        stop(Exit.USAGE, str(failure))
    except LintInputError as failure:
        stop(Exit.FAILED, str(failure))
    findings: list[RuleFinding] = []
    texts: dict[str, str] = {}
    failed = False
    for file in files:
        try:
            analysed = lint_file(file, rules, strict_coverage=strict_coverage)
        except LintInputError as failure:
            click.echo(f"aw: {printable(mask_text(str(failure)))}", err=True)
            failed = True
            continue
        except ParserMissingError as failure:
            stop(Exit.FAILED, f"{file}: {failure}")
        findings += [item for item in analysed.findings if item not in findings]
        texts.update(analysed.texts)
    _write("json" if as_json else form, findings, texts, [str(file) for file in files])
    if failed:
        raise SystemExit(int(Exit.FAILED))
    if count(findings).errors:
        raise SystemExit(int(Exit.FOUND))


def _write(
    form: str, findings: Sequence[RuleFinding], texts: Mapping[str, str], files: Sequence[str]
) -> None:
    """Write the findings to standard output, and for a person how many there are."""
    # Each spelling is loaded only when it is asked for.
    from aw_graders.reports.lint import (  # noqa: PLC0415
        lint_document,
        render_findings,
        summary,
    )

    document: Any = None
    if form == "text":
        click.echo(mask_text(render_findings(findings, texts)), nl=False)
    elif form == "github":
        from aw_graders.reports.github import github_annotations  # noqa: PLC0415

        click.echo(github_annotations(findings, mask_text), nl=False)
    elif form == "sarif":
        from aw_graders.reports.sarif import sarif_log  # noqa: PLC0415

        document = sarif_log(findings, texts, mask_text)
    else:
        document = lint_document(findings, files, mask_text)
    if document is not None:
        sys.stdout.buffer.write(_json.pretty(document))
        sys.stdout.buffer.flush()
    click.echo(f"aw: {summary(findings, len(files))}", err=True)
