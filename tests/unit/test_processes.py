"""Children: what they get, how they end, and what the machine closes to them."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from aw_graders.processes.children import ChildError, Stage, run_child
from aw_graders.processes.fences import ALL_FENCES, Fences

_OUTPUT = 1000


def _is_running(pid):
    """Tell whether a process still does anything, some time after it was killed."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state in "ZX":
            return False
        time.sleep(0.01)
    return True


def _python(code, **options):
    given = {"seconds": 20, "output_bytes": _OUTPUT, **options}
    return run_child([sys.executable, "-I", "-S", "-c", code], **given)


def test_a_child_gets_its_input_and_nothing_of_this_process(monkeypatch):
    monkeypatch.setenv("GH_TOKEN", "ghp_secret")
    code = (
        "import json,os,sys\n"
        "print(json.dumps([[*os.environ], sys.stdin.read(), sorted(os.listdir('/proc/self/fd'))]))"
    )

    ended = _python(code, stdin=b"given", environment={"ONLY": "this"})

    names, text, descriptors = json.loads(ended.stdout)
    assert set(names) <= {"ONLY", "LC_CTYPE"}
    assert text == "given"
    # The last one is that of the listing itself.
    assert descriptors == ["0", "1", "2", "3"]
    assert (ended.status, ended.timed_out, ended.overflowed) == (0, False, False)


def test_input_may_come_in_parts_and_larger_than_a_pipe():
    ended = _python(
        "import sys; print(len(sys.stdin.buffer.read()))",
        stdin=[b"", b"a" * 300_000, b"", b"b" * 300_000],
    )

    assert ended.stdout == b"600000\n"


@pytest.mark.parametrize("code", ["", "import sys; sys.stdin.close()"])
def test_a_child_need_not_read_its_input(code):
    assert _python(code, stdin=b"x" * 1_000_000).status == 0


def test_time_runs_out_for_the_whole_group():
    code = (
        "import os,time\n"
        "if os.fork() == 0:\n    print(os.getpid(), flush=True)\n    time.sleep(60)\n"
        "time.sleep(60)"
    )
    started = time.monotonic()

    ended = _python(code, seconds=0.5)

    assert ended.timed_out
    assert time.monotonic() - started < 5
    assert not _is_running(int(ended.stdout))


def test_what_is_left_in_the_group_is_ended_with_the_child():
    code = (
        "import os,time\n"
        "child = os.fork()\n"
        "if child == 0:\n    os.close(1); os.close(2)\n    time.sleep(60)\n"
        "print(child)"
    )

    ended = _python(code)

    assert ended.status == 0
    assert not _is_running(int(ended.stdout))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("size", "overflowed"), [(_OUTPUT, False), (_OUTPUT + 1, True)])
def test_output_is_bounded_on_both_streams(stream, size, overflowed):
    ended = _python(f"import sys; sys.{stream}.write('x' * {size})")

    assert getattr(ended, stream) == b"x" * min(size, _OUTPUT)
    assert ended.overflowed is overflowed


def test_a_flood_is_stopped_at_once():
    started = time.monotonic()

    ended = _python("while True: print('x' * 1000)")

    assert ended.overflowed
    assert time.monotonic() - started < 5


def test_a_signal_is_a_negative_status():
    assert _python("import os; os.kill(os.getpid(), 9)").status == -signal.SIGKILL


@pytest.mark.parametrize("command", ["/none/at/all", "/etc/passwd", "a\0b"])
def test_what_cannot_be_started_is_named(command):
    with pytest.raises(ChildError, match="cannot be started"):
        run_child([command], seconds=1, output_bytes=1)


# --- Two stages -------------------------------------------------------------

_STAGED = (
    "import sys,time\n"
    "assert sys.stdin.buffer.read(4) == b'load'\n"
    "time.sleep({load})\n"
    "sys.stdout.write('ready;'); sys.stdout.flush()\n"
    "assert sys.stdin.buffer.read() == b'go'\n"
    "time.sleep({work})\n"
    "print('done')"
)


def _staged(load=0.0, work=0.0, **options):
    asked = []
    stage = Stage(b"ready;", b"go", options.pop("second", 5), asked.append)
    ended = _python(_STAGED.format(load=load, work=work), stdin=b"load", stage=stage, **options)
    return ended, asked


def test_the_second_stage_begins_when_the_child_says_so():
    ended, asked = _staged()

    assert (ended.status, ended.stdout, ended.was_ready) == (0, b"done\n", True)
    assert len(asked) == 1


def test_each_stage_has_its_own_time():
    slow_work, _ = _staged(work=30, second=0.3)
    slow_load, asked = _staged(load=30, seconds=0.3)
    slow_load_only, _ = _staged(load=0.6, second=0.4)

    assert (slow_work.timed_out, slow_work.was_ready) == (True, True)
    assert (slow_load.timed_out, slow_load.was_ready, asked) == (True, False, [])
    assert slow_load_only.stdout == b"done\n"


def test_a_child_that_never_is_ready_is_told_from_one_that_is():
    stage = Stage(b"ready;", b"go", 5, lambda _: None)

    ended = _python("print('something else')", stage=stage)

    assert (ended.was_ready, ended.stdout) == (False, b"something else\n")


# --- Fences -----------------------------------------------------------------


def _fenced(code, *names, **more):
    return _python(code, fences=Fences(names, readable=_PYTHON_FILES, **more), output_bytes=100_000)


_PYTHON_FILES = (sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix))
_CONNECT = (
    "import socket\n"
    "try:\n    socket.create_connection(('127.0.0.1', 9), 1); print('open')\n"
    "except OSError as failure: print(failure.errno)"
)


def test_fences_that_stood_are_named():
    ended = _fenced("print(1)", *ALL_FENCES)

    assert ended.stdout == b"1\n"
    assert set(ended.fences) <= set(ALL_FENCES)
    assert "no-new-privileges" in ended.fences


@pytest.mark.parametrize(
    ("fence", "errors"),
    [
        ("seccomp", {b"1\n"}),
        ("network-namespace", {b"101\n"}),
        ("landlock", {b"13\n"}),
    ],
)
def test_each_fence_closes_the_network_alone(fence, errors):
    ended = _fenced(_CONNECT, fence)
    if fence not in ended.fences:
        pytest.skip(f"this machine has no {fence}")

    assert ended.stdout in errors


def test_landlock_closes_files_that_were_not_named(tmp_path):
    (tmp_path / "secret").write_text("x")
    code = (
        f"for mode in 'rwa':\n"
        f"    try: open({str(tmp_path / 'secret')!r}, mode); print('open')\n"
        f"    except OSError as failure: print(failure.errno)"
    )

    ended = _fenced(code, "landlock")
    if "landlock" not in ended.fences:
        pytest.skip("this machine has no landlock")

    assert ended.stdout == b"13\n13\n13\n"


def test_allocated_memory_is_bounded():
    ended = _fenced("x = bytearray(400 << 20)", data_bytes=200 << 20)

    assert b"MemoryError" in ended.stderr


def test_a_program_that_is_not_there_has_no_fences():
    ended = run_child(["/none"], seconds=5, output_bytes=10_000, fences=Fences())

    assert ended.status != 0
