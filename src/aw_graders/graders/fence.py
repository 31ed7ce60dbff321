"""What a grader that is not built in is given: a copy of its own, so that nothing it does gets out.

A frozen struct is no wall: CPython from 3.13 on lets `object.__setattr__` pass, and the descriptors
of its fields take values on every version. What nobody else holds needs no wall.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

import msgspec

from aw_graders._json import freeze
from aw_graders.lookups.lazily import Lazily

_T = TypeVar("_T")
_CONSTANTS: Final = frozenset({str, bytes, int, float, bool, frozenset, type(None)})


def own(value: _T) -> _T:
    """Copy `value` at every depth; only what cannot be changed is shared.

    Takes: structs, tuples, JSON data, lazy values, and frozen sets of constants.
    Raises: TypeError for anything else, so that a new kind of field cannot slip through.
    Cost: linear in what `value` holds.
    """
    return cast("_T", _own(value))


def _own(value: Any) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _CONSTANTS:
        return value
    if issubclass(kind, msgspec.Struct):
        return kind(*(_own(getattr(value, name)) for name in kind.__struct_fields__))
    if isinstance(value, Lazily):
        # Made now: what makes it later would lead back to the original.
        made = _own(cast("Lazily[object]", value)())
        return Lazily(lambda: made)
    if isinstance(value, tuple):
        return tuple(map(_own, cast("tuple[object, ...]", value)))
    if isinstance(value, list):
        return freeze(cast("list[Any]", value))
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return freeze({key: _own(item) for key, item in items})
    msg = f"cannot copy {kind.__name__} for a grader"
    raise TypeError(msg)
