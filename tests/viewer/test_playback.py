"""The clock of a motion, without its thread."""

import time

import pytest

import pliant
from pliant.render.log_motion import LogMotion
from pliant.viewer.viewer import Player


@pytest.fixture
def drawn() -> list[int]:
    return []


@pytest.fixture
def player(hop: pliant.Log, drawn: list[int]) -> Player:
    return Player(LogMotion(hop, "test"), drawn.append)


def test_goes_steps_and_stays_within(player: Player, drawn: list[int]) -> None:
    player.go(0.1)
    assert (player.t, player.step) == (0.1, 50)
    player.go_by(1)
    assert player.step == 51
    player.go_by(-10_000)
    assert (player.t, player.step) == (0.0, 0)
    player.go(99.0)
    assert player.step == len(player.motion.t) - 1
    player.go(99.0)
    assert drawn == [50, 51, 0, len(player.motion.t) - 1]  # what is there already is not drawn again


def test_play_at_the_end_starts_again(player: Player) -> None:
    told = []
    player.on_change(lambda: told.append(player.is_playing))
    player.go(99.0)
    player.toggle()
    assert player.is_playing
    assert player.t == 0
    player.toggle()
    assert not player.is_playing
    assert told[-1] is False


def test_the_thread_plays_to_the_end_and_stops(player: Player, drawn: list[int]) -> None:
    player.loops, player.speed = False, 20.0
    player.start()
    player.toggle()
    end = time.monotonic() + 20
    while player.is_playing and time.monotonic() < end:
        time.sleep(0.01)
    player.stop()
    assert drawn[0] == 0
    assert drawn[-1] == len(player.motion.t) - 1
    assert drawn == sorted(drawn)
