"""The same code over the same session gives the same bytes, on whatever machine and for whomever."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from tests.support import ROOT
from tests.unit.runtimes.support import vectors

_CODES = vectors("repeated.json")
_TIMES = 3
_PARTS = 4
_HERE = {"TZ": "UTC", "LANG": "C", "HOME": "/", "PATH": "/usr/bin:/bin"}
_ELSEWHERE = {
    "TZ": "Asia/Kolkata",
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "de_DE.UTF-8",
    "HOME": "/nonexistent",
    "USER": "somebody",
    "PATH": "/bin",
    "NODE_OPTIONS": "--stack-size=500",
    "NODE_ICU_DATA": "/none",
    "UV_THREADPOOL_SIZE": "1",
    "POSIXLY_CORRECT": "1",
}


# In a user namespace this user has another number, and is not root.
_AS_ANOTHER = ["/usr/bin/unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]


def _results(order, environment, folder, before):
    script = str(ROOT / "tests" / "unit" / "runtimes" / "repeat.py")
    ended = subprocess.run(
        [*before, sys.executable, "-B", script],
        input=json.dumps(order).encode(),
        capture_output=True,
        check=False,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return json.loads(ended.stdout)


@cache
def _as_another():
    """Return what runs a command as another user, or nothing where that cannot be had."""
    try:
        tried = subprocess.run([*_AS_ANOTHER, "/bin/true"], capture_output=True, check=False)
    except OSError:
        return []
    return _AS_ANOTHER if tried.returncode == 0 else []


def test_there_are_fifty_codes():
    assert len(_CODES["javascript"]) + len(_CODES["bash"]) > 50


@pytest.mark.parametrize("part", range(_PARTS))
def test_results_are_the_same_bytes_every_time_and_everywhere(part, tmp_path):
    order = {kind: codes[part::_PARTS] for kind, codes in _CODES.items()}
    codes = [*order["javascript"], *order["bash"]]
    order["times"] = _TIMES

    with ThreadPoolExecutor(2) as pool:
        here = pool.submit(_results, order, _HERE, tmp_path, [])
        elsewhere = pool.submit(_results, order, _ELSEWHERE, "/", _as_another())

    for code, first, second in zip(codes, here.result(), elsewhere.result(), strict=True):
        assert {*first} == {*second} == {first[0]}, code
