"""Where the files of a run's artifacts stand, each name once."""

from typing import Final, NamedTuple

USAGE_FOLDER: Final = "usage"
GRADERS_FOLDER: Final = "usage/graders"
MANIFEST_FILE: Final = "grader_manifest.json"
RESULTS_FILE: Final = "grader_results.json"
MANIFEST_PATH: Final = f"{GRADERS_FOLDER}/{MANIFEST_FILE}"
RESULTS_PATH: Final = f"{GRADERS_FOLDER}/{RESULTS_FILE}"
SESSION_PATH: Final = "usage/aw_session.jsonl"
RUNTIME_FILE: Final = "runtime.json"


class UsageFiles(NamedTuple):
    """Paths below a downloaded `usage` artifact."""

    session: str = "aw_session.jsonl"
    manifest: str = f"graders/{MANIFEST_FILE}"
    results: str = f"graders/{RESULTS_FILE}"


class GradersFiles(NamedTuple):
    """Paths below a `graders` artifact."""

    manifest: str = MANIFEST_FILE
    results: str = RESULTS_FILE
    runtime: str = RUNTIME_FILE


USAGE_FILES: Final = UsageFiles()
GRADERS_FILES: Final = GradersFiles()
