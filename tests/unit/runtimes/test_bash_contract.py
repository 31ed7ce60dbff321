"""What an evaluator gets, how it is bounded, and what becomes of what it prints."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from aw_graders.config.custom import OPERATIONAL_VALUE
from aw_graders.processes import group as group_module
from aw_graders.processes.fences import Group
from aw_graders.runtimes import bash, limits
from aw_graders.runtimes.outcome import Answer, Failure, result_of
from tests.support import ROOT
from tests.unit.runtimes.support import (
    evaluator,
    grader,
    in_parallel,
    lines,
    plain,
    problem,
    processes_with,
    vectors,
)

_CASES = vectors("bash-contract.json")
_PARTS = 4
_GOOD = """printf '[{"id":"m","value":1}]'"""


@pytest.fixture
def home(monkeypatch):
    """Give temporary files a folder of their own that every user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield folder


@pytest.mark.parametrize("part", range(_PARTS))
@pytest.mark.spec("G-5-72", "G-5-75", "G-8-17", "G-8-19")
def test_evaluators_end_as_the_contract_says(part, home):
    cases = _CASES[part::_PARTS]

    answers = in_parallel(lambda case: evaluator(case["script"], case.get("config")), cases)

    wrong = [problem(case, answer) for case, answer in zip(cases, answers, strict=True)]
    assert [text for text in wrong if text] == []
    assert os.listdir(home) == []


@pytest.mark.spec("G-5-73", "G-5-74", "D-C-8")
def test_all_metrics_are_kept_in_their_order():
    text = '[{"id":"z","value":1},{"id":"a","value":null},{"value":0.5,"id":"m"}]'
    given = grader("", OPERATIONAL_VALUE, threshold=1, direction="higher_is_better")

    answer = evaluator(f"printf '%s' '{text}'")
    result = result_of(given, answer)

    assert plain(result.metrics) == json.loads(text)
    assert [row["id"] for row in plain(result.metrics)] == ["z", "a", "m"]
    assert (result.value, result.status, result.passed) == (1, "pass", True)
    assert result.implementation == "aw-graders/bash"


@pytest.mark.spec("G-5-79", "G-5-80")
def test_the_bounds_are_those_of_the_specification():
    assert (limits.EVALUATOR_SECONDS, limits.MAX_OUTPUT_BYTES) == (120, 1 << 20)
    assert limits.MAX_EVALUATOR_BYTES == 65_536


def test_without_jq_an_evaluator_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr(bash, "_PATH", str(tmp_path))

    assert evaluator('jq -s length "$1"') == Failure(
        f'the command "jq" is not in {tmp_path}; install it there to run this evaluator', 2
    )


# --- What of this process reaches it ----------------------------------------

_PLANTED = {
    **dict.fromkeys(
        (
            *("GH_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GITHUB_OUTPUT"),
            *("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
            *("AWS_SESSION_TOKEN", "NODE_OPTIONS", "PYTHONSTARTUP", "SSH_AUTH_SOCK", "HOME"),
            *("IFS", "CDPATH", "GLOBIGNORE", "BASHOPTS", "PROMPT_COMMAND", "PS4"),
        ),
        "planted-secret",
    ),
    "LD_PRELOAD": "/none/planted.so",
    "BASH_FUNC_planted%%": "() { echo planted-secret; }",
    "BASH_FUNC_printf%%": "() { echo planted-secret; }",
}
# What Bash itself sets.
_OF_BASH = {"PWD", "SHLVL", "_", "OLDPWD"}
_GIVEN = {"PATH", "LC_ALL", "TZ", "GH_AW_SESSION_FILE", "GH_AW_GRADER_CONFIG"}


@pytest.fixture
def _planted(tmp_path, monkeypatch):
    """Plant secrets, functions and files to read first, and an open file."""
    first = tmp_path / "first.sh"
    first.write_text("echo planted-secret; export PLANTED=1\n")
    for name, value in {**_PLANTED, "BASH_ENV": str(first), "ENV": str(first)}.items():
        if name != "LD_PRELOAD":
            monkeypatch.setenv(name, value)
    # Last, and for the children of this test alone.
    monkeypatch.setenv("LD_PRELOAD", _PLANTED["LD_PRELOAD"])
    held = os.open(first, os.O_RDONLY)
    os.set_inheritable(held, True)  # noqa: FBT003 - its signature
    yield
    os.close(held)


_SHOW = """
{ env -0 | tr '\\0\\n' '\\n '; echo ==; declare -F; alias; echo ==; ls /proc/self/fd; echo ==; trap; } >&2
exit 5
"""


@pytest.mark.usefixtures("_planted")
@pytest.mark.spec("G-5-68", "G-5-69", "G-5-70", "G-5-76", "G-5-77", "G-5-78", "G-8-18", "D-C-15")
def test_only_the_fixed_list_reaches_an_evaluator():
    answer = evaluator(_SHOW)

    said = answer.error.partition("exit status 5: ")[2]
    variables, functions, descriptors, traps = said.split("==")
    names = {part.partition("=")[0] for part in variables.split() if "=" in part}
    assert names - _OF_BASH == _GIVEN
    assert functions.split() == traps.split() == []
    # The last one is that of the listing itself.
    assert descriptors.split() == ["0", "1", "2", "3"]
    assert "planted" not in answer.error


@pytest.mark.usefixtures("_planted")
def test_values_of_the_environment_are_fixed_words():
    answer = evaluator(
        'echo "$PATH|$LC_ALL|$TZ|$GH_AW_GRADER_CONFIG" >&2; exit 5', {"b": 1, "a": "é"}
    )

    assert answer.error.endswith(
        '/usr/local/bin:/usr/bin:/bin|C.UTF-8|UTC|{"b":1,"a":"é"}'
    ) or answer.error.endswith('/usr/local/bin:/usr/bin:/bin|C.UTF-8|UTC|{"a":"é","b":1}')


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be left behind")
def test_root_is_left_behind():
    answer = evaluator("echo $(id -u) $(id -G) >&2; exit 5")

    assert answer.error.endswith("65534 65534")


def test_an_evaluator_gains_no_privileges():
    answer = evaluator("grep -E 'NoNewPrivs|CapEff|CapPrm' /proc/self/status >&2; exit 5")

    fields = answer.error.partition("exit status 5: ")[2].split()
    assert dict(zip(fields[::2], fields[1::2], strict=True)) == {
        "CapPrm:": "0" * 16,
        "CapEff:": "0" * 16,
        "NoNewPrivs:": "1",
    }


_PRIVATE = """
import os, subprocess
from aw_graders.processes.privacy import become_private
def read():
    code = "grep -ac planted-secret /proc/$PPID/environ || echo closed"
    return subprocess.run(["/bin/bash", "-c", code], capture_output=True).stdout.strip().decode()
print(read(), become_private(), read())
"""


def test_the_environment_of_this_process_is_closed_to_others_of_its_user():
    before = ["/usr/bin/unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
    if os.geteuid() != 0:
        before = []
    elif subprocess.run([*before, "/bin/true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("root may read everything, and this machine has no user namespaces")

    ended = subprocess.run(
        [*before, sys.executable, "-c", _PRIVATE],
        capture_output=True,
        check=True,
        env={"GH_TOKEN": "planted-secret", "PYTHONPATH": str(ROOT / "src")},
    )

    assert ended.stdout.split() == [b"1", b"True", b"closed"]


# --- What outlives it -------------------------------------------------------

_LEFT = {
    "in the background": "sleep {} &",
    "with its outputs closed": "sleep {} > /dev/null 2>&1 < /dev/null &",
    "in a session of its own": "setsid sleep {} > /dev/null 2>&1 &",
    "in a session that forked": "setsid -f sleep {} > /dev/null 2>&1",
    "without hang-ups": "nohup sleep {} > /dev/null 2>&1 &",
    "disowned": "sleep {} & disown -a",
    "forked twice": "( ( sleep {} & ) & )",
    "forked twice in sessions": "( setsid bash -c 'setsid sleep {} & disown' > /dev/null 2>&1 & )",
    "deaf to signals": "( trap '' TERM HUP INT; sleep {} ) &",
    "stopped": "sleep {} & kill -STOP $!",
    "as a co-process": "coproc sleep {}",
    "as a substitution": "exec 7< <(sleep {})",
    "restarting itself": "( while :; do setsid sleep {}; done ) > /dev/null 2>&1 &",
}


@pytest.mark.parametrize("how", _LEFT)
def test_nothing_outlives_an_evaluator(how):
    # A time to sleep that is this test's alone.
    mark = f"3{os.getpid():07d}{[*_LEFT].index(how):02d}"
    started = time.monotonic()

    answer = evaluator(f"{_LEFT[how].format(mark)}\n{_GOOD}")

    assert getattr(answer, "value", answer) == 1
    assert time.monotonic() - started < 10
    assert processes_with(f"sleep {mark}") == []


def test_nothing_outlives_a_time_out(monkeypatch):
    monkeypatch.setattr(bash, "EVALUATOR_SECONDS", 0.5)
    mark = f"4{os.getpid():07d}"

    answer = evaluator(f"setsid sleep {mark} & sleep {mark}; {_GOOD}")

    assert answer == Failure("timed out: the evaluator ran longer than 0.5 seconds")
    assert processes_with(f"sleep {mark}") == []


def test_a_time_out_cannot_be_ignored(monkeypatch):
    monkeypatch.setattr(bash, "EVALUATOR_SECONDS", 0.5)

    answer = evaluator("trap '' TERM HUP INT QUIT\nkill -STOP $PPID $$\nwhile :; do :; done")

    assert answer == Failure("timed out: the evaluator ran longer than 0.5 seconds")


# Each waits for its turn, so that the bomb grows as fast as the machine lets it.
_BOMBS = {
    "pipes": "b() { b | b & }; b; sleep 20",
    "loops": "while :; do sleep 20 & done",
    "sessions": 'b() { setsid bash -c "$(declare -f b); b" & setsid bash -c "$(declare -f b); b"; }; b',
}


@pytest.mark.parametrize("kind", _BOMBS)
def test_a_fork_bomb_is_stopped(kind):
    started = time.monotonic()

    answer = evaluator(_BOMBS[kind])

    assert answer == Failure("the evaluator started more than 256 processes")
    assert time.monotonic() - started < 20


def test_memory_is_bounded_over_all_processes(monkeypatch):
    monkeypatch.setattr(bash, "_GROUP", Group(limits.MAX_EVALUATOR_PROCESSES, 200 << 20))
    monkeypatch.setattr(bash, "MAX_EVALUATOR_MEMORY_BYTES", 200 << 20)
    half = "(head -c 150000000 /dev/zero | tail -c 149000000; sleep 10) > /dev/null"

    answer = evaluator(f"{half} &\n{half} &\n{half} &\nwait\n{_GOOD}")

    assert answer == Failure("the evaluator used more than 200 MiB of memory")


def test_its_folder_is_removed_whatever_it_did_to_it(home):
    code = (
        "mkdir -p a/b/c; echo x > a/b/c/f; ln -s / a/root; ln -s /etc/passwd a/b/link\n"
        "mkfifo a/pipe; chmod 000 a/b/c a/b a; chmod 0 ..; chmod 0 .\n"
    )

    answer = evaluator(code + _GOOD)

    assert getattr(answer, "value", answer) == 1
    assert os.listdir(home) == []
    assert os.path.exists("/etc/passwd")


def test_the_frozen_bytes_are_what_runs():
    answers = in_parallel(
        evaluator, ['printf \'%s\' "$(wc -c < "$0")" >&2; exit 5', "printf é >&2; exit 5"]
    )

    assert answers[0].error.endswith(": 53")
    assert answers[1].error.endswith(": é")


# --- Without a namespace for processes --------------------------------------

_WATCH = """
import json, sys
sys.path.insert(0, sys.argv[1])
import group
group._leave_processes = lambda libc: False
bounds = {"processes": 20, "resident_bytes": 1 << 30, "user": 65534}
print(json.dumps(group.watch(["/bin/bash", "-c", sys.argv[2]], bounds)))
"""


def _watched(code):
    folder = os.path.dirname(group_module.__file__)
    ended = subprocess.run(
        [sys.executable, "-c", _WATCH, folder, code], capture_output=True, timeout=60, check=True
    )
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("how", _LEFT)
def test_nothing_outlives_an_evaluator_on_a_machine_without_namespaces(how):
    mark = f"5{os.getpid():07d}{[*_LEFT].index(how):02d}"

    told = _watched(_LEFT[how].format(mark))

    assert told == {"status": 0, "breach": None, "namespace": False}
    assert processes_with(f"sleep {mark}") == []


def test_a_fork_bomb_is_stopped_on_a_machine_without_namespaces():
    mark = f"6{os.getpid():07d}"

    told = _watched(f"while :; do setsid sleep {mark} & done")

    assert told["breach"] == "processes"
    assert processes_with(f"sleep {mark}") == []


@pytest.mark.parametrize("code", ["kill -9 $$", "exit 137", "exit 7"])
def test_an_end_is_told_the_same_with_and_without_a_namespace(code):
    told = _watched(code)["status"]

    answer = evaluator(code)

    how = f"was ended by signal {-told}" if told < 0 else f"ended with exit status {told}"
    assert answer == Failure(f"the evaluator {how}")


# --- Staging ----------------------------------------------------------------


def test_a_machine_without_bash_is_named(monkeypatch):
    monkeypatch.setattr(bash, "_BASH", "/none/bash")

    answer = evaluator(_GOOD)

    assert isinstance(answer, Failure)


@pytest.mark.skipif(shutil.which("jq") is None, reason="this evaluator needs jq")
@pytest.mark.spec("G-5-67", "G-8-16", "D-C-5")
def test_a_session_arrives_whole_and_unchanged():
    copy = 'jq -cs \'[{id: "lines", value: length}, {id: "bytes", value: (map(tojson) | join("") | length)}]\' "$1"'

    answer = evaluator(copy)

    assert answer.value == len(lines())
    assert isinstance(answer, Answer)


@pytest.mark.parametrize("name", ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"])
def test_an_evaluator_can_open_its_streams_by_name(name):
    answer = evaluator(f"set -e\necho said > {name}\n{_GOOD} > /dev/stdout\ncat /dev/stdin")

    assert getattr(answer, "value", answer) == 1
