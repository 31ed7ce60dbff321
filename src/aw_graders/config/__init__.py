"""What a person asks of the graders: read, checked, resolved, and written as a manifest."""

from aw_graders.config.manifest import (
    CustomGrader,
    Manifest,
    ManifestError,
    manifest_document,
    read_manifest,
)
from aw_graders.config.resolve import check, resolve

__all__ = [
    "CustomGrader",
    "Manifest",
    "ManifestError",
    "check",
    "manifest_document",
    "read_manifest",
    "resolve",
]
