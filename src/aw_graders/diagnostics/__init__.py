"""What is wrong in a file a person wrote, where it is, and what to do about it."""

from aw_graders.diagnostics.model import Diagnostic, Location, Severity
from aw_graders.diagnostics.render import printable, quoted, render
from aw_graders.diagnostics.suggest import closest, did_you_mean

__all__ = [
    "Diagnostic",
    "Location",
    "Severity",
    "closest",
    "did_you_mean",
    "printable",
    "quoted",
    "render",
]
