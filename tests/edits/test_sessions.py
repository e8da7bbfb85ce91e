from pathlib import Path

import pytest

from convergebench.edits import load_sessions
from convergebench.errors import StudyError
from convergebench.types import KINDS


def test_sessions_are_linear_and_cover_every_kind() -> None:
    sessions = load_sessions()
    assert {kind for session in sessions for kind in session.kinds} == set(KINDS)
    assert all(len(session.steps) >= 4 for session in sessions)
    assert len({session.id for session in sessions}) == len(sessions)


def test_the_apple_session_is_there() -> None:
    apple = next(session for session in load_sessions() if session.id == "apple-colour")
    assert all(word in step for word, step in zip(("green", "more green", "yellow", "right"), apple.steps, strict=True))
    assert apple.steps[0] == "Make the apple green."


def test_own_sessions_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sessions.toml"
    path.write_text('[[session]]\nid = "one"\ntitle = "One"\nkinds = ["face"]\nsteps = ["Add a hat."]\n')
    assert load_sessions(path)[0].steps == ("Add a hat.",)


def test_a_session_without_steps_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sessions.toml"
    path.write_text('[[session]]\nid = "one"\ntitle = "One"\nkinds = ["face"]\nsteps = []\n')
    with pytest.raises(StudyError, match="steps"):
        load_sessions(path)
