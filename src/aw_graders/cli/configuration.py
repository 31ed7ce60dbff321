"""Reading `--config FILE` and showing everything that is wrong in it at once."""

from pathlib import Path

import click

from aw_graders.cli.exits import Exit, stop
from aw_graders.config import check
from aw_graders.diagnostics import render
from aw_graders.graders import GraderSettings
from aw_graders.redaction import mask_text


def read_settings(path: Path, content: bytes) -> tuple[GraderSettings, ...]:
    """Read the graders that a configuration file asks for, or end with its diagnostics."""
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        stop(Exit.USAGE, f"{path}: is not UTF-8 text (byte {failure.start})")
    settings, diagnostics = check(source, str(path))
    for diagnostic in diagnostics:
        click.echo(mask_text(render(diagnostic, source)).rstrip("\n"), err=True)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise SystemExit(int(Exit.USAGE))
    return settings
