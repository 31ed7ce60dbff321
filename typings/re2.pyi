from collections.abc import Callable
from typing import AnyStr, Generic

# The part of google-re2 that is used; the package ships no types. One pattern takes text and bytes.

class error(Exception): ...  # noqa: N801, N818

class Options:
    log_errors: bool

class Match(Generic[AnyStr]):
    def group(self, group: int = ...) -> AnyStr: ...

class Pattern:
    def search(self, text: AnyStr) -> Match[AnyStr] | None: ...
    def sub(self, repl: Callable[[Match[AnyStr]], AnyStr], text: AnyStr) -> AnyStr: ...

def compile(pattern: str | bytes, options: Options | None = ...) -> Pattern: ...  # noqa: A001
