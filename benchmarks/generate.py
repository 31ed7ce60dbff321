"""Large made-up sessions: deterministic, of a stated size and mix of events."""

import random
from pathlib import Path
from typing import Any, Final

import msgspec

from aw_graders._json import compact
from aw_graders.session import HEADER, Event, Provenance

_WORDS: Final = (
    *("alpha", "error", "file", "line", "src/main.py", "ok", "test", "value"),
    *("\n", '"quoted"'),
)
_PATHS: Final = {"agent": "agent.jsonl", "firewall": "token-usage.jsonl", "mcp": "gateway.jsonl"}
_POOL_WORDS: Final = 200_000


class Mix(msgspec.Struct, frozen=True):
    """What one round of a session holds besides a tool call, a request and a gateway event.

    `output_characters` is the largest length of the tool's output, `deltas` the number of short
    pieces in which the answer comes.
    """

    output_characters: int
    deltas: int


# 200 MB of these are 150,000 events of 1.3 KB: tools that return whole files.
OUTPUT_HEAVY: Final = Mix(output_characters=57_000, deltas=20)
# 100 MB of these are 560,000 events of 0.18 KB: an answer that comes word by word.
SMALL_EVENTS: Final = Mix(output_characters=20, deltas=60)
# As above, with three times the calls and requests: every fourth event decides something.
MANY_CALLS: Final = Mix(output_characters=20, deltas=12)


# As many constraints as a large configuration has; patterns that match late and often.
CONSTRAINTS: Final = {
    "constraints": [{"id": str(n), "pattern": f"t{n}.*n.:{n}|x+y"} for n in range(20)]
}
_ENTRIES: Final = 5000
# As many states as an automaton may have, the first of which is the start of every run.
_STATES: Final = [f"s{n}" for n in range(255)]
_PAIRS: Final = [(n, (n * n + step) % 255) for step in range(20) for n in range(255)]
_GRAPH: Final = {
    "edges": [{"from": _STATES[a], "to": _STATES[b]} for a, b in _PAIRS[:_ENTRIES]],
    "start": _STATES,
    "end": _STATES,
}
_RING: Final = {
    "edges": [{"from": _STATES[n - 1], "to": _STATES[n]} for n in range(255)],
    "start": _STATES[:1],
    "end": _STATES[-1:],
}
# Which of eight answers are due makes 256 states, and one answer leads to half of them.
_TANGLED: Final = ["ask", *(f"answer{n}" for n in range(8)), "never0"]
_TANGLE: Final = {
    "constraints": [
        *({"template": "response", "first": "ask", "then": f"answer{n}"} for n in range(8)),
        *({"template": "absence", "activity": f"never{n}"} for n in range(92)),
    ]
}


def trajectories() -> list[list[Event]]:
    """Make trajectories of the largest size: random, constant, alternating, all different."""
    source = random.Random(11)  # noqa: S311 - as above
    return [
        [_trajectory([f"s{source.randrange(20)}" for _ in range(_ENTRIES)])],
        [_trajectory(["s"] * _ENTRIES)],
        [_trajectory([f"s{n % 2}" for n in range(_ENTRIES)])],
        [_trajectory([f"s{n}" for n in range(_ENTRIES)])],
    ]


def _trajectory(states: list[str]) -> Event:
    numbers = range(len(states))
    calls = [
        {"id": f"c{n}", "name": state, "arguments": {"n": n}, "success": True, "eventIndex": n}
        for n, state in enumerate(states)
    ]
    half = len(states) // 2
    kinds = ["state_change"] * half + ["tool_call"] * (len(states) - half - 1) + ["safe_output"]
    data = {
        "states": states,
        "events": [
            {"index": n, "kind": kinds[n], "ref": states[n] if n < half else f"c{n}"}
            for n in numbers
        ],
        "toolCalls": calls,
        "actions": [
            {"id": f"a{n}", "type": "t", "target": "x" * 40, "validAtIssueTime": True}
            | {"consequential": True}
            for n in numbers
        ],
        "observations": [
            {"id": f"o{n}", "sourceToolCallId": f"c{n}", "consumedByActionIds": [f"a{n}"]}
            for n in numbers
        ],
        "provenanceEdges": [{"from": f"o{n}", "to": f"a{n}"} for n in numbers],
        "resources": [
            {"kind": "file", "uri": f"src/{2 * n}.py", "operations": ["read", "edit"]}
            for n in numbers
        ],
        "objectives": [
            {"id": f"p{n}", "description": "check", "satisfiedAtEventIndex": n}
            | {"dependsOn": [f"p{n - 1}"] if n else []}
            for n in numbers
        ],
        "reference": {
            "toolCalls": calls,
            "states": states[half:] + states[:half],
            "patch": {"files": [f"src/{n}.py" for n in numbers]},
            "process": _GRAPH,
        },
    }
    return _evidence(data)


def _evidence(data: dict[str, Any]) -> Event:
    place = Provenance("producer", "agent", "evidence.jsonl", 0)
    return Event("trajectory.evidence", place, compact(data))


def alignments() -> list[list[Event]]:
    """Make sequences of the largest size beside processes of the largest size.

    Random, constant, alternating and as different as they can be; a graph in which every sequence
    has its way, a ring that each step is to lead around, and constraints that tangle.
    """
    source = random.Random(13)  # noqa: S311 - as above
    made: list[list[Event]] = []
    for process, names in ((_GRAPH, _STATES), (_RING, _STATES), (_TANGLE, _TANGLED)):
        last = len(names) - 1
        made += [
            [_evidence({"events": [{"kind": names[n]} for n in order], "reference": reference})]
            for reference in [{"process": process}]
            for order in (
                [source.randrange(len(names)) for _ in range(_ENTRIES)],
                [last] * _ENTRIES,
                [n % 2 for n in range(_ENTRIES)],
                [last - n % len(names) for n in range(_ENTRIES)],
            )
        ]
    return made


def write_session(path: Path, mix: Mix, *, size: int = 0, events: int = 0) -> int:
    """Write a session of about `size` bytes or `events` events; return the number of events."""
    source = random.Random(7)  # noqa: S311 - made-up data has to be the same each time
    pool = " ".join(source.choices(_WORDS, k=_POOL_WORDS))
    index = dict.fromkeys(_PATHS, 0)
    written, number = 1, 0
    with path.open("wb") as file:
        file.write(compact(HEADER.to_json()) + b"\n")

        def write(component: str, kind: str, data: dict[str, Any]) -> None:
            place = {
                "component": component,
                "phase": "agent",
                "path": _PATHS[component],
                "index": index[component],
            }
            index[component] += 1
            file.write(compact({"type": kind, "data": data, "provenance": place}) + b"\n")

        while file.tell() < size or written < events:
            number += 1
            _write_round(write, source, pool, mix, number)
            written += 4 + mix.deltas
    return written


def _write_round(write: Any, source: random.Random, pool: str, mix: Mix, number: int) -> None:
    call = {"toolCallId": f"c{number}"}
    name = source.choice(("bash", "view", "edit", "grep"))
    given = {"n": source.randrange(40)}
    write("agent", "tool.execution_start", {**call, "toolName": name, "input": given})
    start = source.randrange(len(pool) - mix.output_characters)
    output = pool[start : start + source.randrange(1, mix.output_characters)]
    ended = {**call, "success": source.random() > 0.1, "output": output}
    write("agent", "tool.execution_complete", ended)
    usage = {"inputTokens": 1000 + number, "outputTokens": 50}
    request = {"model": "m", "requestId": f"r{number}", "durationMs": 900, "usage": usage}
    write("firewall", "firewall.token_usage", request)
    write("mcp", "mcp.event", {"event": "request", "level": "info", "message": "served"})
    for delta in range(mix.deltas):
        piece = _WORDS[(number + delta) % len(_WORDS)]
        said = {"messageId": f"m{number}", "deltaContent": piece}
        write("agent", "assistant.message_delta", said)
