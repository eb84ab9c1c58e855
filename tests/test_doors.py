"""Every public function that takes arrays checks them: what loses nothing is taken, the rest is refused in one line.

Each door stands in `DOORS` with arguments that it takes; all that is tried on it follows from these.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher
from numpy.lib.stride_tricks import as_strided

from sleuth_env import deduction, holmes, load_policy, sleuth
from sleuth_env.deduction.evidence import EVIDENCE, MAX_SETS, Contradiction, EvidenceError
from sleuth_env.doors import ArrayError, unchecked
from sleuth_env.game import kernels_of
from sleuth_env.matches.table import Table
from sleuth_env.sleuth import telling
from sleuth_env.sleuth.belief import list_asks, odds
from sleuth_env.sleuth.bots import BOTS
from sleuth_env.sleuth.clues import read_sheet

OPTIONS = sleuth.Options(num_players=3)
RULES = sleuth.make_rules(OPTIONS)
GAMES = 4
NUM_ACTIONS = sleuth.num_actions(OPTIONS)
EXCHANGE = sleuth.action_blocks(OPTIONS)["exchange"].start
ACCUSE = sleuth.action_blocks(OPTIONS)["accuse"].start
# What names of arguments stand for arrays.
ARRAYS = {"rules", "states", "views", "evidence", "seeds", "legal", "seats", "out"}
# What names of arguments stand for one record.
RECORDS = {"view", "seen", "state", "first_state"}


def states() -> np.ndarray:
    """Return games a few questions on."""
    found = sleuth.new_states(GAMES)
    kernels = kernels_of(sleuth)
    kernels.deal(RULES, found, np.arange(GAMES, dtype=np.uint64))
    rng = np.random.default_rng(0)
    for _ in range(6):
        kernels.step(RULES, found, asked(found, rng), np.zeros(GAMES, np.uint8), np.zeros((GAMES, 3)))
    return found


def asked(found: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a question, or a pass, for each game."""
    marks = np.zeros((GAMES, NUM_ACTIONS), np.uint8)
    kernels_of(sleuth).legal(RULES, found, marks)
    marks[:, sleuth.action_blocks(OPTIONS)["accuse"]] = 0
    marks[:, sleuth.action_blocks(OPTIONS)["final"]] = 0
    return np.array([rng.choice(np.flatnonzero(row)) for row in marks])


def views() -> np.ndarray:
    found = states()
    seen = np.zeros(GAMES, sleuth.VIEW)
    kernels_of(sleuth).view(RULES, found, found["actor"].astype(np.int64), seen)
    return seen


def marks() -> np.ndarray:
    found = np.zeros((GAMES, NUM_ACTIONS), np.uint8)
    kernels_of(sleuth).legal(RULES, states(), found)
    return found


def seeds() -> np.ndarray:
    return np.arange(GAMES, dtype=np.uint64)


def deals() -> np.ndarray:
    return sleuth.belief(RULES, views()[:1]).sample(GAMES, np.random.default_rng(0)).astype(np.int64)


def evidence() -> np.ndarray:
    return deduction.make_evidence(3, range(6), [(0, range(6), 3, 3), (1, range(6), 2, 2), (2, range(6), 1, 1)])


@dataclass(frozen=True)
class Door:
    """A public function that takes arrays.

    Args:
        call: the function.
        arguments: makes what it takes, by name, in the order of its arguments.
        written: those that it writes into.
        single: those that are a single row.
        one: those that are one record, or an array of one.
    """

    call: Callable[..., Any]
    arguments: Callable[[], dict[str, np.ndarray]]
    written: tuple[str, ...] = ()
    single: tuple[str, ...] = field(default=("rules", "evidence"))
    one: tuple[str, ...] = ()

    def result(self, arguments: dict[str, Any]) -> list[bytes]:
        """Call it, and return what it returned or wrote as bytes."""
        returned = self.call(*arguments.values())
        found = [
            np.ascontiguousarray(arguments[name]).astype(np.int64)
            if arguments[name].dtype.names is None
            else np.ascontiguousarray(arguments[name])
            for name in self.written
        ]
        if isinstance(returned, (str, np.ndarray, np.void)):
            found.append(returned)
        elif isinstance(returned, tuple):
            found.extend(returned)
        elif isinstance(returned, dict):
            found.extend(returned.values())
        elif hasattr(returned, "holders"):
            found.append(returned.holders)
        return [np.asarray(array).tobytes() for array in found]


def decision() -> dict[str, np.ndarray]:
    return {"views": views(), "legal": marks(), "seeds": seeds()}


def given_to(**more: Callable[[], np.ndarray]) -> Callable[[], dict[str, np.ndarray]]:
    return lambda: {"rules": RULES, **{name: make() for name, make in more.items()}}


def zeros(*shape: int, dtype: Any = np.uint8) -> Callable[[], np.ndarray]:
    return lambda: np.zeros(shape, dtype)


def one_view_to(call: Callable[..., Any], name: str = "seen") -> Door:
    """Return the door of a function of one view."""
    return Door(call, lambda: {name: views()[:1]}, one=(name,))


def one_state_to(call: Callable[..., Any], make: Callable[[], np.ndarray], name: str = "state") -> Door:
    """Return the door of a function of one state."""
    return Door(call, lambda: {name: make()[:1]}, one=(name,))


def dealt() -> np.ndarray:
    found = sleuth.new_states(1)
    kernels_of(sleuth).deal(RULES, found, seeds()[:1])
    return found


def exchanged_once() -> dict[str, np.ndarray]:
    """Return a game after its first action, and what somebody knows of it."""
    found = dealt()
    kernels_of(sleuth).step(RULES, found, np.array([EXCHANGE]), np.zeros(1, np.uint8), np.zeros((1, 3)))
    seen = np.zeros(1, sleuth.VIEW)
    kernels_of(sleuth).view(RULES, found, np.zeros(1, np.int64), seen)
    return {"state": found, "seen": seen}


@cache
def policy() -> Any:
    return load_policy("pretrained:sleuth-3p")


DOORS: dict[str, Door] = {
    "deal": Door(sleuth.deal, given_to(states=lambda: sleuth.new_states(GAMES), seeds=seeds), ("states",)),
    "legal": Door(sleuth.legal, given_to(states=states, out=zeros(GAMES, NUM_ACTIONS)), ("out",)),
    "step": Door(
        sleuth.step,
        given_to(
            states=states,
            actions=lambda: asked(states(), np.random.default_rng(1)),
            taken=zeros(GAMES),
            rewards=zeros(GAMES, 3, dtype=np.float64),
        ),
        ("states", "taken", "rewards"),
    ),
    "ends": Door(sleuth.ends, given_to(states=states, ended=zeros(GAMES)), ("ended",)),
    "settled": Door(
        sleuth.settled,
        given_to(states=states, settled=zeros(GAMES, 3), due=zeros(GAMES, 3, dtype=np.float64)),
        ("settled", "due"),
    ),
    "standings": Door(sleuth.standings, given_to(states=states, places=zeros(GAMES, 3, dtype=np.int32)), ("places",)),
    "counts": Door(sleuth.counts, given_to(states=states)),
    "problems": Door(sleuth.problems, given_to(states=states)),
    "view": Door(
        sleuth.view,
        given_to(states=states, seats=lambda: np.array([0, 1, 2, 0]), views=zeros(GAMES, dtype=sleuth.VIEW)),
        ("views",),
    ),
    "belief": Door(sleuth.belief, given_to(views=lambda: views()[:1]), single=("rules", "views")),
    "beliefs": Door(sleuth.beliefs, given_to(views=views)),
    "weighted_belief": Door(
        lambda rules, views: sleuth.weighted_belief(rules, views, deals=20),
        given_to(views=lambda: views()[:1]),
        single=("rules",),
    ),
    "odds": Door(odds, given_to(views=views)),
    "list_asks": Door(list_asks, given_to(views=views)),
    "read_sheet": Door(read_sheet, given_to(views=views)),
    "write_observations": Door(
        sleuth.write_observations,
        given_to(views=views, out=zeros(GAMES, sleuth.observation_size(OPTIONS), dtype=np.float32)),
        ("out",),
    ),
    "rebuild": Door(
        lambda rules, views, deals: sleuth.rebuild(rules, views, deals, np.random.default_rng(0)),
        given_to(views=lambda: views()[:1], deals=deals),
        single=("rules", "views"),
    ),
    "draw_ansi": one_view_to(lambda view: sleuth.draw_ansi(OPTIONS, view, belief=True), "view"),
    "draw_rgb": one_view_to(lambda view: sleuth.draw_rgb(OPTIONS, view), "view"),
    "draw_belief": one_view_to(lambda view: sleuth.draw_belief(OPTIONS, view), "view"),
    "draw_odds": one_view_to(lambda view: telling.draw_odds(OPTIONS, view), "view"),
    "seat_names": one_view_to(lambda seen: " ".join(telling.seat_names(seen, "you"))),
    "announcement": one_view_to(lambda seen: "".join(telling.announcement(OPTIONS, seen))),
    "prompt": one_view_to(lambda seen: telling.prompt(OPTIONS, seen)),
    "unsaid": one_view_to(lambda seen: telling.unsaid(OPTIONS, seen)),
    "unasked": one_view_to(lambda seen: telling.unasked(OPTIONS, seen)),
    "hint": one_view_to(lambda seen: telling.hint(OPTIONS, seen, "ask +1 blue-opal")),
    "doubt": one_view_to(lambda seen: telling.doubt(OPTIONS, seen, ACCUSE)),
    "doubts": one_view_to(lambda seen: repr(telling.doubts(OPTIONS, seen, [ACCUSE, EXCHANGE]))),
    "proved": one_view_to(lambda seen: str(telling.proved(OPTIONS, seen))),
    "reveal": one_state_to(lambda state: repr(sleuth.reveal(OPTIONS, state)), states),
    "game_text": one_state_to(lambda state: sleuth.game_text(OPTIONS, state, []), dealt, "first_state"),
    "view_of": one_state_to(lambda state: telling.view_of(OPTIONS, state, 1), states),
    "told_view": one_state_to(lambda state: telling.told_view(OPTIONS, state, 1), states),
    "news": Door(
        lambda state, seen: "".join(telling.news(OPTIONS, state, EXCHANGE, seen)), exchanged_once, one=("state", "seen")
    ),
    **{f"bot {name}": Door(sleuth.make_bot(name, OPTIONS).act, decision) for name in BOTS},
    "policy": Door(lambda *given: policy().act(*given), decision),
    "solve": Door(deduction.solve, lambda: {"evidence": evidence()}),
    "Worlds": Door(deduction.Worlds, lambda: {"evidence": evidence()}),
}
CASES = [(door, name) for door, value in DOORS.items() for name in value.arguments()]


def test_no_public_function_that_takes_arrays_is_forgotten() -> None:
    listed = set(DOORS)
    for module in (sleuth, deduction, telling):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and name != "Worlds":
                continue
            if callable(value) and (ARRAYS | RECORDS) & set(inspect.signature(value).parameters):
                assert name in listed, f"{module.__name__}.{name} takes arrays and is not in DOORS"
    assert {f"bot {name}" for name in BOTS} <= listed


def test_the_kernel_lies_behind_its_door() -> None:
    for name in ("deal", "legal", "step", "ends", "settled", "standings", "view"):
        assert getattr(kernels_of(sleuth), name) is getattr(sleuth, name).kernel
    assert unchecked(deduction.solve) is deduction.solve


# --- what loses nothing ---


def read_only(array: np.ndarray) -> np.ndarray:
    found = array.copy()
    found.flags.writeable = False
    return found


def spread(array: np.ndarray) -> np.ndarray:
    """Return the same in memory with gaps."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def unaligned(array: np.ndarray) -> np.ndarray:
    room = np.zeros(array.nbytes + 1, np.uint8)
    found = room[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


def narrow(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int16) if array.dtype.kind in "iu" and array.ndim == 1 else array


def foreign_order(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder()) if array.dtype.kind in "iu" else array


def as_bool(array: np.ndarray) -> np.ndarray:
    return array > 0 if array.dtype == np.uint8 and array.max(initial=0) < 2 else array


FORMS = [read_only, spread, unaligned, np.asfortranarray, wide, narrow, foreign_order, as_bool]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize(("door", "name"), CASES)
def test_what_loses_nothing_makes_no_difference(door: str, name: str, form: Callable[[np.ndarray], np.ndarray]) -> None:
    arguments = DOORS[door].arguments()
    other = form(arguments[name])
    too_small = other.dtype == np.bool_ and name == "ended"
    if name in DOORS[door].written and (too_small or not other.flags.writeable or form in (narrow, foreign_order)):
        pytest.skip("this is written to")
    assert DOORS[door].result(arguments | {name: other}) == DOORS[door].result(DOORS[door].arguments())


def test_no_form_is_compiled_for_again() -> None:
    def compiled() -> dict[str, int]:
        kernels = [found for found in gc.get_objects() if isinstance(found, Dispatcher)]
        return {f"{kernel.__module__}.{kernel.__qualname__}": len(kernel.signatures) for kernel in kernels}

    for door in DOORS.values():
        door.result(door.arguments())
    before = compiled()
    for door_name, name in CASES:
        door = DOORS[door_name]
        for form in FORMS:
            other = form(door.arguments()[name])
            if name not in door.written:
                door.result(door.arguments() | {name: other})
    assert compiled() == before


# --- what is refused ---


def test_what_is_written_shares_no_memory_with_anything_else() -> None:
    memory = np.zeros(8 * sleuth.STATE.itemsize, np.uint8)
    states = memory.view(sleuth.STATE)
    sleuth.deal(RULES, states, np.arange(8, dtype=np.uint64))
    before = memory.copy()
    marks = memory[5 * sleuth.STATE.itemsize :][: 8 * sleuth.num_actions(OPTIONS)].reshape(8, -1)
    with pytest.raises(ArrayError, match=r"^out is written to, and must not share memory with states$"):
        sleuth.legal(RULES, states, marks)
    taken = np.zeros(8, np.uint8)
    rewards = np.zeros((8, 3))
    with pytest.raises(ArrayError, match=r"^taken is written to, and must not share memory with rewards$"):
        sleuth.step(RULES, states, np.zeros(8, np.int64), rewards.view(np.uint8).ravel()[:8], rewards)
    with pytest.raises(ArrayError, match=r"^rewards is written to, and some places of what it got are the same"):
        sleuth.step(RULES, states, np.zeros(8, np.int64), taken, as_strided(rewards, (8, 3), (0, 8)))
    assert memory.tobytes() == before.tobytes()


def test_arrays_that_lie_side_by_side_share_nothing() -> None:
    both = np.zeros(8, [("taken", "u1", 4), ("marks", "u1", (4, sleuth.num_actions(OPTIONS)))])
    states = sleuth.new_states(8)
    sleuth.deal(RULES, states, np.arange(8, dtype=np.uint64))
    sleuth.legal(RULES, states, both["marks"][:, 2])
    assert both["marks"][:, 2].any(axis=1).all()
    assert not both["marks"][:, [0, 1, 3]].any()


def test_a_message_says_that_an_array_is_masked_or_of_another_byte_order() -> None:
    states = sleuth.new_states(2)
    out = np.zeros((2, sleuth.num_actions(OPTIONS)), np.uint8)
    with pytest.raises(ArrayError, match="got a masked array of records of"):
        sleuth.legal(RULES, np.ma.MaskedArray(states), out)
    with pytest.raises(ArrayError, match=r"got records of \d+ bytes in another byte order with"):
        sleuth.legal(RULES, states.astype(sleuth.STATE.newbyteorder()), out)
    with pytest.raises(ArrayError, match="got a masked array of uint8"):
        sleuth.legal(RULES, states, np.ma.zeros(out.shape, np.uint8))


@pytest.mark.parametrize("game", [sleuth, holmes], ids=["sleuth", "holmes"])
def test_the_size_of_a_drawing_is_of_whole_numbers(game: Any) -> None:
    options = game.Options(num_players=3)
    rules = game.make_rules(options)
    states = game.new_states(1)
    views = np.zeros(1, game.VIEW)
    game.deal(rules, states, np.zeros(1, np.uint64))
    game.view(rules, states, np.zeros(1, np.int64), views)
    for size, message in (
        ((80.5, 24), "columns must be an integer of at least 0, got 80.5"),
        ((80, -1), "lines must"),
    ):
        with pytest.raises(ValueError, match=message):
            game.draw_ansi(options, views[0], False, *size)


def refused(door: str, changed: dict[str, Any], name: str) -> None:
    """Check that a call is refused in one line that names the argument, and that nothing changes."""
    arguments = DOORS[door].arguments() | changed
    arrays = {key: np.asarray(value) for key, value in arguments.items() if isinstance(value, np.ndarray)}
    before = {key: value.tobytes() for key, value in arrays.items()}
    with pytest.raises(ValueError, match=r"^[^\n]{10,400}$") as caught:
        DOORS[door].call(*arguments.values())
    assert not isinstance(caught.value, Contradiction)
    assert name in str(caught.value)
    for key, value in before.items():
        assert value == arrays[key].tobytes(), f"{key} has changed"


WRONG: dict[str, Callable[[np.ndarray], Any]] = {
    "of floats": lambda array: np.zeros(array.shape, np.float16),
    "of texts": lambda array: np.full(array.shape, "7"),
    "of objects": lambda array: np.full(array.shape, None, object),
    "of complex numbers": lambda array: np.zeros(array.shape, complex),
    "of other records": lambda array: np.zeros(array.shape, [("actor", "i4"), ("seat", "i8")]),
    "of no axis": lambda array: array.ravel()[0],
    "of more axes": lambda array: array[None],
    "too short": lambda array: array[:-1],
    "None": lambda array: None,
    "a text": lambda array: "views",
    "masked": lambda array: np.ma.masked_array(np.zeros(array.shape, np.int64)),
    "masked, of the same kind": np.ma.masked_array,
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("door", "name"), CASES)
def test_what_is_no_such_array_is_refused(door: str, name: str, wrong: str) -> None:
    # The first argument with rows settles how many the others have.
    arguments = DOORS[door].arguments()
    first = next(key for key in arguments if key not in ("rules", "evidence")) if len(arguments) > 1 else ""
    alone = (name == first or name in DOORS[door].single) and len(arguments) <= 2
    if wrong == "of no axis" and name in DOORS[door].one:
        pytest.skip("that is one record")
    if wrong == "too short" and name not in DOORS[door].one and (alone or name == "deals"):
        pytest.skip("any number will do")
    culprit = "" if wrong == "too short" and name == first and name not in DOORS[door].one else name
    refused(door, {name: WRONG[wrong](arguments[name])}, culprit)


@pytest.mark.parametrize(("door", "name"), [(d, n) for d, n in CASES if n in DOORS[d].written])
def test_what_is_written_to_must_not_be_read_only(door: str, name: str) -> None:
    refused(door, {name: read_only(DOORS[door].arguments()[name])}, name)


@pytest.mark.parametrize(("door", "name"), [(d, n) for d, n in CASES if n in ("out", "rewards", "due", "places")])
def test_too_few_columns_are_refused(door: str, name: str) -> None:
    refused(door, {name: DOORS[door].arguments()[name][:, :-1]}, name)


def test_marks_do_not_hold_how_a_game_has_ended() -> None:
    refused("ends", {"ended": np.zeros(GAMES, np.bool_)}, "ended")


@pytest.mark.parametrize("seat", [-1, 3, 1_000_000, -(2**63)])
def test_a_seat_that_there_is_not_is_refused(seat: int) -> None:
    refused("view", {"seats": np.array([0, 1, 2, seat])}, "seats")


@pytest.mark.parametrize("door", [name for name in DOORS if name.startswith("bot ")] + ["policy"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("legal", lambda array: np.zeros_like(array)),
        ("legal", lambda array: array[:, :10]),
        ("legal", lambda array: array * 2),
        ("legal", lambda array: -array.astype(np.int8)),
        ("seeds", lambda array: array[:1]),
        ("seeds", lambda array: -array.astype(np.int64)),
        ("seeds", lambda array: array / 2),
        ("views", lambda array: states()),
    ],
)
def test_a_player_refuses_what_it_cannot_decide_by(
    door: str, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    refused(door, {name: change(DOORS[door].arguments()[name])}, name)


def test_random_bits_of_another_width_are_the_same_bits() -> None:
    bits = np.random.default_rng(0).integers(2**62, size=500)
    bot = sleuth.make_bot("random", OPTIONS)
    rows = [array.repeat(500, axis=0) for array in (views()[:1], marks()[:1])]
    chosen = bot.act(*rows, bits)
    assert len(set(chosen.tolist())) > 20
    assert chosen.tolist() == bot.act(*rows, bits.astype(np.uint64)).tolist()


ONE = [(door, name) for door, name in CASES if name in DOORS[door].one]


@pytest.mark.parametrize(("door", "name"), ONE)
def test_a_record_out_of_its_array_is_taken_as_an_array_of_one(door: str, name: str) -> None:
    arguments = DOORS[door].arguments()
    for other in (arguments[name][0], arguments[name].reshape(())):
        assert DOORS[door].result(arguments | {name: other}) == DOORS[door].result(DOORS[door].arguments())


@pytest.mark.parametrize(("door", "name"), ONE)
def test_one_record_is_not_several_and_not_of_another_game(door: str, name: str) -> None:
    record = DOORS[door].arguments()[name]
    four = sleuth.make_rules(sleuth.Options(num_players=4))
    other = sleuth.new_states(1)
    kernels_of(sleuth).deal(four, other, seeds()[:1])
    if record.dtype == sleuth.VIEW:
        seen = np.zeros(1, sleuth.VIEW)
        kernels_of(sleuth).view(four, other, np.zeros(1, np.int64), seen)
        other = seen
    for wrong in (record.repeat(2), record[:0]):
        with pytest.raises(
            ArrayError, match=rf"^{name} must be one (VIEW|STATE) record, .* the shape \({len(wrong)},\)"
        ):
            DOORS[door].call(*(DOORS[door].arguments() | {name: wrong}).values())
    if door != "seat_names":
        with pytest.raises(ArrayError, match=r"are of games with num_players=\[4\]|must be of a sound game, but "):
            DOORS[door].call(*(DOORS[door].arguments() | {name: other[0]}).values())


def test_the_message_names_the_argument_the_dtype_and_the_shape() -> None:
    state = r"records of \d+ bytes with the fields .* of the shape \(\)$"
    with pytest.raises(ArrayError, match=rf"^view must be one VIEW record, or an array of one, got {state}"):
        sleuth.draw_ansi(OPTIONS, states()[0])
    with pytest.raises(ArrayError, match=r"^state must be one STATE record, .* got uint8 of the shape \(7,\)"):
        sleuth.reveal(OPTIONS, np.zeros(7, np.uint8))


def test_a_game_that_is_not_sound_is_not_told() -> None:
    blank = sleuth.new_states(1)
    wrong = states()[:1]
    wrong["hands"][0, 0] = 1
    for state in (blank, wrong):
        with pytest.raises(ArrayError, match=r"^state must be of a sound game, but "):
            sleuth.reveal(OPTIONS, state)
        with pytest.raises(ArrayError, match=r"^first_state must be of a sound game, but "):
            sleuth.game_text(OPTIONS, state, [])


@pytest.mark.parametrize("rng", [None, 3, np.random, np.random.RandomState(1), "default_rng"])
def test_what_is_not_a_generator_is_refused_by_name(rng: Any) -> None:
    with pytest.raises(ArrayError, match=r"^rng must be a numpy.random.Generator, such as default_rng\(1\), got the "):
        sleuth.rebuild(RULES, views()[:1], deals(), rng)


# --- games as parse_game returns them ---

TOLD: dict[str, Callable[[Any], Any]] = {
    "tell_game": telling.tell_game,
    "num_steps": telling.num_steps,
    "step_ends": telling.step_ends,
    "ending": lambda record: telling.ending(record, 0),
    "review": lambda record: telling.review(record, 0),
}


def game_record() -> Any:
    return sleuth.parse_game(sleuth.game_text(OPTIONS, dealt(), [EXCHANGE]))


def test_no_function_that_takes_a_game_is_forgotten() -> None:
    functions = {name: getattr(telling, name) for name in telling.__all__}
    taking = {
        name for name, value in functions.items() if callable(value) and "record" in inspect.signature(value).parameters
    }
    assert taking == set(TOLD)


@pytest.mark.parametrize("tell", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize("wrong", [None, "sleuth game 1", states(), states()[0], {"options": OPTIONS}], ids=type)
def test_what_is_not_a_game_is_not_told(tell: Callable[[Any], Any], wrong: Any) -> None:
    with pytest.raises(ArrayError, match=r"^record must be a game, as parse_game returns it, got [^\n]+$"):
        tell(wrong)


@pytest.mark.parametrize("seat", [-1, 3, None, 0.5, "player_0"])
def test_a_seat_that_the_game_has_not_is_told_nothing(seat: Any) -> None:
    record = game_record()
    for call in (telling.ending, telling.review, lambda record, seat: telling.view_of(OPTIONS, states()[0], seat)):
        with pytest.raises(ArrayError, match=r"^seat must be an integer from 0 to 2, got"):
            call(record, seat)
    if seat is not None:
        with pytest.raises(ArrayError, match=r"^viewpoint must be an integer from 0 to 2, got"):
            telling.tell_game(record, seat)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first_state": sleuth.new_states(1)[0]}, "^first_state must be of a sound game"),
        ({"last_state": None}, "^last_state must be one STATE record"),
        ({"actions": np.zeros(3)}, "^actions must be integers that fit int64"),
        ({"options": sleuth.Options(num_players=4)}, "^first_state must be of a sound game"),
    ],
)
def test_a_game_put_together_by_hand_is_checked(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArrayError, match=message):
        replace(game_record(), **changes)


def test_a_game_put_together_by_hand_of_illegal_actions_is_not_replayed() -> None:
    wrong = replace(game_record(), actions=np.array([EXCHANGE, 2**40]))
    with pytest.raises(sleuth.NotationError, match=r"^action 1 \(1099511627776\) is illegal where it stands"):
        list(wrong.moves())


@pytest.mark.parametrize("field_name", [name for name in RULES.dtype.names or () if name != "max_turns"])
def test_rules_that_make_rules_does_not_return_are_refused(field_name: str) -> None:
    changed = RULES.copy()
    changed[field_name] += 9
    for door in ("legal", "step", "belief", "write_observations"):
        refused(door, {"rules": changed}, "rules")


# --- bytes from anywhere ---


def refused_or_harmless(call: Callable[..., Any], *arguments: Any, error: Any = ValueError) -> None:
    """Call something; if it refuses, it does so in one line."""
    message = ""
    try:
        call(*arguments)
    except error as refusal:
        message = str(refusal)
    assert "\n" not in message


VIEW_DOORS = [
    "beliefs",
    "weighted_belief",
    "rebuild",
    "odds",
    "list_asks",
    "read_sheet",
    "write_observations",
    "bot sheet",
    "bot cautious",
    "draw_ansi",
    "draw_rgb",
    "draw_belief",
    "seat_names",
    "announcement",
    "prompt",
    "unsaid",
    "unasked",
    "hint",
    "doubt",
    "doubts",
    "proved",
    "news",
]
STATE_DOORS = ["legal", "step", "view", "ends", "settled", "standings", "counts"]
ONE_STATE_DOORS = ["reveal", "game_text", "view_of", "told_view", "news"]


def name_of(arguments: dict[str, np.ndarray], dtype: Any) -> str:
    """Return the name of the argument that is of records of a dtype."""
    return next(name for name, array in arguments.items() if array.dtype == dtype)


def damaged(array: np.ndarray, at: int, value: int) -> np.ndarray:
    found = array.copy()
    found.view(np.uint8).reshape(-1)[at % array.nbytes] = value
    return found


@pytest.mark.parametrize("door", VIEW_DOORS)
@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 2**20), value=st.integers(0, 255))
def test_a_damaged_view_is_refused_or_harmless(door: str, at: int, value: int) -> None:
    arguments = DOORS[door].arguments()
    name = name_of(arguments, sleuth.VIEW)
    arguments[name] = damaged(arguments[name], at, value)
    refused_or_harmless(DOORS[door].call, *arguments.values())


@pytest.mark.parametrize("door", STATE_DOORS + ONE_STATE_DOORS)
@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 2**20), value=st.integers(0, 255))
def test_a_damaged_state_is_refused_or_harmless(door: str, at: int, value: int) -> None:
    arguments = DOORS[door].arguments()
    name = name_of(arguments, sleuth.STATE)
    arguments[name] = damaged(arguments[name], at, value)
    # Whether a deal is a fresh one is the notation's affair.
    error = (ArrayError, sleuth.NotationError) if door == "game_text" else ArrayError
    refused_or_harmless(DOORS[door].call, *arguments.values(), error=error)


@pytest.mark.parametrize("record", sleuth.RECORDS)
def test_no_bytes_lead_an_observer_beyond_its_arrays(record: str) -> None:
    rng = np.random.default_rng(0)
    wild = rng.integers(0, 256, (50, sleuth.VIEW.itemsize), np.uint8).view(sleuth.VIEW)[:, 0]
    room = np.zeros((52, sleuth.observation_size(OPTIONS, record)), np.float32)
    observer = sleuth.Observer(RULES, wild, record)
    with pytest.raises(ArrayError, match="views are of games"):
        observer.check()
    refused_or_harmless(observer.write, room[1:-1])
    assert not room[[0, -1]].any()


# --- evidence ---


@pytest.mark.parametrize(
    ("field_name", "value"),
    [
        ("num_sets", 1_000_000),
        ("num_sets", 100),
        ("num_sets", -1),
        ("num_holders", 0),
        ("num_holders", 8),
        ("cards", -1),
        ("cards", 1),
        ("sets", -1),
        ("sets", 1 << 40),
    ],
)
def test_evidence_made_by_hand_must_be_what_kernels_take_for_granted(field_name: str, value: int) -> None:
    wrong = evidence()
    wrong[field_name] = value
    for read in (deduction.solve, deduction.Worlds):
        with pytest.raises(EvidenceError, match=field_name):
            read(wrong)


@pytest.mark.parametrize("read", [deduction.solve, deduction.Worlds])
def test_cards_that_nobody_may_have_are_a_contradiction(read: Callable[[np.ndarray], Any]) -> None:
    nobody = evidence()
    nobody["possible"] = 0
    for contradictory in (nobody, deduction.make_evidence(2, range(3), [], {0: [], 1: []})):
        with pytest.raises(Contradiction, match=r"no deal|without exactly one holder"):
            read(contradictory)


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_holders": 2.0},
        {"num_holders": None},
        {"cards": 5},
        {"cards": [0.5]},
        {"constraints": 5},
        {"constraints": [5]},
        {"constraints": [(0,)]},
        {"constraints": [(0, range(3), None, 1)]},
        {"possible": [[0], [1]]},
        {"possible": {0: 1}},
        {"possible": {"0": [1]}},
    ],
)
def test_evidence_of_wrong_types_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError):
        deduction.make_evidence(**({"num_holders": 2, "cards": range(3)} | wrong))


@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, EVIDENCE.itemsize - 1), bits=st.binary(min_size=1, max_size=8))
def test_damaged_evidence_is_counted_refused_or_contradictory(at: int, bits: bytes) -> None:
    wild = evidence()
    size = min(len(bits), EVIDENCE.itemsize - at)
    wild.view(np.uint8)[at : at + size] = np.frombuffer(bits, np.uint8)[:size]
    for read in (deduction.solve, deduction.Worlds):
        refused_or_harmless(read, wild)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_bounds_of_any_kind_are_counted_or_contradictory(data: st.DataObject) -> None:
    wild = evidence()
    wild["num_sets"] = data.draw(st.integers(0, MAX_SETS))
    wild["sets"] = data.draw(st.lists(st.integers(0, 63), min_size=MAX_SETS, max_size=MAX_SETS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    for name, low, high in (("least", -128, 2), ("most", 0, 127)):
        wild[name] = rng.integers(low, high, wild[name].shape)
    wild["possible"] = rng.integers(-(2**63), 2**63 - 1, wild["possible"].shape)
    for read in (deduction.solve, deduction.Worlds):
        refused_or_harmless(read, wild, error=Contradiction)


# --- tables ---


def table() -> Table:
    found = Table(sleuth, OPTIONS, GAMES)
    found.deal(np.arange(GAMES), seeds())
    return found


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda t: t.deal([0, 1], [1]), "seeds"),
        (lambda t: t.deal([0, 0], [1, 2]), "rows"),
        (lambda t: t.deal([0], [1.5]), "seeds"),
        (lambda t: t.deal([0], [-1]), "seeds"),
        (lambda t: t.deal([GAMES], [1]), "rows"),
        (lambda t: t.deal([-1], [1]), "rows"),
        (lambda t: t.leave([GAMES]), "rows"),
        (lambda t: t.leave(np.zeros(3, bool)), "rows"),
        (lambda t: t.step([0], [0.0]), "actions"),
        (lambda t: t.step([0, 1], [0]), "actions"),
        (lambda t: t.step([0, 0], [0, 0]), "rows"),
        (lambda t: t.step(["0"], [0]), "rows"),
        (lambda t: t.views([0], 3), "seats"),
        (lambda t: t.views([0], [0, 1]), "seats"),
        (lambda t: t.views([0], -1), "seats"),
        (lambda t: t.legal(GAMES), "rows"),
        (lambda t: t.ends([0.0]), "rows"),
        (lambda t: t.settled([GAMES]), "rows"),
        (lambda t: t.standings([GAMES]), "rows"),
        (lambda t: Table(sleuth, OPTIONS, 2, (), [0, 0]), "seats"),
        (lambda t: Table(sleuth, OPTIONS, 2, (), -2), "seats"),
        (lambda t: Table(sleuth, OPTIONS, 2, (), 0.5), "seats"),
    ],
)
def test_a_table_refuses_rows_seats_and_seeds_that_it_has_not(call: Callable[[Table], Any], name: str) -> None:
    tried = table()
    before = tried.states.tobytes(), tried.decisions.tobytes()
    with pytest.raises(ArrayError, match=f"^{name}"):
        call(tried)
    assert before == (tried.states.tobytes(), tried.decisions.tobytes())


def test_a_table_takes_rows_as_numbers_lists_and_marks() -> None:
    tried = table()
    whole = tried.legal(np.arange(GAMES))
    assert (tried.legal(2) == whole[2:3]).all()
    assert (tried.legal(np.array([False, True, False, True])) == whole[[1, 3]]).all()
    assert (tried.legal(np.array([3, 1], np.int8)) == whole[[3, 1]]).all()
    assert tried.legal([]).shape == (0, NUM_ACTIONS)
