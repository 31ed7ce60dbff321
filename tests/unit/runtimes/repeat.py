"""Runs custom code several times and prints the bytes of each result; started by a test.

Standard input: `{"javascript": [code, …], "bash": [code, …], "times": number}`. Standard output: for
each code, a list of its results as text.
"""

import json
import sys

from aw_graders.config.custom import INLINE, OPERATIONAL_VALUE
from aw_graders.runtimes.bash import run_evaluator
from aw_graders.runtimes.node import run_script
from tests.unit.runtimes.support import grader, lines, result_text, small


def main() -> None:
    """Read the order, run, and print."""
    order = json.load(sys.stdin)
    told: list[list[str]] = []
    for code in order["javascript"]:
        given = grader(code, INLINE)
        told.append(
            [result_text(given, run_script(given, small()).answer) for _ in range(order["times"])]
        )
    for code in order["bash"]:
        given = grader(f"#!/bin/bash\n{code}", OPERATIONAL_VALUE)
        told.append(
            [
                result_text(given, run_evaluator(given, lines()).answer)
                for _ in range(order["times"])
            ]
        )
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
