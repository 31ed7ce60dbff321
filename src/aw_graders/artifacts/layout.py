"""Where the files of a run's `usage` artifact stand, each name once."""

from typing import Final

USAGE_FOLDER: Final = "usage"
GRADERS_FOLDER: Final = "usage/graders"
MANIFEST_FILE: Final = "grader_manifest.json"
RESULTS_FILE: Final = "grader_results.json"
MANIFEST_PATH: Final = f"{GRADERS_FOLDER}/{MANIFEST_FILE}"
RESULTS_PATH: Final = f"{GRADERS_FOLDER}/{RESULTS_FILE}"
SESSION_PATH: Final = "usage/aw_session.jsonl"
