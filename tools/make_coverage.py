"""Write `docs/collectors/index.md`: which grader can use which recording.

The cells are results: one made-up run is written in every format (`tests/renderings.py`) and graded.
`python tools/make_coverage.py` writes, `--check` fails when the page is stale or a page has no row.
"""

import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.renderings import GH_AW_ID, PLAIN, RENDERINGS, UNIFIED_ID, Rendering, observed

from aw_graders.collectors.registry import COLLECTORS
from aw_graders.graders import DEFAULT_IDS, Result, grade_lookups

PAGE: Final = Path(__file__).parent.parent / "docs" / "collectors" / "index.md"
_TITLES: Final = {
    UNIFIED_ID: "Unified session",
    GH_AW_ID: "GitHub agentic workflows",
    **{collector.id: collector.title for collector in COLLECTORS},
}
_DURATIONS: Final = {
    "session": "the duration that the recording states",
    "span": "the span from the first to the last time",
    "proxy": "the sum of the proxy's durations of requests",
}
_INTRODUCTION: Final = """\
# Recordings

What each of the ten default graders can tell from each kind of recording: "yes", or what is missing.
A missing number is never a zero: the result is `unavailable` and says why. The table is made by
grading one run, with a call that fails and one that is made twice, in every format; wherever a cell
says "yes", the number is that of the unified session, but for those named at the end. Each page tells
what is read, how it becomes events, and what is noted.

Retries are seen by a gateway alone, and outputs by the job that makes them, so a recording of an
agent alone never has them. Collect the run's folder where there is one.
"""


def page() -> str:
    """Return the page."""
    heads = "".join(f" [{id_}](../graders/{id_}.md) |" for id_ in DEFAULT_IDS)
    rows = [f"| Recording |{heads}\n|---|{'---|' * len(DEFAULT_IDS)}\n"]
    durations: dict[str, list[str]] = {}
    for rendering in RENDERINGS:
        lookups = observed(rendering, PLAIN).lookups
        cells = "".join(f" {_cell(rendering, result)} |" for result in grade_lookups(lookups))
        rows.append(f"| {_linked(rendering.kind)}, {rendering.title} |{cells}\n")
        source = lookups.statistics.duration.source
        if source is not None:
            name = f"{_TITLES[rendering.kind]} ({rendering.title})"
            durations.setdefault(source, []).append(name)
    said = "".join(
        f"- {_DURATIONS[source]}: {'; '.join(names)}\n" for source, names in durations.items()
    )
    differing = "".join(
        f"- {_TITLES[rendering.kind]} ({rendering.title}), {id_}: {other.why}\n"
        for rendering in RENDERINGS
        for id_, other in rendering.others.items()
    )
    return (
        f"{_INTRODUCTION}\n{''.join(rows)}\n## What a duration rests on\n\n{said}\n"
        f"## Numbers that differ\n\n{differing}"
    )


def _cell(rendering: Rendering, result: Result) -> str:
    if result.status != "unavailable":
        return "yes"
    lack = rendering.lacks.get(result.id)
    # Without words of its own a cell still tells the truth: the result's own reason.
    return f"`{result.reason}`" if lack is None else f"no: {lack.words}"


def _linked(kind: str) -> str:
    return _TITLES[kind] if kind == UNIFIED_ID else f"[{_TITLES[kind]}]({kind}.md)"


def main() -> int:
    """Write the page, or compare it."""
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    faults: list[str] = []
    if not PAGE.exists() or PAGE.read_text("utf-8") != text:
        faults.append(f"{PAGE}: is stale; run python tools/make_coverage.py")
    faults += [
        f"{path}: has no row in the table; add a rendering"
        for path in sorted(PAGE.parent.glob("*.md"))
        if path != PAGE and f"]({path.name})" not in text
    ]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
