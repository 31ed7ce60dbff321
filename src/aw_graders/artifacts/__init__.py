"""The files that grading leaves behind."""

from aw_graders.artifacts.writer import MANIFEST_FILE, RESULTS_FILE, write_documents

__all__ = ["MANIFEST_FILE", "RESULTS_FILE", "write_documents"]
