"""Artifacts: the files that a run leaves for others."""

from aw_graders.artifacts.layout import (
    GRADERS_FILES,
    GRADERS_FOLDER,
    MANIFEST_FILE,
    MANIFEST_PATH,
    RESULTS_FILE,
    RESULTS_PATH,
    SESSION_PATH,
    USAGE_FILES,
    USAGE_FOLDER,
)
from aw_graders.artifacts.writer import publish, remove, write_documents

__all__ = [
    "GRADERS_FILES",
    "GRADERS_FOLDER",
    "MANIFEST_FILE",
    "MANIFEST_PATH",
    "RESULTS_FILE",
    "RESULTS_PATH",
    "SESSION_PATH",
    "USAGE_FILES",
    "USAGE_FOLDER",
    "publish",
    "remove",
    "write_documents",
]
