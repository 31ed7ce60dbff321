"""Files of a repository are read without leaving it and without following a link."""

import os

import pytest

from aw_graders.config.files import FileProblem
from aw_graders.flows.repository import Repository


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / ".github" / "workflows").mkdir(parents=True)
    (root / "a.sh").write_bytes(b"12345")
    monkeypatch.chdir(root)
    return root


def _repository(root):
    return Repository(root / ".github" / "workflows" / "demo.md")


@pytest.mark.parametrize(("most", "read"), [(9, b"12345"), (5, b"12345"), (3, b"1234")])
def test_one_byte_more_tells_that_there_was_more(root, most, read):
    assert _repository(root).read("a.sh", most) == read


@pytest.mark.parametrize("git", ["folder", "file"])
def test_the_root_is_the_nearest_repository(root, git):
    inner = root / "inner"
    inner.mkdir()
    if git == "folder":
        (inner / ".git").mkdir()
    else:
        (inner / ".git").write_text("gitdir: elsewhere")

    assert Repository(inner / "x.md").root == inner
    assert Repository(inner / "x.md").in_repository


def test_without_a_repository_the_root_is_the_folder_of_the_workflow(tmp_path):
    repository = Repository(tmp_path / "alone.md")

    assert (repository.root, repository.in_repository) == (tmp_path, False)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none.sh", "does not exist"),
        ("none/a.sh", "does not exist"),
        ("link.sh", "is a symbolic link"),
        ("linked/a.sh", "is a symbolic link"),
        ("folder", "is no regular file"),
        ("pipe", "is no regular file"),
        ("a.sh/b.sh", "cannot be read: Not a directory"),
        ("a\0.sh", "has a name that no file can have"),
        ("x" * 300, "cannot be read: File name too long"),
    ],
)
def test_what_is_no_regular_file_inside_is_refused(root, path, said):
    (root / "link.sh").symlink_to(root / "a.sh")
    (root / "linked").symlink_to(root)
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")

    with pytest.raises(FileProblem, match=said):
        _repository(root).read(path, 10)


def test_a_link_to_the_repository_itself_is_the_users_own_choice(root, tmp_path):
    (tmp_path / "link").symlink_to(root)

    repository = Repository(tmp_path / "link" / "x.md")

    assert repository.read("a.sh", 9) == b"12345"


def test_no_descriptor_stays_open(root):
    before = len(os.listdir("/proc/self/fd"))
    repository = _repository(root)
    for path in ("a.sh", "none/a.sh", ".github/workflows/none.sh"):
        try:
            repository.read(path, 9)
        except FileProblem:
            continue

    assert len(os.listdir("/proc/self/fd")) == before


def test_paths_are_shown_as_they_are_typed(root, monkeypatch):
    monkeypatch.chdir(root / ".github")
    relative = Repository(root.relative_to(root) / "workflows" / "demo.md")

    assert relative.inside(root / ".github" / "workflows" / "demo.md") == (
        ".github/workflows/demo.md"
    )
    assert relative.shown("a.sh") == "../a.sh"
    assert _repository(root).shown("a.sh") == str(root / "a.sh")
