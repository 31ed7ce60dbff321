"""Hostile scripts: each ends as the contract says, in time, and leaves nothing behind.

What the scripts try to reach is watched from outside: a port of this machine, and a pipe in place
of a file, where whoever opens it is seen.
"""

import contextlib
import os
import shutil
import socket
import threading
import time

import pytest

from aw_graders.runtimes import node
from aw_graders.runtimes.outcome import Failure, result_of
from tests.unit.runtimes.support import (
    grader,
    in_parallel,
    problem,
    processes_with,
    script,
    small,
    vectors,
)

_ESCAPES = vectors("escapes.json")
_CASES = [case for cases in _ESCAPES.values() for case in cases]
# Scripts that never end need no longer than this to show it.
_SHORT_SECONDS = 0.5
# A script that ends at all ends long before, on a machine that does much else besides.
_PATIENCE_SECONDS = 30


class Watch:
    """A port and a pipe that nobody may touch; `close` tells which was."""

    def __init__(self, folder):
        self.canary = folder / "canary"
        os.mkfifo(self.canary)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)  # noqa: FBT003 - its signature
        self.port = self._server.getsockname()[1]
        self._over = threading.Event()
        self._opened = False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self):
        while not self._over.wait(0.002):
            with contextlib.suppress(OSError):
                # Without a reader this fails.
                os.close(os.open(self.canary, os.O_WRONLY | os.O_NONBLOCK))
                self._opened = True

    def close(self):
        self._over.set()
        self._thread.join()
        touched = ["file"] if self._opened else []
        with contextlib.suppress(BlockingIOError):
            self._server.accept()[0].close()
            touched.append("port")
        self._server.close()
        return touched


def test_a_watch_sees_who_touches_it(tmp_path):
    watch = Watch(tmp_path)
    reader = os.open(watch.canary, os.O_RDONLY | os.O_NONBLOCK)
    socket.create_connection(("127.0.0.1", watch.port)).close()
    time.sleep(0.1)
    os.close(reader)

    assert watch.close() == ["file", "port"]


def test_vectors_have_names_of_their_own_and_say_what_is_expected():
    names = [case["name"] for case in _CASES]

    assert len(names) == len(set(names)) > 300
    assert all("says" in case or case["outcome"] == "value" for case in _CASES)
    assert all(case["outcome"] in {"value", "error"} for case in _CASES)


@pytest.mark.parametrize("kind", _ESCAPES)
@pytest.mark.spec(
    *(
        "G-5-45",
        "G-5-48",
        "G-5-49",
        "G-5-50",
        "G-5-51",
        "G-5-52",
        "G-5-53",
        "G-5-55",
        "D-0-7",
        "D-7-13",
    )
)
def test_hostile_scripts_end_as_the_contract_says(kind, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setenv("GH_TOKEN", "ghp_" + "q" * 36)
    monkeypatch.chdir(home)
    # One of its own, so that its processes are told from those of other tests.
    worker = tmp_path / "worker.cjs"
    shutil.copy(node._WORKER, worker)  # noqa: SLF001
    monkeypatch.setattr(node, "_WORKER", worker)
    watch = Watch(tmp_path)

    def run(case):
        code = case["script"].replace("@CANARY@", str(watch.canary))
        started = time.monotonic()
        answer = script(code.replace("@PORT@", str(watch.port)))
        return answer, time.monotonic() - started

    cases = [case for case in _ESCAPES[kind] if "endless" not in case]
    endless = [case for case in _ESCAPES[kind] if "endless" in case]
    ran = in_parallel(run, cases)
    monkeypatch.setattr(node, "SCRIPT_SECONDS", _SHORT_SECONDS)
    ran += in_parallel(run, endless)

    touched = watch.close()
    wrong = [problem(case, answer) for case, (answer, _) in zip(cases + endless, ran, strict=True)]
    assert [text for text in wrong if text] == []
    assert max(seconds for _, seconds in ran) < _PATIENCE_SECONDS
    assert touched == []
    assert os.listdir(home) == []
    assert processes_with(str(worker)) == []


_ODD = [case for case in _ESCAPES["odd results"] if case["outcome"] == "error"]


@pytest.mark.parametrize("case", _ODD[:40:4], ids=lambda case: case["name"])
def test_an_odd_result_is_never_a_pass(case):
    given = grader(case["script"])

    result = result_of(given, script(case["script"]))

    assert (result.status, result.value, result.passed) == ("error", None, None)


@pytest.mark.spec("G-5-56", "G-6-11")
def test_a_script_that_never_ends_is_stopped_from_outside(monkeypatch):
    monkeypatch.setattr(node, "SCRIPT_SECONDS", _SHORT_SECONDS)
    started = time.monotonic()

    answer = script("while (true) {}")

    assert answer == Failure("timed out: the script ran longer than 0.5 seconds")
    assert time.monotonic() - started < 5


# --- Behind the realm -------------------------------------------------------

# What a script could try if it had the host's own functions in hand. The realm does not hand them
# over; this is about what stands behind it.
_BROKEN_OUT = """
"use strict";
const fs = require("node:fs");
const bytes = Buffer.alloc(1 << 16);
const read = () => fs.readSync(0, bytes, 0, bytes.length, null);
read();
fs.writeSync(1, "ready\\n");
read();
const told = {};
const attempt = (name, act) => {
  try { told[name] = `done: ${act()}`; } catch (error) { told[name] = String(error.code ?? error.message); }
};
attempt("read", () => fs.readFileSync("@CANARY@", "utf8"));
attempt("read of passwd", () => fs.readFileSync("/etc/passwd", "utf8").length);
attempt("list", () => fs.readdirSync("/").length);
attempt("write", () => fs.writeFileSync("@HOME@/made", "x"));
attempt("write in tmp", () => fs.writeFileSync("/tmp/aw-graders-made", "x"));
attempt("program", () => require("node:child_process").execFileSync("/bin/true"));
attempt("worker", () => new (require("node:worker_threads").Worker)("1", { eval: true }));
attempt("addon", () => process.dlopen({ exports: {} }, "@CANARY@"));
attempt("code from text", () => new Function("return 1")());
attempt("wasm", () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) && 1);
attempt("kill", () => process.kill(process.ppid, 0));
attempt("environment", () => Object.keys(process.env).length);
attempt("arguments", () => process.argv.length);
const finish = () => {
  fs.writeSync(1, JSON.stringify({ value: 1, diagnostics: told }));
  process.reallyExit(0);
};
const { connect } = require("node:net");
let socket;
attempt("socket", () => {
  socket = connect(@PORT@, "127.0.0.1");
  return "asked";
});
if (told.socket === "done: asked") {
  socket.on("connect", () => { told.socket = "done"; finish(); });
  socket.on("error", (error) => { told.socket = error.code; finish(); });
} else finish();
"""
_REFUSED = {"ERR_ACCESS_DENIED", "EACCES", "EPERM", "ENETUNREACH", "ERR_DLOPEN_DISABLED"}
_FORBIDDEN = {
    *("read", "read of passwd", "list", "write", "write in tmp", "program", "worker", "addon"),
    "socket",
}


def _broken_out(folder, monkeypatch):
    watch = Watch(folder)
    worker = folder / "worker.cjs"
    code = _BROKEN_OUT.replace("@CANARY@", str(watch.canary)).replace("@HOME@", str(folder))
    worker.write_text(code.replace("@PORT@", str(watch.port)))
    monkeypatch.setattr(node, "_WORKER", worker)
    answer = script("return 1;")
    touched = watch.close()
    if isinstance(answer, Failure):
        return answer, touched
    return dict(answer.diagnostics), touched


def _unless_fenced(*needed):
    stood = set(node.run_script(grader("return 1;"), small()).fences)
    if not set(needed) <= stood:
        pytest.skip(f"this machine lacks one of {', '.join(needed)}")


@pytest.mark.spec("G-5-57", "G-6-9", "G-6-10", "G-6-12")
def test_behind_a_broken_realm_there_is_nothing_to_reach(tmp_path, monkeypatch):
    _unless_fenced("seccomp", "landlock")

    told, touched = _broken_out(tmp_path, monkeypatch)

    assert {name: told[name] for name in _FORBIDDEN if told[name] not in _REFUSED} == {}
    assert told["environment"] == "done: 0"
    assert told["code from text"] != "done: 1"
    assert told["wasm"] != "done: 1"
    assert touched == []
    assert not (tmp_path / "made").exists()


def test_the_machine_alone_closes_files_programs_and_sockets(tmp_path, monkeypatch):
    _unless_fenced("seccomp", "landlock")
    flags = [flag for flag in node._FLAGS if flag != "--permission"]  # noqa: SLF001
    monkeypatch.setattr(node, "_FLAGS", tuple(flags))
    monkeypatch.setattr(node, "run_child", _without_permission(node.run_child))

    told, touched = _broken_out(tmp_path, monkeypatch)

    wanted = _FORBIDDEN - {"worker", "addon"}
    assert {name: told[name] for name in wanted if told[name] not in _REFUSED} == {}
    assert touched == []
    assert not (tmp_path / "made").exists()


def _without_permission(run):
    def run_child(command, **options):
        return run([part for part in command if "--allow-fs" not in str(part)], **options)

    return run_child
