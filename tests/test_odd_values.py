"""Every argument of every public function, with values of every wrong kind: taken, or refused in so many words.

What is refused must have been refused by a check: an exception that comes out of the inside, of NumPy,
of a kernel or of a line that was never meant to raise one, names neither the argument nor what is legal.
"""

from __future__ import annotations

import copy
import inspect
import linecache
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest
import torch

import sleuth_env
from sleuth_env import deduction, holmes, holmes_v0, sleuth, sleuth_v0
from sleuth_env.policies.mlp import Mlp
from sleuth_env.policies.policy import Policy
from sleuth_env.web.frames import frames_of, make_replay, num_frames
from sleuth_env.web.replay_page import replay_page
from tests.support.policies import random_policy

PACKAGE = Path(sleuth_env.__file__).parent
OPTIONS = sleuth.Options(3)
HOLMES_OPTIONS = holmes.Options(num_players=3, cases=1)


class Strange:
    """Has nothing that anybody could use, not even a text that shows it."""

    def __repr__(self) -> str:
        raise RuntimeError("I show nothing")


class Index:
    """A number, as NumPy's are."""

    def __index__(self) -> int:
        return 1


ODD = {
    "None": None,
    "True": True,
    "-1": -1,
    "5": 5,
    "0.5": 0.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "2**63": 2**63,
    "2**70": 2**70,
    "10**400": 10**400,
    "text": "x",
    "no text": "",
    "half a character": "\udcff",
    "half another": "\ud800",
    "nul": "a\0b",
    "bytes": b"x",
    "list": [1],
    "empty list": [],
    "nested list": [[1], [2, 3]],
    "list of text": ["x"],
    "dict": {"x": 1},
    "empty dict": {},
    "0-d array": np.array(3),
    "array": np.zeros(3),
    "2-d array": np.zeros((2, 2), np.int64),
    "objects": np.array([None, "x"], object),
    "records": np.zeros(2, [("x", "i4")]),
    "iterator": iter([]),
    "function": len,
    "class": Strange,
    "module": np,
    "strange": Strange(),
    "an index": Index(),
}


def game_with(game: Any, options: Any) -> dict[str, Any]:
    """Return rules, states and a view of a game under way."""
    rules = game.make_rules(options)
    states = game.new_states(1)
    game.deal(rules, states, np.array([1], np.uint64))
    actor = states["actor"].astype(np.int64)
    views = np.zeros(1, game.VIEW)
    game.view(rules, states, actor, views)
    legal = np.zeros((1, game.num_actions(options)), np.uint8)
    game.legal(rules, states, legal)
    return {"rules": rules, "states": states, "views": views, "legal": legal, "seats": actor}


SLEUTH = game_with(sleuth, OPTIONS)
HOLMES = game_with(holmes, HOLMES_OPTIONS)
FEW: dict[str, Any] = {"num_players": 3}
POLICY = random_policy(OPTIONS)


Calls = Iterator[tuple[str, Callable[[], Any], dict[str, Any]]]


def methods(owner: str, make: Callable[[], Any], calls: dict[str, dict[str, Any]]) -> Calls:
    """Yield the methods of what is made anew for each call, by name, with arguments that they take."""
    for method, arguments in calls.items():
        yield f"{owner}.{method}", lambda method=method: getattr(make(), method), arguments


def of_game(game: Any, options: Any, given: dict[str, Any]) -> Calls:
    """Yield the functions of a game module, each with arguments that it takes."""
    name = game.NAME
    players = options.num_players
    size = game.observation_size(options)
    some = {key: given[key] for key in ("rules", "states")}
    seeds = np.array([1], np.uint64)
    rewards = np.zeros((1, players))
    calls: dict[str, dict[str, Any]] = {
        "action_blocks": {"options": options},
        "action_name": {"action": 0, "game": options},
        "belief": {"rules": given["rules"], "views": given["views"]},
        "counts": some,
        "deal": some | {"seeds": seeds},
        "draw_ansi": {"options": options, "view": given["views"][0], "colour": False, "columns": 80, "lines": 24},
        "draw_rgb": {"options": options, "view": given["views"][0]},
        "ends": some | {"ended": np.zeros(1, np.uint8)},
        "game_text": {"options": options, "first_state": given["states"], "actions": []},
        "legal": some | {"out": given["legal"]},
        "make_bot": {"name": "cautious", "options": options},
        "make_rules": {"options": options},
        "new_states": {"num_games": 1},
        "num_actions": {"options": options},
        "observation_layout": {"options": options, "record": "sheet"},
        "observation_size": {"options": options, "record": "sheet"},
        "parse_action": {"text": "pass", "game": options},
        "parse_game": {"text": game.game_text(options, given["states"], [])},
        "problems": some,
        "reveal": {"options": options, "state": given["states"][0]},
        "settled": some | {"settled": np.zeros((1, players), np.uint8), "due": rewards},
        "standings": some | {"places": np.zeros((1, players), np.int32)},
        "step": some | {"actions": np.array([0]), "taken": np.zeros(1, np.uint8), "rewards": rewards},
        "view": some | {"seats": given["seats"], "views": given["views"]},
        "write_observations": {
            "rules": given["rules"],
            "views": given["views"],
            "out": np.zeros((1, size), np.float32),
            "record": "sheet",
        },
    }
    for call, arguments in calls.items():
        if call == "parse_action":
            arguments["text"] = game.action_name(0, options)
        yield f"{name}.{call}", lambda call=call: getattr(game, call), arguments
    yield (
        f"{name}.Observer",
        lambda: game.Observer,
        {"rules": given["rules"], "views": given["views"], "record": "sheet"},
    )
    observer = game.Observer(given["rules"], given["views"], "sheet")
    row = np.zeros((1, size), np.float32)
    yield f"{name}.Observer.write", lambda: observer.write, {"out": row}
    yield f"{name}.Observer.write_first", lambda: observer.write_first, {"number": 1, "out": row}
    record = game.parse_game(game.game_text(options, given["states"], []))
    seen = {"record": record, "policy": None, "players": ["a"] * players, "game": game}
    yield f"{name}.frames_of", lambda: frames_of, seen | {"seat": 0}
    yield f"{name}.num_frames", lambda: num_frames, {"record": record, "game": game}
    for made in (make_replay, replay_page):
        yield f"{name}.{made.__name__}", lambda made=made: made, seen | {"title": None}
    layout = game.observation_layout(options)
    yield f"{name}.Layout.views", lambda: layout.views, {"observation": np.zeros(size, np.float32)}
    yield f"{name}.Layout[]", lambda: layout.__getitem__, {"name": layout.blocks[0].name}
    bots = [bot for bot in game.BOTS if bot not in ("planner",)]
    for bot in bots:
        player = game.make_bot(bot, options)
        yield (
            f"{name}.{bot}.act",
            lambda player=player: player.act,
            {"views": given["views"], "legal": given["legal"], "seeds": seeds},
        )
    yield f"{name}.Options", lambda: type(options), dict(vars(options))


def of_names() -> Calls:
    """Yield what is asked about names and texts."""
    for name, value in (("gem", 0), ("question", 0), ("search_card", 0)):
        one = "card" if name == "search_card" else name
        text = getattr(sleuth, f"{name}_name")(value)
        yield f"sleuth.{name}_name", lambda name=name: getattr(sleuth, f"{name}_name"), {one: value}
        yield f"sleuth.parse_{name}", lambda name=name: getattr(sleuth, f"parse_{name}"), {"text": text}
    for name in ("book", "say_type", "telegram", "title"):
        text = getattr(holmes, f"{name}_name")(0)
        yield f"holmes.{name}_name", lambda name=name: getattr(holmes, f"{name}_name"), {name: 0}
        yield f"holmes.parse_{name}", lambda name=name: getattr(holmes, f"parse_{name}"), {"text": text}
    text = sleuth.game_text(OPTIONS, SLEUTH["states"], [])
    yield "belief_in_game", lambda: sleuth.belief_in_game, {"game": text, "player": 0, "step": 0}
    yield "rules_text", lambda: sleuth_env.rules_text, {"options": OPTIONS, "game": sleuth}
    told = {"options": OPTIONS, "legal": SLEUTH["legal"][0], "view": SLEUTH["views"][0], "game": sleuth}
    yield "text_observation", lambda: sleuth_env.text_observation, told
    answer = sleuth.action_name(int(SLEUTH["legal"][0].argmax()), OPTIONS)
    yield "read_answer", lambda: sleuth_env.read_answer, told | {"text": answer}
    yield (
        "holmes.text_observation",
        lambda: sleuth_env.text_observation,
        {"options": HOLMES_OPTIONS, "legal": HOLMES["legal"][0], "view": HOLMES["views"][0], "game": holmes},
    )
    yield "holmes.event_text", lambda: holmes.event_text, {"event": HOLMES["views"][0]["events"][0], "names": ["a"] * 3}
    yield "holmes.draw_odds", lambda: holmes.draw_odds, {"options": HOLMES_OPTIONS, "view": HOLMES["views"][0]}
    yield "holmes.drop_sheets", lambda: holmes.drop_sheets, {"states": HOLMES["states"]}
    yield "sleuth.draw_belief", lambda: sleuth.draw_belief, {"options": OPTIONS, "view": SLEUTH["views"][0]}


def of_beliefs() -> Calls:
    """Yield what counts deals."""
    given = {"rules": SLEUTH["rules"], "views": SLEUTH["views"]}
    flags = {"everything": False, "now": False, "cap": 1000, "keep": 100, "sought": None, "exactly": True}
    yield "beliefs", lambda: sleuth.beliefs, given | flags
    bonus = np.zeros((1, 2, 43))
    yield "Sought", lambda: sleuth.Sought, {"bonus": bonus, "least": np.zeros(1), "slack": 0.0, "by": "information"}
    yield "weighted_belief", lambda: sleuth.weighted_belief, given | {"model": "any", "deals": 10, "seed": 1}
    worlds = sleuth.belief(**given)
    question = {"holder": 0, "cards": [0, 1], "shown": False}
    yield "Worlds.question", lambda: worlds.question, question
    yield "Worlds.information", lambda: worlds.information, question
    yield "Worlds.decides", lambda: worlds.decides, question
    yield "Worlds.worths", lambda: worlds.worths, {"holders": [0], "cards": [3], "shown": [False]}
    yield "Worlds.sample", lambda: worlds.sample, {"n": 3, "rng": np.random.default_rng(1)}
    deals = worlds.sample(2, np.random.default_rng(1))
    yield "rebuild", lambda: sleuth.rebuild, given | {"deals": deals, "rng": np.random.default_rng(1)}
    deck = range(6)
    constraints = [(0, deck, 3, 3), (1, deck, 2, 2), (2, deck, 1, 1)]
    evidence = {"num_holders": 3, "cards": deck, "constraints": constraints, "possible": {}}
    yield "make_evidence", lambda: deduction.make_evidence, evidence
    made = deduction.make_evidence(**evidence)
    yield "solve", lambda: deduction.solve, {"evidence": made, "level": 3}
    yield "Worlds", lambda: deduction.Worlds, {"evidence": made, "num_cards": 6}


def first_legal(observations: Any, masks: Any) -> Any:
    return np.asarray(masks).argmax(axis=1)


def of_players(folder: Path) -> Calls:
    """Yield policies, players and matches."""
    decision = {"views": SLEUTH["views"], "legal": SLEUTH["legal"], "seeds": np.array([1], np.uint64)}
    yield "Policy.act", lambda: POLICY.act, decision
    yield "Policy.probabilities", lambda: POLICY.probabilities, {key: decision[key] for key in ("views", "legal")}
    yield "Policy.seated", lambda: POLICY.seated, {"options": OPTIONS}
    observations = np.zeros((1, sleuth.observation_size(OPTIONS)), np.float32)
    yield "Policy.logits", lambda: POLICY.logits, {"observations": observations}
    about = {"game": sleuth, "options": OPTIONS, "record": "sheet", "network": POLICY.network}
    yield "Policy", lambda: Policy, about | {"name": "p", "steps": 0, "greedy": False}
    network = POLICY.network
    cards = {"card_layers": network.card_layers, "card_inputs": network.card_inputs}
    yield "Mlp", lambda: Mlp, {"layers": network.layers, "activation": "relu"} | cards
    yield "to_torch", lambda: sleuth_env.to_torch, {"policy": POLICY}
    yield "to_onnx", lambda: sleuth_env.to_onnx, {"policy": POLICY, "path": folder / "p.onnx"}
    size = sleuth.observation_size(OPTIONS)
    perceptron = torch.nn.Sequential(torch.nn.Linear(size, sleuth.num_actions(OPTIONS)))
    module = {"network": perceptron, "options": OPTIONS, "record": "sheet", "game": sleuth}
    yield "policy_from_torch", lambda: sleuth_env.policy_from_torch, module | {"name": "n", "steps": 0}
    model = {"model": None, "options": OPTIONS, "record": "sheet", "game": sleuth, "name": "n"}
    yield "policy_from_sb3", lambda: sleuth_env.policy_from_sb3, model
    path = folder / "p.safetensors"
    sleuth_env.save_policy(POLICY, path, {})
    yield "load_policy", lambda: sleuth_env.load_policy, {"path": path, "game": sleuth, "greedy": False}
    file = {"policy": POLICY, "path": folder / "q.safetensors", "versions": {}}
    more = {"win_share": None, "training": None, "evaluation": ()}
    yield "save_policy", lambda: sleuth_env.save_policy, file | more
    player = {"text": "sheet", "options": OPTIONS, "game": sleuth, "greedy": False, "allow_pickle": False}
    yield "make_player", lambda: sleuth_env.make_player, player
    yield "load_game", lambda: sleuth_env.load_game, {"name": "sleuth"}
    yield "kernels_of", lambda: sleuth_env.kernels_of, {"game": sleuth}
    yield (
        "wrap_policy",
        lambda: sleuth_env.wrap_policy,
        {"function": first_legal, "record": None, "game": sleuth, "name": "n"},
    )
    match = {"game": sleuth, "options": OPTIONS, "seats": ["random"] * 3, "num_deals": 1, "seed": 0, "batch_size": 4}
    yield "play_match", lambda: sleuth_env.play_match, match | {"names": None, "save": None}
    several = {"game": sleuth, "options": OPTIONS, "players": ["random", "cautious"], "num_deals": 1, "seed": 0}
    yield "play_tournament", lambda: sleuth_env.play_tournament, several | {"keep": None, "greedy": False}
    table = {"game": sleuth, "options": OPTIONS, "num_games": 2, "bots": [], "seats": np.full((2, 3), -1)}
    yield "Table", lambda: sleuth_env.Table, table

    def dealt() -> Any:
        games = sleuth_env.Table(sleuth, OPTIONS, 2)
        games.deal([0, 1], np.array([1, 2], np.uint64))
        return games

    rows = {"rows": [0]}
    calls = {
        **dict.fromkeys(
            ("decision_seeds", "ends", "leave", "legal", "remind", "renumber", "settled", "standings"), rows
        ),
        "deal": rows | {"seeds": np.array([3], np.uint64)},
        "step": rows | {"actions": [dealt().legal([0])[0].argmax()]},
        "views": rows | {"seats": [0]},
    }
    yield from methods("Table", dealt, calls)
    result = sleuth_env.play_tournament(**several)
    yield "TournamentResult.share", lambda: result.share, {"player": "random", "other": "cautious"}
    yield "bound", lambda: sleuth_env.bound, {"face": sleuth_env.GameVectorEnv, "game": sleuth}


def begun(make: Callable[[], Any], **settings: Any) -> Callable[[], Any]:
    """Return what makes an environment that has been reset."""

    def begin() -> Any:
        env = make()
        env.reset(**settings)
        return env

    return begin


def of_every_seat(name: str, module: Any) -> Calls:
    """Yield the environments in which every seat is a learner's."""
    made = {"render_mode": None, "record": "sheet", "viewpoint": None, "max_cycles": None}
    yield f"{name}.env", lambda: module.env, made | FEW
    raw = begun(lambda: module.raw_env(**FEW), seed=1)
    asked = ("observe", "belief", "action_mask", "view", "action_space", "observation_space")
    calls = {
        **{method: {"agent": "player_0"} for method in asked},
        "reset": {"seed": 1, "options": None},
        "step": {"action": int(raw().action_mask(raw().agent_selection).argmax())},
        "last": {"observe": True},
        "forfeit": {"reward": -1.0},
        "set_state": {"state": raw().get_state()},
    }
    yield from methods(f"{name}.raw_env", raw, calls)
    vector_class = module.SleuthVectorEnv if name == "sleuth" else module.HolmesVectorEnv
    arguments = {"num_envs": 2, "record": "sheet", "copy": True, "threads": 1}
    yield f"{name}.VectorEnv", lambda: vector_class, arguments | FEW
    dealt = begun(lambda: vector_class(2, **FEW), seed=1)
    calls = {
        "reset": {"seed": 1, "options": None},
        "step": {"actions": dealt().action_masks().argmax(axis=1)},
        "set_state": {"state": dealt().get_state()},
    }
    yield from methods(f"{name}.VectorEnv", dealt, calls)


def of_one_seat(name: str, module: Any) -> Calls:
    """Yield the environments in which one seat is a learner's."""
    solo = {"opponents": "cautious", "learner_seat": 0, "record": "sheet", "render_mode": None}
    yield f"{name}.SoloEnv", lambda: module.SoloEnv, solo | FEW
    yield f"{name}.SoloVectorEnv", lambda: module.SoloVectorEnv, solo | FEW | {"num_envs": 2}
    alone = begun(lambda: module.SoloEnv(opponents="cautious", learner_seat=0, **FEW), seed=1)
    calls = {
        "reset": {"seed": 1, "options": None},
        "step": {"action": int(alone().action_masks().argmax())},
        "set_state": {"state": alone().get_state()},
    }
    yield from methods(f"{name}.SoloEnv", alone, calls)
    several = begun(lambda: module.SoloVectorEnv(2, opponents="cautious", **FEW), seed=1)
    calls = {
        "call": {"name": "action_masks"},
        "get_attr": {"name": "options"},
        "reset": {"seed": 1, "options": None},
        "set_state": {"state": several().get_state()},
        "step": {"actions": several().action_masks().argmax(axis=1)},
    }
    yield from methods(f"{name}.SoloVectorEnv", several, calls)
    yield f"{name}.TextEnv", lambda: sleuth_env.TextEnv, {"game": name, "opponents": "random", "seat": 0} | FEW
    asked = begun(lambda: sleuth_env.TextEnv(name, "random", **FEW), seed=1)
    yield from methods(
        f"{name}.TextEnv", asked, {"reset": {"seed": 1}, "observe": {"agent": "player_0"}, "step": {"answer": "pass"}}
    )


def of_learners(name: str, module: Any) -> Calls:
    """Yield the environment of Stable-Baselines3."""
    many = {"num_envs": 2, "opponents": ["random", "cautious"], "shares": [1, 2], "learner_seat": 0, "seed": 1}
    more = {"record": None, "max_cycles": None, "render_mode": None, "illegal": "raise", "observation": "vector"}
    vec_class = module.SleuthVecEnv if name == "sleuth" else module.HolmesVecEnv
    yield f"{name}.VecEnv", lambda: vec_class, many | more | FEW
    learners = begun(lambda: vec_class(2, **FEW))
    calls = {
        "env_is_wrapped": {"wrapper_class": Strange, "indices": None},
        "env_method": {"method_name": "action_masks", "indices": [0]},
        "get_attr": {"attr_name": "seat", "indices": 0},
        "render": {"mode": None},
        "seed": {"seed": 1},
        "set_attr": {"attr_name": "illegal", "value": "raise", "indices": None},
        "set_opponents": {"opponents": ["random"], "shares": [1]},
        "set_state": {"state": learners().get_state()},
        "step_async": {"actions": learners().action_masks().argmax(axis=1)},
    }
    yield from methods(f"{name}.VecEnv", learners, calls)


def all_calls(folder: Path) -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    found: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {}
    parts = (
        of_game(sleuth, OPTIONS, SLEUTH),
        of_game(holmes, HOLMES_OPTIONS, HOLMES),
        of_names(),
        of_beliefs(),
        of_players(folder),
        *(
            part(name, module)
            for name, module in (("sleuth", sleuth_v0), ("holmes", holmes_v0))
            for part in (of_every_seat, of_one_seat, of_learners)
        ),
    )
    for part in parts:
        for name, function, arguments in part:
            assert name not in found
            found[name] = function, arguments
    return found


def refused(trace: TracebackType | None) -> str:
    """Return nothing where an exception was raised on purpose by this package, else the line it came from."""
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
    if PACKAGE in Path(code.co_filename).parents and line.startswith("raise "):
        return ""
    return f"{code.co_filename}:{trace.tb_lineno}: {line}"


def copied(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.copy() if isinstance(value, np.ndarray) else copy.copy(value) if isinstance(value, dict) else value
        for name, value in arguments.items()
    }


def finish(made: Any) -> None:
    """Close what was made, if it can be closed."""
    if hasattr(made, "close") and not isinstance(made, type):
        made.close()


def faults(name: str, function: Callable[[], Any], arguments: dict[str, Any]) -> Iterator[str]:
    """Yield what came out of the inside when an argument was replaced by something odd."""
    for argument in arguments:
        for kind, value in ODD.items():
            given = copied(arguments) | {argument: iter([]) if kind == "iterator" else value}
            try:
                made = function()(**given)
            except Exception as error:
                where = refused(error.__traceback__)
                if where:
                    yield f"{name}({argument}={kind}): {type(error).__name__}: at {where}"
            else:
                finish(made)


# --- the tests ---

# Public names that no wrong argument reaches: what is raised or returned, what users write classes of or
# wrap around code of their own, and what starts processes and servers.
NOT_CALLED = {
    "Argument", "Beliefs", "Bot", "Entry", "Failure", "Game", "GameEnv", "GameSoloEnv", "GameSoloVectorEnv",
    "GameVectorEnv", "Kernels", "LearnerGames", "MatchResult", "Observer", "Player", "Remembering", "TextStep",
    "TournamentResult", "WeightedBelief", "compile_kernels", "door", "kernel", "open_pool", "openenv_app",
    "openenv_environment", "option",
}  # fmt: skip
# What the table calls otherwise.
CALLED = {
    "HolmesVecEnv": "holmes.VecEnv",
    "HolmesVectorEnv": "holmes.VectorEnv",
    "Layout": "sleuth.Layout.views",
    "Options": "sleuth.Options",
    "SleuthVecEnv": "sleuth.VecEnv",
    "SleuthVectorEnv": "sleuth.VectorEnv",
    "SoloEnv": "sleuth.SoloEnv",
    "SoloVectorEnv": "sleuth.SoloVectorEnv",
    "TextEnv": "sleuth.TextEnv",
    "belief": "sleuth.belief",
    "make_bot": "sleuth.make_bot",
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    return all_calls(tmp_path_factory.mktemp("odd"))


def test_every_public_function_is_called(calls: dict[str, Any]) -> None:
    for name in sleuth_env.__all__:
        found = getattr(sleuth_env, name)
        is_error = isinstance(found, type) and issubclass(found, Exception)
        if callable(found) and not is_error and name not in NOT_CALLED:
            assert CALLED.get(name, name) in calls, name
    for game in (sleuth, holmes):
        for name in game.__all__:
            found = getattr(game, name)
            if callable(found) and not isinstance(found, type) and name not in ("relations", "set_up"):
                assert f"{game.NAME}.{name}" in calls or name in calls, name


# The objects of the table, by their classes, and what they have that is not for users to call.
OBJECTS = {
    "sleuth.raw_env": sleuth_v0.raw_env,
    "sleuth.SoloEnv": sleuth_v0.SoloEnv,
    "sleuth.SoloVectorEnv": sleuth_v0.SoloVectorEnv,
    "sleuth.VectorEnv": sleuth_v0.SleuthVectorEnv,
    "sleuth.VecEnv": sleuth_v0.SleuthVecEnv,
    "sleuth.TextEnv": sleuth_env.TextEnv,
    "sleuth.Observer": sleuth.Observer,
    "Table": sleuth_env.Table,
    "Policy": Policy,
    "Worlds": deduction.Worlds,
    "TournamentResult": sleuth_env.TournamentResult,
}
NOT_METHODS = {"sleuth.SoloEnv.close", "sleuth.SoloVectorEnv.close", "sleuth.VectorEnv.close_extras"}


def test_every_public_method_with_arguments_is_called(calls: dict[str, Any]) -> None:
    for owner, made in OBJECTS.items():
        for name in dir(made):
            method = getattr(inspect.getattr_static(made, name), "__func__", inspect.getattr_static(made, name))
            is_own = inspect.isfunction(method) and method.__module__.startswith("sleuth_env")
            if is_own and not name.startswith("_") and len(inspect.signature(method).parameters) > 1:
                assert f"{owner}.{name}" in calls or f"{owner}.{name}" in NOT_METHODS


PARTS = {
    "sleuth": lambda name: name.startswith("sleuth.") and "Env" not in name and "env" not in name,
    "holmes": lambda name: name.startswith("holmes.") and "Env" not in name and "env" not in name,
    "sleuth's environments": lambda name: name.startswith("sleuth.") and "env" in name.lower(),
    "holmes's environments": lambda name: name.startswith("holmes.") and "env" in name.lower(),
    "the others": lambda name: not name.startswith(("sleuth.", "holmes.")),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.filterwarnings("ignore")
def test_an_odd_value_is_taken_or_refused_by_a_check(
    part: str, calls: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some odd values are names of files.
    monkeypatch.chdir(tmp_path)
    found = []
    for name, (function, arguments) in calls.items():
        if PARTS[part](name):
            if arguments.get("model", 0) is not None:
                # What is not odd is taken.
                finish(function()(**copied(arguments)))
            found += faults(name, function, arguments)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("reward", ["x", [1], 10**400, float("nan"), float("inf"), True, None])
def test_a_reward_that_is_no_number_changes_nothing(reward: Any) -> None:
    env = sleuth_v0.raw_env(**FEW)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="reward must be a finite number, got "):
        env.forfeit(reward)
    assert not any(env.rewards.values())
    assert not any(env.terminations.values())


VIEWS = {
    "sleuth": (sleuth, OPTIONS, SLEUTH, (-1, 0, 1, 5, 13, 42, 54, 2**31 - 1, 2**36 - 1)),
    "holmes": (holmes, HOLMES_OPTIONS, HOLMES, (-1, 0, 1, 5, 11, 44, 127, 2**31 - 1, 2**43 - 1)),
}


def ways_to_see(game: Any, options: Any, given: dict[str, Any]) -> dict[str, Callable[[np.ndarray], Any]]:
    """Return all that views (VIEW [1]) are handed to, by name."""
    anything = np.ones_like(given["legal"])

    def observed(views: np.ndarray, record: str) -> None:
        out = np.zeros((1, game.observation_size(options, record)), np.float32)
        game.write_observations(given["rules"], views, out, record)
        assert (out >= 0).all()
        assert (out <= 1).all()

    def decided(views: np.ndarray, player: Any) -> None:
        player.act(views, anything, np.array([1], np.uint64))

    players = {name: game.make_bot(name, options) for name in game.BOTS if name not in ("planner", "searcher")}
    return {
        "draw_ansi": lambda views: game.draw_ansi(options, views[0]),
        "draw_rgb": lambda views: game.draw_rgb(options, views[0]),
        "text_observation": lambda views: sleuth_env.text_observation(views[0], options, None, game),
        "belief": lambda views: game.belief(given["rules"], views),
        "draw_odds": lambda views: game.telling.draw_odds(options, views[0]),
        **{record: partial(observed, record=record) for record in game.RECORDS},
        **{name: partial(decided, player=player) for name, player in players.items()},
    }


def changed_views(views: np.ndarray, numbers: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield views with one field changed, its first number or all of them, and what was changed."""
    for field in views.dtype.names or ():
        limits = np.iinfo(views.dtype[field].base)
        for number in numbers:
            if limits.min <= number <= limits.max:
                changed = views.copy()
                changed[field].reshape(-1)[:1] = number
                yield f"{field}={number}", changed
                changed = views.copy()
                changed[field] = number
                yield f"all of {field}={number}", changed


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_with_any_field_changed_is_shown_or_refused_by_a_check(name: str) -> None:
    game, options, given, numbers = VIEWS[name]
    ways = ways_to_see(game, options, given)
    found = []
    others = given["views"].copy()
    game.view(given["rules"], given["states"], (given["seats"] + 1) % 3, others)
    for views in (given["views"], others):
        for what, changed in changed_views(views, numbers):
            for way, see in ways.items():
                try:
                    see(changed)
                except Exception as error:
                    where = refused(error.__traceback__)
                    if where:
                        found.append(f"{way} with {what}: {type(error).__name__} at {where}")
    assert not found, "\n".join(found)


def test_whatever_comes_from_the_inside_is_found() -> None:
    def bad(number: Any) -> Any:
        return np.zeros(3)[number]

    assert any("bad(number=text)" in line for line in faults("bad", lambda: bad, {"number": 1}))
