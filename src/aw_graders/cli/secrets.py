"""Secret values that a person names: in variables, in a file, and in the session itself."""

import os
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from aw_graders.cli.exits import SECRET_NAMES, Exit, stop
from aw_graders.cli.inputs import read_path
from aw_graders.diagnostics.words import counted
from aw_graders.redaction import KnownValues, known_values, mask_text
from aw_graders.redaction.named import known_in
from aw_graders.session import Session
from aw_graders.session.limits import MAX_CONFIG_BYTES


class Secrets(msgspec.Struct, frozen=True):
    """The values that were named from outside the session."""

    named: KnownValues

    def of(self, session: Session, mask_lines: Iterable[str] = ()) -> KnownValues:
        """Add the values that add-mask lines of the evidence name; say how many are ignored."""
        known = known_in(session, self.named, mask_lines)
        _say_ignored(known.too_short - self.named.too_short, known.ordinary - self.named.ordinary)
        return known

    def mask(self, text: str) -> str:
        """Mask what is about to leave."""
        return mask_text(text, self.named)


def known_secrets(path: Path | None) -> Secrets:
    """Read the named secret values, or end with one line; say how many are ignored."""
    text = ""
    if path is not None:
        try:
            text = read_path(path, MAX_CONFIG_BYTES).decode("utf-8-sig")
        except UnicodeDecodeError as failure:
            stop(Exit.USAGE, f"{path}: is not UTF-8 text (byte {failure.start})")
    names = os.environ.get(SECRET_NAMES, "")
    known = known_values(names=names, variables=os.environ, file_text=text)
    _say_ignored(known.too_short, known.ordinary)
    return Secrets(known)


def _say_ignored(too_short: int, ordinary: int) -> None:
    for count, why in (
        (too_short, "too short to be masked"),
        (ordinary, "a word of the session format"),
    ):
        if count:
            click.echo(f"aw: {counted(count, 'secret value')} ignored: {why}", err=True)
