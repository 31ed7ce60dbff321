"""What threat detection decided."""

from typing import Final

from aw_graders.collectors.gh_aw.fields import fields, project
from aw_graders.collectors.gh_aw.layout import Layout
from aw_graders.collectors.gh_aw.run import Run
from aw_graders.collectors.gh_aw.source import Source, time_of_row
from aw_graders.collectors.normalise import is_mapping

_PHASE: Final = "detection"
_FILE: Final = "detection_result.json"
_REASON: Final = "reason"
_RESULT: Final = fields(
    *("jobResult", "conclusion", _REASON, "promptInjection", "secretLeak", "maliciousPatch")
)


def detection_sources(run: Run, layout: Layout) -> list[Source]:
    """Read the verdict. Only the copy made for usage was cleared to give its reason."""
    cleared = layout.first(layout.usage, f"detection/{_FILE}")
    path = cleared or layout.first(layout.detection, _FILE)
    if path is None:
        return []
    writer = run.writer("detection", _PHASE, path)
    document = run.document(path)
    if is_mapping(document):
        data = project(document, _RESULT)
        if path != cleared or not _is_for_usage(path, layout):
            data.pop(_REASON, None)
        writer.add("detection.result", data, time_of_row(document))
    elif document is not None:
        message = "the document is no object and was skipped"
        writer.notes.add("non-object-record", message, None, lossy=True)
    return run.close(writer)


def _is_for_usage(path: str, layout: Layout) -> bool:
    """Tell the copy for usage from the detection artifact in a folder of the same name."""
    return any(folder and path.startswith(f"{folder}/") for folder in layout.usage)
