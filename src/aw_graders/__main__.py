"""Run `aw` as `python -m aw_graders`."""

from aw_graders.cli.start import main

main()
