"""All known commands, each with its model; a name in two tables stops the import."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from aw_graders.analysis.bash.context import Call
from aw_graders.analysis.bash.models import (
    archives,
    builtins,
    network,
    programs,
    readers,
    text_programs,
    wrappers,
)
from aw_graders.analysis.bash.models.checked import CHECKED, Model
from aw_graders.analysis.bash.models.tables import (
    FAMILIES,
    INTERPRETERS,
    PLAIN_BUILTINS,
    READERS,
    WRITERS,
)
from aw_graders.analysis.bash.report import PRINT_INSTEAD
from aw_graders.diagnostics import quoted


def _writer(call: Call) -> None:
    call.report.write(call.node, f"{call.name} changes files or the system", PRINT_INSTEAD)


def _interpreter(call: Call) -> None:
    message = f"{quoted(call.name)} runs a program that is not read here"
    hint = "compute it with jq, awk or Bash itself"
    call.report.dynamic(call.node, message, hint)


def _plain(_: Call) -> None:
    """Accept a command whatever its arguments."""


def _all(*tables: Mapping[str, Model]) -> Mapping[str, Model]:
    joined: dict[str, Model] = {}
    for table in tables:
        for name, model in table.items():
            if name in joined:
                msg = f"the command {name!r} has two models"
                raise ValueError(msg)
            joined[name] = model
    return MappingProxyType(joined)


MODELS: Final = _all(
    dict.fromkeys(READERS - readers.READING.keys(), _plain),
    readers.READING,
    dict.fromkeys(PLAIN_BUILTINS, _plain),
    dict.fromkeys(WRITERS, _writer),
    dict.fromkeys(INTERPRETERS, _interpreter),
    CHECKED,
    archives.ARCHIVES,
    builtins.BUILTINS,
    network.NETWORK,
    programs.PROGRAMS,
    text_programs.TEXT_PROGRAMS,
    wrappers.WRAPPERS,
)


def model_of(name: str) -> Model | None:
    """Give the model of a command; None when nothing is known of it."""
    model = MODELS.get(name)
    if model is None and FAMILIES.fullmatch(name):
        return _interpreter
    return model


def is_known(name: str) -> bool:
    """Tell whether a command has a model."""
    return model_of(name) is not None
