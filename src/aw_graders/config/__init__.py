"""What a person asks of the graders: read, checked, resolved, and written as a manifest."""

from aw_graders.config.manifest import ManifestError, manifest_document, settings_from_manifest
from aw_graders.config.resolve import check, resolve

__all__ = ["ManifestError", "check", "manifest_document", "resolve", "settings_from_manifest"]
