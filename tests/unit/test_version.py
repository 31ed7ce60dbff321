from importlib.metadata import metadata


def test_distribution_is_installed_under_its_name():
    assert metadata("aw-graders")["Name"] == "aw-graders"
