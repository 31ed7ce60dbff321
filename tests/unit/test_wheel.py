"""A built wheel holds the whole package, and the package runs from it."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

import aw_graders
from tests.support import ROOT

_SOURCES = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build from a copy, so that nothing is left behind in the tree: the wheel, and the copy."""
    tree = tmp_path_factory.mktemp("tree")
    for name in _SOURCES:
        shutil.copy2(ROOT / name, tree)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tree / "src", ignore=ignored)
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "--isolated", "wheel", "--quiet", "--no-index"]
    command += [
        "--disable-pip-version-check",
        "--no-deps",
        "--no-build-isolation",
        "--no-cache-dir",
    ]
    run = subprocess.run(
        [*command, "--wheel-dir", str(target), str(tree)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = target.iterdir()
    return wheel, tree


def _packaged(folder):
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in files
        if "__pycache__" not in path.parts and not path.parts[0].endswith(".egg-info")
    }


def test_a_wheel_holds_every_file_of_the_package_and_its_licence(built):
    wheel, tree = built
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    packaged = {name for name in names if ".dist-info/" not in name}
    assert packaged == _packaged(tree / "src")
    assert "aw_graders/py.typed" in packaged
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert wheel.name == f"aw_graders-{aw_graders.__version__}-py3-none-any.whl"


def test_the_package_runs_from_an_unpacked_wheel(built, tmp_path):
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(tmp_path)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "LC_ALL": "C.UTF-8"}

    def python(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        ).stdout

    assert python("-c", "import aw_graders; print(aw_graders.__file__)").startswith(str(tmp_path))
    assert python("-m", "aw_graders", "--version") == f"aw {aw_graders.__version__}\n"
    graded = python(
        "-m", "aw_graders", "graders", "run", "--session", str(ROOT / "examples/workflow-run.jsonl")
    )
    assert "10 graders" in graded
