"""Which global names a grader may use, and what the others would do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

PARAMETERS: Final = ("session", "config", "helpers")

# Everything of ECMAScript that stays when clock, chance, locale and shared memory are taken away.
ECMASCRIPT: Final = frozenset(
    (
        *("Object", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "RegExp", "JSON"),
        *("Map", "Set", "WeakMap", "WeakSet", "Math", "Reflect", "Proxy", "Promise", "Iterator"),
        *("Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError"),
        *("TypeError", "URIError", "SuppressedError", "DisposableStack", "AsyncDisposableStack"),
        *("ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray"),
        *("Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array"),
        *("BigUint64Array", "Float16Array", "Float32Array", "Float64Array"),
        *("parseInt", "parseFloat", "isNaN", "isFinite", "undefined", "NaN", "Infinity"),
        *("encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent"),
        *("escape", "unescape", "arguments"),
    )
)

ERRORS: Final = frozenset(name for name in ECMASCRIPT if name.endswith("Error"))


class Refused(msgspec.Struct, frozen=True):
    """What a name would do, why there is no such thing, and what to write instead."""

    does: str
    why: str
    hint: str


_FROM_SESSION: Final = "use `session`, `config`, `helpers` and plain JavaScript only"

MODULE: Final = Refused("loads a module", "a grader has none", _FROM_SESSION)
MODULE_RESULT: Final = Refused(
    "belongs to a module", "a grader is the body of one function", "return the value"
)
FILES: Final = Refused(
    "reaches files", "a grader sees only its session", "read the evidence from `session`"
)
PROCESS: Final = Refused(
    "reaches the process and its environment",
    "a grader has neither",
    "put what the grader has to know in its `config`",
)
NETWORK: Final = Refused(
    "reaches the network",
    "a grader sees only its session",
    "record the answer in the session, and read it there",
)
CLOCK: Final = Refused(
    "reads the clock",
    "a grader gives the same value at any time",
    "use `helpers.timestampMs(event.timestamp)` for the times of the session",
)
CHANCE: Final = Refused(
    "gives another value each time",
    "a grader gives the same value for the same session",
    "derive the value from `session`",
)
TIMER: Final = Refused(
    "runs code later", "a grader is done when it returns", "compute the value at once"
)
CODE: Final = Refused("makes code out of text", "a grader is all in its script", "write a function")
GLOBAL: Final = Refused(
    "is the global object, which holds what the analysis cannot follow",
    "a grader has no use for it",
    "use the names of plain JavaScript directly",
)
HOST: Final = Refused("is an object of the host", "a grader has no host", _FROM_SESSION)
WORKER: Final = Refused("runs code beside this", "a grader runs alone", "compute the value at once")
BINARY: Final = Refused(
    "runs code that is not in the script", "a grader is all in its script", "write it in JavaScript"
)
SHARED: Final = Refused(
    "shares memory", "a grader runs alone", "use an array or an `ArrayBuffer` of its own"
)
MEMORY: Final = Refused(
    "shows when memory is freed",
    "a grader gives the same value for the same session",
    "use `Map` or `Set`",
)
OUTPUT: Final = Refused(
    "writes to a log or asks a person",
    "a grader only returns",
    "return `{ value, message }` to say more than the value",
)
LOCALE: Final = Refused(
    "follows the language data of the machine",
    "a grader gives the same value everywhere",
    "return the number, and leave its form to the report",
)
PROTOTYPE: Final = Refused(
    "leads to the objects that all others inherit from",
    "a grader only reads data",
    "read own properties; `Object.hasOwn` tells which there are",
)
PROTOTYPE_CHANGE: Final = Refused(
    "is what all such objects inherit from",
    "a grader changes nothing around it",
    "write a function of its own",
)
FUNCTION_CONSTRUCTOR: Final = Refused(
    "leads to the function that makes code out of text",
    "a grader is all in its script",
    "compare data with data; `Array.isArray` and `typeof` tell what a value is",
)
STACK: Final = Refused(
    "sees the callers of the grader", "a grader sees only its session", "throw or return instead"
)

_NAMES: Final[tuple[tuple[Refused, tuple[str, ...]], ...]] = (
    (MODULE, ("require", "importScripts", "define", "requireNative", "load", "loadScript")),
    (MODULE_RESULT, ("module", "exports")),
    (
        MODULE,
        (
            "child_process",
            "worker_threads",
            "cluster",
            "vm",
            "v8",
            "os",
            "std",
            "repl",
            "inspector",
        ),
    ),
    (FILES, ("fs", "__dirname", "__filename", "FileReader", "FileReaderSync", "FileSystem")),
    (FILES, ("readFile", "readFileSync", "writeFile", "writeFileSync", "readbuffer", "readline")),
    (FILES, ("localStorage", "sessionStorage", "indexedDB", "caches", "openDatabase", "Storage")),
    (PROCESS, ("process", "navigator", "scriptArgs", "quit")),
    (NETWORK, ("fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource")),
    (NETWORK, ("WebTransport", "RTCPeerConnection", "BroadcastChannel", "http", "https", "net")),
    (NETWORK, ("dgram", "tls", "dns", "Request", "Response", "Headers", "FormData")),
    (CLOCK, ("Date", "performance", "Performance", "Temporal")),
    (CHANCE, ("crypto", "Crypto", "CryptoKey", "SubtleCrypto")),
    (TIMER, ("setTimeout", "setInterval", "setImmediate", "queueMicrotask")),
    (TIMER, ("clearTimeout", "clearInterval", "clearImmediate", "requestIdleCallback")),
    (TIMER, ("requestAnimationFrame", "scheduler", "postMessage")),
    (CODE, ("eval", "Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction")),
    (CODE, ("ShadowRealm", "Compartment", "evaluate")),
    (GLOBAL, ("globalThis", "global", "window", "self", "frames", "GLOBAL", "root")),
    (HOST, ("Deno", "Bun", "Buffer", "document", "WScript", "ActiveXObject", "Java", "Packages")),
    (HOST, ("phantom", "chrome", "browser", "electron", "EdgeRuntime", "bridge", "primordials")),
    (HOST, ("internalBinding", "gc", "$262", "$vm", "d8", "Realm", "location", "java")),
    (WORKER, ("Worker", "SharedWorker", "ServiceWorker", "MessageChannel", "MessagePort")),
    (BINARY, ("WebAssembly",)),
    (SHARED, ("SharedArrayBuffer", "Atomics")),
    (MEMORY, ("WeakRef", "FinalizationRegistry")),
    (OUTPUT, ("console", "print", "printErr", "alert", "confirm", "prompt", "putstr", "debug")),
    (LOCALE, ("Intl",)),
)


def _by_name() -> Mapping[str, Refused]:
    return MappingProxyType({name: what for what, names in _NAMES for name in names})


REFUSED: Final = _by_name()

# What an engine has beside ECMAScript and a grader has not, without being a way out.
_ABSENT: Final = MappingProxyType(
    {
        "structuredClone": "use `JSON.parse(JSON.stringify(value))`",
        "URL": "take the parts of the address with a regular expression",
        "URLSearchParams": "take the parts of the address with a regular expression",
        "atob": "keep the text in the session as it is",
        "btoa": "keep the text in the session as it is",
        "TextEncoder": "count characters, or encode with `encodeURIComponent`",
        "TextDecoder": "keep the text in the session as it is",
    }
)
_HELPERS: Final = ("createSessionLookups", "timestampMs", "clamp", "ratio", "sum")
_LOOKUPS: Final = (*("stats", "eventsOfType", "toolCalls", "toolCallsById", "trace", "lookups"),)


# Comparing with more takes longer than reading the script.
_MAX_COMPARED_NAMES: Final = 500


def hint_for_unknown(name: str, others: frozenset[str]) -> str:
    """Say what to write instead of a name that nothing declares.

    Takes: the name, and all names that the script declares.
    """
    from aw_graders.diagnostics import closest  # noqa: PLC0415 - only for what is wrong

    if name in _HELPERS:
        return f"use `helpers.{name}`"
    if name == "lookups":
        return "declare it: `const lookups = helpers.createSessionLookups(session);`"
    if name in _LOOKUPS:
        return f"take it from the lookups: `helpers.createSessionLookups(session).{name}`"
    if name in _ABSENT:
        return _ABSENT[name]
    known = sorted(others) if len(others) <= _MAX_COMPARED_NAMES else ()
    near = closest(name, (*known, *PARAMETERS, *sorted(ECMASCRIPT)))
    return f'did you mean "{near}"?' if near else "declare it with `const`"
