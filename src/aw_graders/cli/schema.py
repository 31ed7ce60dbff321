"""`aw schema`: JSON Schemas of the documents."""

import sys

import click

from aw_graders import _json
from aw_graders.cli.exits import Exit, stop
from aw_graders.reports.schemas import SCHEMAS


@click.command("schema")
@click.argument("name")
def COMMAND(name: str) -> None:  # noqa: N802 - the name the lazy group looks for
    """Print the JSON Schema of NAME: frontmatter, lookups, session, manifest or results."""
    if name not in SCHEMAS:
        stop(Exit.USAGE, f'no schema is called "{name}"; use one of: {", ".join(SCHEMAS)}')
    sys.stdout.buffer.write(_json.pretty(SCHEMAS[name]))
