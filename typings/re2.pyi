from collections.abc import Callable
from typing import AnyStr, Generic

# The part of google-re2 that is used; the package ships no types. One pattern takes text and bytes.

class Match(Generic[AnyStr]):
    def group(self, group: int = ...) -> AnyStr: ...

class Pattern:
    def search(self, text: AnyStr) -> Match[AnyStr] | None: ...
    def sub(self, repl: Callable[[Match[AnyStr]], AnyStr], text: AnyStr) -> AnyStr: ...

def compile(pattern: str) -> Pattern: ...  # noqa: A001
