"""The state of the pumps that is kept over a restart."""

from pathlib import Path

from local.pumps.journal import Journal


def test_positions_survive(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.begin("r", {"s1": "5"})
    journal.advance("r", "s2", "7")
    journal.advance("r", "s2", "8")
    journal.finish("r", "s1")
    journal.close()

    again = Journal(tmp_path / "j")

    assert again.has_started("r")
    assert not again.has_started("other")
    assert again.position("r", "s1") == ("5", True)
    assert again.position("r", "s2") == ("8", False)
    assert again.position("r", "s3") == (None, False)
    again.close()


def test_objects_are_known_by_version(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.add_object("b", ("k", "1", False))
    journal.add_object("b", ("k", "2", True))
    journal.add_object("b", ("other", "3", False))
    journal.remove_object("b", ("k", "1", False))

    assert journal.objects("b", "k") == {("k", "2", True)}
    assert journal.objects("b") == {("k", "2", True), ("other", "3", False)}
    journal.close()


def test_the_last_run_of_a_schedule_is_known(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    assert journal.last_run("r") is None
    journal.ran("r", 5.0)

    assert journal.last_run("r") == 5.0
    journal.close()
