"""Where `aw` begins. A version is answered before anything that takes time is loaded."""

import sys

from aw_graders import __version__


def main() -> None:
    """Print the version, or load the command line and run it."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"aw {__version__}\n")
        return
    from aw_graders.cli.main import run  # noqa: PLC0415 - see above

    run()
