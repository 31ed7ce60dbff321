"""Custom graders with their code, for those that freeze or run it.

Conclusion never sees this type: what it reads is `Manifest`, which has no field for code.
"""

import hashlib

import msgspec

from aw_graders.config.custom import Source
from aw_graders.config.manifest import CustomGrader
from aw_graders.graders.settings import GraderSettings


class Executable(msgspec.Struct, frozen=True):
    """One custom grader: its settings, and the bytes that are analysed, embedded and run.

    `digest` is the lower-case hexadecimal SHA-256 of `code`.
    """

    settings: GraderSettings
    source: Source
    code: bytes
    digest: str

    @property
    def id(self) -> str:
        """The id of the grader."""
        return self.settings.id

    def registered(self) -> CustomGrader:
        """Return what may be said of it where no code may be: decision 54."""
        return CustomGrader(self.id, self.source, self.settings.enabled, self.digest)


class ExecutableManifest(msgspec.Struct, frozen=True):
    """The custom graders of a workflow by id, disabled ones too."""

    graders: tuple[Executable, ...]


def executable(settings: GraderSettings, source: Source, code: bytes) -> Executable:
    """Freeze the code of one grader.

    Cost: O(length).
    """
    return Executable(settings, source, code, hashlib.sha256(code).hexdigest())
