"""Write `docs/graders/`: one page per grader, from its registry row and its docstring.

`python tools/make_docs.py` writes, `--check` fails when a page is stale, missing or left over.
"""

import inspect
import sys
from pathlib import Path

from aw_graders.graders import BUILT_IN, GraderSpec
from aw_graders.lookups.trajectory import MAX_ENTRIES

FOLDER = Path(__file__).parent.parent / "docs" / "graders"
_BOUND = f"Also when a recorded collection, or a list of the reference, has more than {MAX_ENTRIES:,} entries"


def page(spec: GraderSpec) -> str:
    """Return the page of one grader."""
    threshold = "none" if spec.threshold is None else f"{spec.threshold} ({spec.direction})"
    facts = inspect.cleandoc(spec.compute.__doc__ or "")
    return (
        f"# {spec.id}\n\n{spec.name}: {spec.summary}.\n\n"
        f"| | |\n|---|---|\n| formula | {spec.formula} |\n| unit | {spec.unit} |\n"
        f"| direction | {spec.direction} |\n| default threshold | {threshold} |\n"
        f"| evidence | {spec.evidence} |\n{_unavailable(spec)}| cost | {spec.cost} |\n| source | {spec.source} |\n"
        f"| version | {spec.version} |\n\n## How to read it\n\n{spec.reading}\n\n"
        f"Example: {spec.example}.\n\n## What it counts\n\n```text\n{facts}\n```\n"
    )


def _unavailable(spec: GraderSpec) -> str:
    """Return the row that says when there is no value; where it is empty, the docstring says so."""
    if not spec.unavailable:
        return ""
    when = spec.unavailable[0].upper() + spec.unavailable[1:]
    return f"| unavailable | {when}. {_BOUND}. |\n"


def pages() -> dict[Path, str]:
    """Return every page under its path, with an index."""
    made = {FOLDER / f"{id_}.md": page(spec) for id_, spec in BUILT_IN.items()}
    rows = "".join(
        f"| [{id_}]({id_}.md) | {spec.summary} | {spec.unit} |\n" for id_, spec in BUILT_IN.items()
    )
    made[FOLDER / "index.md"] = f"# Graders\n\n| id | measures | unit |\n|---|---|---|\n{rows}"
    return made


def main() -> int:
    """Write the pages, or compare them."""
    made = pages()
    if "--check" not in sys.argv:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [p for p, text in made.items() if not p.exists() or p.read_text("utf-8") != text]
    stale += [path for path in FOLDER.glob("*.md") if path not in made]
    for path in stale:
        print(f"{path}: is stale; run python tools/make_docs.py")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
