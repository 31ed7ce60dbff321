"""Writing the manifest and the results, whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aw_graders import _json

MANIFEST_FILE: Final = "grader_manifest.json"
RESULTS_FILE: Final = "grader_results.json"


def write_documents(folder: Path, manifest: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Write both documents into `folder`, which is made when it is missing.

    Each file is written beside its place and moved there, readable by its owner alone, so that a
    reader never sees half a file.
    Raises: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / MANIFEST_FILE, _json.pretty(manifest))
    _write(folder / RESULTS_FILE, _json.pretty(results))


def _write(path: Path, content: bytes) -> None:
    # mkstemp makes the file with owner-only rights and a name that no link can have taken.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
