"""Write `schemas/`: the JSON Schema of every document, the bytes that `aw schema NAME` prints.

`python tools/make_schemas.py` writes, `--check` fails when a file is stale, missing or left over.
"""

import sys
from pathlib import Path

from aw_graders import _json
from aw_graders.reports.schemas import SCHEMAS

FOLDER = Path(__file__).parent.parent / "schemas"


def files() -> dict[Path, bytes]:
    """Return every schema under its path."""
    return {FOLDER / f"{name}.schema.json": _json.pretty(body) for name, body in SCHEMAS.items()}


def main() -> int:
    """Write the files, or compare them."""
    made = files()
    if "--check" not in sys.argv:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path, content in made.items():
            path.write_bytes(content)
        return 0
    stale = [path for path, content in made.items() if _content(path) != content]
    stale += [path for path in FOLDER.glob("*") if path not in made]
    for path in stale:
        print(f"{path}: is stale; run python tools/make_schemas.py")
    return 1 if stale else 0


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


if __name__ == "__main__":
    raise SystemExit(main())
