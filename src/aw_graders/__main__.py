"""Run `aw` as `python -m aw_graders`."""

from aw_graders.cli.main import main

main()
