"""OpenSpiel plays the games of this package, and its own tests pass."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sleuth_env import holmes, sleuth
from sleuth_env.game import load_game
from tests.support.games import TRIED
from tests.support.replaying import Replay
from tests.support.spiel import TWINS, HolmesTwin, SleuthTwin, parameters, played_twice
from tests.support.strategies import KNOWING, LIVELY, QUICK_VARIANTS
from tests.support.substitution import History, play

pyspiel = pytest.importorskip("pyspiel")
openspiel = pytest.importorskip("sleuth_env.envs.openspiel")
generate_playthrough = pytest.importorskip("open_spiel.python.algorithms.generate_playthrough")
ismcts = pytest.importorskip("open_spiel.python.algorithms.ismcts")

HOLMES_VARIANTS = [
    holmes.Options(3, cases=2),
    holmes.Options(4, cases=2, fast_play=True, reward="points", after_alibi="left_of_alibi"),
    holmes.Options(5, cases=2, reward="case", must_arrest=True, new_case_location="city"),
    holmes.Options(6, cases=1, reward="rank", guilty_hand="discarded"),
    holmes.Options(7, max_turns=40),
    holmes.Options(8, max_turns=60, reward="case", fast_play=True),
]
GAMES = [("sleuth", options) for options in QUICK_VARIANTS] + [("holmes", options) for options in HOLMES_VARIANTS]
# What takes a second a game is done with a few.
SOME = [
    ("sleuth", sleuth.Options(3)),
    ("sleuth", sleuth.Options(4, missing=2, double_interrogation=True, winners=2)),
    ("sleuth", sleuth.Options(5, winners=2, announce_result=False, max_turns=20)),
    ("sleuth", sleuth.Options(6, accuse="own_turn", max_turns=20)),
    ("sleuth", sleuth.Options(7, last_survivor_wins=True, offer_order="clockwise")),
    ("holmes", holmes.Options(3, cases=1, max_turns=30)),
    ("holmes", holmes.Options(4, fast_play=True, reward="case", max_turns=20)),
    ("holmes", holmes.Options(5, must_arrest=True, reward="points", max_turns=20)),
    ("holmes", holmes.Options(6, reward="rank", max_turns=20)),
    ("holmes", holmes.Options(7, max_turns=10)),
    ("holmes", holmes.Options(8, max_turns=10)),
]


def loaded(name: str, options: Any, **more: Any) -> Any:
    return pyspiel.load_game(f"python_{name}", {**parameters(options), **more})


def begun(name: str, options: Any, seed: int = 1) -> tuple[Any, Any]:
    """Return a game by the package's rules and the same in OpenSpiel."""
    return TWINS[name](load_game(name), options, seed), loaded(name, options).new_initial_state()


# --- the same game ---


@pytest.mark.parametrize(("name", "options"), GAMES, ids=str)
def test_actions_rewards_and_what_everybody_knows_are_those_of_the_rules(name: str, options: Any) -> None:
    twin, spiel = begun(name, options, 0)
    paid = np.zeros(options.num_players)
    for _ in played_twice(twin, spiel, 250):
        paid += twin.rewards[0]
        assert spiel.legal_actions() == twin.legal()
        assert spiel.current_player() == (-4 if spiel.is_terminal() else twin.states["actor"][0])
        assert spiel.rewards() == twin.rewards[0].tolist()
        assert spiel.returns() == pytest.approx(paid)
        assert list(spiel._views) == twin.views()
        assert spiel._content == twin.settled()


def test_the_discards_of_sleuth_are_turned_over_in_some_of_these_games() -> None:
    twin, spiel = begun("sleuth", sleuth.Options(7, accuse="own_turn"), 3)
    assert isinstance(twin, SleuthTwin)
    sizes = [int(twin.states["pile_size"][0]) for _ in played_twice(twin, spiel, 60)]
    assert max(np.diff(sizes)) > 0


def test_everything_that_chance_draws_in_holmes_is_drawn_in_some_of_these_games() -> None:
    twin, spiel = begun("holmes", HOLMES_VARIANTS[0], 0)
    assert isinstance(twin, HolmesTwin)
    assert list(played_twice(twin, spiel))
    assert twin.kinds == {1, 2, 3, 4}


@pytest.mark.parametrize(("name", "options"), SOME, ids=str)
def test_chance_draws_sound_games(name: str, options: Any) -> None:
    game = load_game(name)
    spiel = loaded(name, options).new_initial_state()
    chance = np.random.default_rng(1)
    for _ in range(400):
        if spiel.is_terminal():
            break
        if spiel.is_chance_node():
            outcomes, chances = zip(*spiel.chance_outcomes(), strict=True)
            assert list(outcomes) == sorted(set(outcomes))
            assert sum(chances) == pytest.approx(1)
            assert max(outcomes) < spiel.get_game().max_chance_outcomes()
            spiel.apply_action(int(chance.choice(outcomes, p=chances)))
        else:
            state = np.frombuffer(spiel._content, game.STATE).copy()
            assert game.problems(game.make_rules(options), state) == []
            assert state["rng"] == 0
            spiel.apply_action(int(chance.choice(spiel.legal_actions())))


def drawn_out(spiel: Any, chance: np.random.Generator) -> Any:
    """Let chance draw until somebody decides."""
    while spiel.is_chance_node():
        outcomes, chances = zip(*spiel.chance_outcomes(), strict=True)
        spiel.apply_action(int(chance.choice(outcomes, p=chances)))
    return spiel


def test_who_is_offered_to_accuse_first_is_drawn_evenly() -> None:
    options = sleuth.Options(3, first_player="seat_0")
    _, spiel = begun("sleuth", options)
    chance = np.random.default_rng(1)
    drawn_out(spiel, chance)
    spiel.apply_action(spiel.legal_actions()[0])
    assert spiel.chance_outcomes() == [(seat, 1 / 3) for seat in range(3)]
    spiel.apply_action(2)
    spiel.apply_action(sleuth.parse_action("pass", options))
    assert spiel.chance_outcomes() == [(0, 0.5), (1, 0.5)]
    spiel.apply_action(1)
    assert spiel.current_player() == 1
    # The last one is certain.
    spiel.apply_action(sleuth.parse_action("pass", options))
    assert spiel.current_player() == 0


def test_search_cards_left_in_the_pile_are_drawn_before_the_discards_are_turned_over() -> None:
    options = sleuth.Options(7, accuse="own_turn", first_player="seat_0")
    _, spiel = begun("sleuth", options)
    chance = np.random.default_rng(1)
    drawn_out(spiel, chance)
    # 26 cards lie in the pile; after six exchanges there are two, and 24 discards.
    for _ in range(6):
        spiel.apply_action(sleuth.parse_action("exchange", options))
        drawn_out(spiel, chance)
    before = np.frombuffer(spiel._content, sleuth.STATE)[0]
    left = set(before["pile"][:2].tolist())
    assert before["pile_size"] == 2
    spiel.apply_action(sleuth.parse_action("exchange", options))
    state = np.frombuffer(spiel._content, sleuth.STATE)[0]
    assert {card for card in range(54) if int(state["search"][6]) >> card & 1} == left
    assert len(spiel.chance_outcomes()) == 28
    spiel.apply_action(spiel.chance_outcomes()[0][0])
    assert len(spiel.chance_outcomes()) == 27


def test_cards_are_drawn_in_holmes_as_often_as_they_lie_in_the_pile() -> None:
    options = holmes.Options(3)
    for seed in range(30):
        twin, spiel = begun("holmes", options, seed)
        for _ in played_twice(twin, spiel, 30):
            if spiel.is_terminal() or "draw" not in [holmes.action_name(a, options) for a in spiel.legal_actions()]:
                continue
            pile = Counter(twin.states["pile"][0, : twin.states["pile_size"][0]].tolist())
            spiel.apply_action(holmes.parse_action("draw", options))
            assert spiel.chance_outcomes() == [(t, pile[t] / pile.total()) for t in sorted(pile)]
            return
    pytest.fail("nobody could draw")


# --- OpenSpiel's own tests ---


@pytest.mark.parametrize(("name", "options"), SOME, ids=str)
def test_the_random_simulation_of_openspiel_passes(name: str, options: Any) -> None:
    pyspiel.random_sim_test(loaded(name, options), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("record", ["raw", "exact"])
def test_it_passes_with_the_other_kinds_of_observation(record: str) -> None:
    game = loaded("sleuth", sleuth.Options(3), record=record)
    pyspiel.random_sim_test(game, num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("game", ["python_sleuth(players=3)", "python_holmes(players=3,max_turns=4)"])
def test_a_playthrough_is_the_same_when_it_is_played_again(game: str, tmp_path: Path) -> None:
    flags = pytest.importorskip("absl.flags")
    flags.FLAGS.mark_as_parsed()
    text = generate_playthrough.playthrough(game, action_sequence=None, seed=1)
    (tmp_path / "playthrough.txt").write_text(text)
    assert generate_playthrough.replay(str(tmp_path / "playthrough.txt")) == (text, text)


# --- snapshots ---


@pytest.mark.parametrize(("name", "options"), SOME[:2] + SOME[5:7], ids=str)
def test_copies_and_texts_of_a_state_go_on_as_it_does(name: str, options: Any) -> None:
    game = loaded(name, options)
    state = game.new_initial_state()
    chance = np.random.default_rng(2)
    for number in range(160):
        if state.is_terminal():
            break
        twins = []
        if number % 9 == 0:
            same_game, read = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
            assert str(same_game) == str(game)
            twins = [state.clone(), game.deserialize_state(state.serialize()), pickle.loads(pickle.dumps(state)), read]
        action = int(chance.choice(state.legal_actions()))
        last = str(state)
        for twin in twins:
            assert str(twin) == last
            twin.apply_action(action)
            assert str(state) == last
        state.apply_action(action)
        for twin in twins:
            assert str(twin) == str(state)
            assert twin.history() == state.history()
            assert twin.returns() == state.returns()
            if not state.is_chance_node():
                for seat in range(options.num_players):
                    assert twin.information_state_string(seat) == state.information_state_string(seat)


# --- what a player knows ---


def observed(game: Any, state: Any, seat: int) -> list[Any]:
    """Return everything that a seat receives."""
    everybody, one = pyspiel.PrivateInfoType.NONE, pyspiel.PrivateInfoType.SINGLE_PLAYER
    parts = [(True, everybody), (False, one), (False, everybody)]
    kinds = [pyspiel.IIGObservationType(public, False, private) for public, private in parts]
    texts = [game.make_py_observer(kind).string_from(state, seat) for kind in kinds]
    texts += [state.observation_string(seat), state.information_state_string(seat)]
    return [*texts, state.observation_tensor(seat)]


def moment(game: Any, content: bytes) -> Any:
    """Return a moment of a game without a past."""
    state = game.new_initial_state()
    state._content = content
    state._draws = ()
    return state


@pytest.mark.parametrize("name", ["sleuth", "holmes"])
@pytest.mark.parametrize("at", range(4))
def test_what_a_seat_cannot_know_changes_nothing_that_it_receives(name: str, at: int) -> None:
    tried = TRIED[name]
    options = tried.options[at]
    game = loaded(name, options)
    differ = 0
    for seed in range(3):
        for viewer in range(options.num_players):
            true, changed = tried.twice(options, viewer, seed)
            differ += true.tobytes() != changed.tobytes()
            ours, theirs = (observed(game, moment(game, states.tobytes()), viewer) for states in (true, changed))
            assert ours == theirs
    assert differ


def information_states(game: Any, history: History, viewer: int) -> list[str]:
    """Return the information states of a seat whenever it decides, and when nobody is offered to accuse."""
    state = moment(game, history.states[0].tobytes())
    state._look()
    texts = [state.information_state_string(viewer)]
    for before, action, after in zip(history.states[:-1], history.actions, history.states[1:], strict=True):
        actor = int(before["actor"][0])
        state._remember(actor, [state._views[actor] + action.to_bytes(4, "little")])
        state._content = after.tobytes()
        state._look()
        if after["actor"][0] == viewer or after["phase"][0] != sleuth.OFFER:
            texts.append(state.information_state_string(viewer))
    return texts


@pytest.mark.parametrize(
    "options",
    [
        sleuth.Options(3),
        sleuth.Options(4, missing=2, double_interrogation=True),
        sleuth.Options(5, winners=2),
        sleuth.Options(4, winners=3, announce_result=False),
    ],
    ids=str,
)
def test_hidden_cards_and_the_order_of_offers_change_no_information_state(options: Any) -> None:
    game = loaded("sleuth", options)
    for seed, player in enumerate((LIVELY, KNOWING)):
        history = play(options, seed, player).cut(40)
        for viewer in range(options.num_players):
            changed = Replay(history, viewer, seed, "asked").history
            decisions = [information_states(game, each, viewer) for each in (history, changed)]
            assert decisions[0] == decisions[1]


@pytest.mark.parametrize(("name", "options"), SOME, ids=str)
def test_an_information_state_tells_all_that_its_player_has_done_and_seen_when_they_did_it(
    name: str, options: Any
) -> None:
    pasts: dict[str, Any] = {}
    for seed in range(2):
        twin, spiel = begun(name, options, 0)
        twin.follow(spiel)
        twin.random.seed(seed)
        done: list[list[Any]] = [[] for _ in range(options.num_players)]
        for _ in range(30):
            for seat in range(options.num_players):
                past = (seat, tuple(done[seat]), spiel._views[seat])
                assert pasts.setdefault(spiel.information_state_string(seat), past) == past
            if spiel.is_terminal():
                break
            actor = spiel.current_player()
            action = twin.choose()
            done[actor].append((spiel._views[actor], action))
            twin.take(action)
            spiel.apply_action(action)
            twin.follow(spiel)
    assert len(pasts) > 20


def test_the_public_text_is_the_same_for_everybody() -> None:
    for name, options in SOME:
        twin, spiel = begun(name, options)
        kind = pyspiel.IIGObservationType(True, False, pyspiel.PrivateInfoType.NONE)
        observer = spiel.get_game().make_py_observer(kind)
        for _ in played_twice(twin, spiel, 40):
            assert len({observer.string_from(spiel, seat) for seat in range(options.num_players)}) == 1


def test_the_tensor_is_the_observation_of_the_other_faces() -> None:
    for name, options in SOME[:3] + SOME[5:7]:
        twin, spiel = begun(name, options)
        game = load_game(name)
        layout = game.observation_layout(options, game.RECORDS[0])
        observer = spiel.get_game().make_py_observer()
        for _ in played_twice(twin, spiel, 20):
            for seat in range(options.num_players):
                views = np.frombuffer(twin.views()[seat], game.VIEW).copy()
                rows = np.zeros((1, layout.size), np.float32)
                game.Observer(twin.rules, views, game.RECORDS[0]).write(rows)
                observer.set_from(spiel, seat)
                assert (observer.tensor == rows[0]).all()
                assert list(observer.dict) == [block.name for block in layout]
                assert spiel.observation_tensor(seat) == rows[0].tolist()


def test_where_chance_draws_nobody_is_to_decide() -> None:
    _, spiel = begun("sleuth", sleuth.Options(3))
    chance = np.random.default_rng(1)
    drawn_out(spiel, chance)
    spiel.apply_action(spiel.legal_actions()[0])
    assert spiel.is_chance_node()
    assert not any("to decide" in spiel.observation_string(seat) for seat in range(3))


def test_before_the_deal_nobody_sees_anything() -> None:
    for name in ("sleuth", "holmes"):
        spiel = pyspiel.load_game(f"python_{name}").new_initial_state()
        spiel.apply_action(spiel.legal_actions()[0])
        assert spiel.observation_string(1) == spiel.information_state_string(1) == "I am player_1"
        assert not any(spiel.observation_tensor(1))


# --- searches ---


@pytest.mark.parametrize(("name", "options"), SOME, ids=str)
def test_a_resampled_state_is_one_that_the_player_cannot_tell_from_this_one(name: str, options: Any) -> None:
    game = load_game(name)
    twin, spiel = begun(name, options)
    contents = set()
    for number, _ in enumerate(played_twice(twin, spiel, 60)):
        if spiel.is_terminal():
            break
        seat = spiel.current_player()
        other = spiel.resample_from_infostate(seat, pyspiel.UniformProbabilitySampler(0.0, 1.0))
        assert observed(spiel.get_game(), other, seat) == observed(spiel.get_game(), spiel, seat)
        assert other.current_player() == seat
        assert other.legal_actions() == spiel.legal_actions()
        state = np.frombuffer(other._content, game.STATE).copy()
        assert game.problems(game.make_rules(options), state) == []
        contents.add((number, other._content != spiel._content))
        drawn_out(other, np.random.default_rng(number))
        other.apply_action(other.legal_actions()[-1])
    assert any(differ for _, differ in contents)


def test_nothing_is_resampled_while_chance_draws() -> None:
    _, spiel = begun("sleuth", sleuth.Options(3))
    with pytest.raises(ValueError, match="only where a player is to decide"):
        spiel.resample_from_infostate(0, pyspiel.UniformProbabilitySampler(0.0, 1.0))


def test_is_mcts_plays() -> None:
    for name, options in (("sleuth", sleuth.Options(3)), ("holmes", holmes.Options(3, max_turns=6))):
        twin, spiel = begun(name, options)
        twin.follow(spiel)
        evaluator = pytest.importorskip("open_spiel.python.algorithms.mcts").RandomRolloutEvaluator(
            1, np.random.RandomState(1)
        )
        bot = ismcts.ISMCTSBot(spiel.get_game(), evaluator, 1.0, 8, random_state=np.random.RandomState(1))
        assert bot.step(spiel) in spiel.legal_actions()


def test_the_examples_of_the_manual_run() -> None:
    page = (Path(__file__).parents[2] / "docs" / "openspiel.md").read_text()
    examples = re.findall(r"^```py\n(.*?)^```", page, re.M | re.S)
    assert examples
    for example in examples:
        subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=True)


def test_the_example_runs() -> None:
    script = Path(__file__).parents[2] / "examples" / "with_openspiel.py"
    assert len(script.read_text().splitlines()) < 80
    command = [sys.executable, str(script), "--games", "2", "--simulations", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("IS-MCTS gets ")


# --- the game as OpenSpiel describes it ---


@pytest.mark.parametrize(("name", "options"), GAMES, ids=str)
def test_a_game_is_described_as_it_is(name: str, options: Any) -> None:
    game = loaded(name, options)
    least, most = {"sleuth": (3, 7), "holmes": (3, 8)}[name]
    assert game.num_players() == options.num_players
    assert (game.get_type().min_num_players, game.get_type().max_num_players) == (least, most)
    assert game.num_distinct_actions() == load_game(name).num_actions(options)
    assert game.max_game_length() >= options.max_turns
    assert game.max_chance_nodes_in_history() > 0
    assert game.min_utility() < game.max_utility()
    assert game.get_parameters()["players"] == options.num_players
    kind = pyspiel.GameType.RewardModel
    by_case = name == "holmes" and options.reward == "case"
    assert game.get_type().reward_model == (kind.REWARDS if by_case else kind.TERMINAL)


def test_actions_have_the_names_of_the_notation() -> None:
    _, spiel = begun("sleuth", sleuth.Options(3))
    drawn_out(spiel, np.random.default_rng(1))
    for action in spiel.legal_actions():
        name = sleuth.action_name(action, sleuth.Options(3))
        assert spiel.action_to_string(action) == name
        assert spiel.string_to_action(name) == action


def test_a_wrong_parameter_is_refused_with_the_legal_values() -> None:
    with pytest.raises(ValueError, match="players must be"):
        pyspiel.load_game("python_sleuth(players=9)")
    with pytest.raises(ValueError, match="record must be one of 'sheet', 'raw', 'exact'"):
        pyspiel.load_game("python_sleuth(record=all)")
    with pytest.raises(pyspiel.SpielError, match="num_players"):
        pyspiel.load_game("python_sleuth(num_players=3)")


def test_an_illegal_action_is_refused_in_words_and_changes_nothing() -> None:
    twin, spiel = begun("sleuth", sleuth.Options(3))
    twin.follow(spiel)
    before = str(spiel)
    with pytest.raises(ValueError, match="may not choose action 447 \\(pass\\) now"):
        spiel._apply_action(447)
    assert str(spiel) == before


def test_what_chance_cannot_draw_is_refused_and_changes_nothing() -> None:
    _, spiel = begun("sleuth", sleuth.Options(3))
    spiel.apply_action(16)
    before = str(spiel)
    for outcome in (16, 36, -1):
        with pytest.raises(ValueError, match=f"chance cannot draw {outcome} now"):
            spiel._apply_action(outcome)
    assert str(spiel) == before


def test_observers_refuse_what_they_do_not_have() -> None:
    game = pyspiel.load_game("python_sleuth")
    with pytest.raises(ValueError, match="take no parameters"):
        game.make_py_observer(None, {"x": 1})
    with pytest.raises(ValueError, match="not of all"):
        game.make_py_observer(pyspiel.IIGObservationType(True, False, pyspiel.PrivateInfoType.ALL_PLAYERS))
    with pytest.raises(ValueError, match="together"):
        game.make_py_observer(pyspiel.IIGObservationType(True, True, pyspiel.PrivateInfoType.NONE))


# --- imports ---


def test_the_package_does_not_import_openspiel_by_itself() -> None:
    code = "import sys, sleuth_env.sleuth_v0, sleuth_env.holmes_v0; print('pyspiel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
