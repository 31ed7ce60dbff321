"""Values that are made when somebody asks for them, and not for the graders that never do."""

from collections.abc import Callable
from functools import cache
from typing import Any, Generic, NoReturn, TypeVar, cast

Made = TypeVar("Made")


class Lazily(Generic[Made]):
    """A value made once, at the first call, and never changed after.

    Two are equal when their values are.
    """

    __slots__ = ("_make",)
    _make: Callable[[], Made]

    def __init__(self, make: Callable[[], Made]) -> None:
        """Remember how the value is made."""
        object.__setattr__(self, "_make", cache(make))

    def __call__(self) -> Made:
        """Return the value."""
        return self._make()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        """Refuse every change."""
        msg = f"{name!r} cannot be changed"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse every change."""
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        """Compare the values."""
        return isinstance(other, Lazily) and self() == cast("Lazily[object]", other)()

    __hash__ = None  # type: ignore[assignment]
