"""Recordings with something wrong in them."""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from aw_graders._json import JsonValue, compact, decode

WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "", "x", [], [[]], {}, {"a": []})


def paths_of(value: Any) -> list[tuple[Any, ...]]:
    """List the paths to every value within `value`, its own first."""
    if isinstance(value, dict):
        items = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    return [(), *((key, *rest) for key, item in items for rest in paths_of(item))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Copy `value` with another value at `path`."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def wrongly_typed(document: bytes) -> Iterator[bytes]:
    """Yield a JSON document with a value of another type in each place."""
    whole: JsonValue = decode(document)
    for path in paths_of(whole):
        for value in WRONG:
            yield compact(replaced(whole, path, value))


def damaged(contents: tuple[bytes, ...]) -> st.SearchStrategy[tuple[bytes, ...]]:
    """Draw junk, a recording with junk in it, and the same with other line ends and NULs."""

    def spoil(junk: bytes, place: int, content: bytes) -> tuple[bytes, ...]:
        spoilt = content[:place] + junk + content[place:]
        return junk, spoilt, spoilt.replace(b"\n", b"\r\n\0")

    return st.builds(
        spoil, st.binary(max_size=300), st.integers(0, 2000), st.sampled_from(contents)
    )


def assert_steady(
    content: bytes, collect: Callable[..., Any], read: Callable[[Any], object]
) -> None:
    """Collect the same twice, and read what was collected."""
    first = collect(content, content)
    assert first == collect(content, content)
    read(first)
