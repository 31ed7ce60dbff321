"""Where `aw` begins and ends, as quickly as it can.

A version is answered before anything that takes time is loaded. At the end nothing is taken apart
that the system frees at once: for a small session, that alone would take a sixth of the time.
"""

import os
import sys
from typing import NoReturn

from aw_graders import __version__

_FAILED = 3


def main() -> NoReturn:
    """Print the version, or load the command line and run it; then end the process."""
    if sys.stdout is None:
        _refuse_closed_output()
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"aw {__version__}\n")
        status = 0
    else:
        from aw_graders.cli.main import run  # noqa: PLC0415 - see above

        status = run()
    _end(status)


def _refuse_closed_output() -> NoReturn:
    if sys.stderr is not None:
        sys.stderr.write("aw: standard output is closed, so there is nowhere to write to\n")
    _end(_FAILED)


def _end(status: int) -> NoReturn:
    """Write out what is still buffered and end the process."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            # The reader went away, as `head` does, or the disk is full; 0 would be a lie.
            status = status or _FAILED
    os._exit(status)
