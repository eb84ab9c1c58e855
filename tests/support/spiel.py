"""Play the same game by the package's own rules and in OpenSpiel, chance drawing there what was drawn here."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from sleuth_env import sleuth
from sleuth_env.bits import shuffle
from sleuth_env.game import Game, kernels_of
from sleuth_env.holmes import extensive as holmes_chance
from sleuth_env.holmes.cards import AFOOT, HAND_SIZE, NUM_SAY_TYPES, NUM_TELEGRAMS, SAY_TOKENS
from sleuth_env.sleuth import extensive as sleuth_chance


def members(mask: int) -> list[int]:
    """Return the numbers of the set bits of a mask."""
    return [number for number in range(int(mask).bit_length()) if int(mask) >> number & 1]


class Twin:
    """A game by the package's own rules, and what chance draws in OpenSpiel to make it the same.

    Args:
        game: the module.
        options: its options.
        seed: of the deal, and of all choices.
    """

    def __init__(self, game: Game, options: Any, seed: int) -> None:
        self.game = game
        self.options = options
        self.rules = game.make_rules(options)
        self.kernels = kernels_of(game)
        self.random = random.Random(seed)
        self.states = game.new_states(1)
        game.deal(self.rules, self.states, np.array([seed], np.uint64))
        self.before = self.states.copy()
        self.action = -1
        self.rewards = np.zeros((1, options.num_players))

    def legal(self) -> list[int]:
        """Return the legal actions."""
        marks = np.zeros((1, self.game.num_actions(self.options)), np.uint8)
        self.kernels.legal(self.rules, self.states, marks)
        return [int(action) for action in np.flatnonzero(marks[0])]

    def take(self, action: int) -> None:
        """Take an action."""
        self.before = self.states.copy()
        self.action = action
        self._step()

    def _step(self) -> None:
        taken = np.zeros(1, np.uint8)
        self.kernels.step(self.rules, self.states, np.array([self.action]), taken, self.rewards)
        assert taken[0]

    def views(self) -> list[bytes]:
        """Return what every seat knows."""
        seen = np.zeros(1, self.game.VIEW)
        texts = []
        for seat in range(self.options.num_players):
            self.kernels.view(self.rules, self.states, np.array([seat]), seen)
            texts.append(seen.tobytes())
        return texts

    def settled(self) -> bytes:
        """Return the game in the form that it has in OpenSpiel."""
        raise NotImplementedError

    def drawn(self, spiel: Any) -> int:
        """Return what chance draws next in OpenSpiel."""
        raise NotImplementedError

    def follow(self, spiel: Any) -> None:
        """Let chance draw in OpenSpiel until somebody decides."""
        while spiel.is_chance_node():
            outcome = self.drawn(spiel)
            assert outcome in dict(spiel.chance_outcomes())
            spiel.apply_action(outcome)


class SleuthTwin(Twin):
    """The two of them for Sleuth."""

    def choose(self) -> int:
        """Choose a legal action; accusations are rare, exchanges are not."""
        legal = self.legal()
        accuse = sleuth.action_blocks(self.options)["accuse"]
        final = sleuth.action_blocks(self.options)["final"]
        rash = {*range(accuse.start, accuse.stop), *range(final.start, final.stop)}
        quiet = [action for action in legal if action not in rash]
        exchange = final.stop
        if exchange in quiet and self.random.random() < 0.3:
            return exchange
        return self.random.choice(quiet if quiet and self.random.random() < 0.98 else legal)

    def settled(self) -> bytes:
        states = self.states.copy()
        sleuth_chance.settle(self.options, states)
        return states.tobytes()

    def drawn(self, spiel: Any) -> int:
        theirs = np.frombuffer(spiel._content, sleuth.STATE)[0]
        ours = self.states[0]
        kind = spiel._draws[0]
        if kind == sleuth_chance.REFILL:
            seat = spiel._draws[1]
            return self.random.choice(members(int(ours["search"][seat]) & ~int(theirs["search"][seat])))
        if kind == sleuth_chance.NEXT_OFFER:
            return int(ours["actor"])
        left = int(ours["missing_gems"]) & ~int(theirs["missing_gems"])
        for field in ("hands", "search"):
            for seat in range(self.options.num_players):
                left = left or int(ours[field][seat]) & ~int(theirs[field][seat])
        return self.random.choice(members(left)) if left else int(ours["turn"])


class HolmesTwin(Twin):
    """The two of them for I Say, Holmes!."""

    def __init__(self, game: Game, options: Any, seed: int) -> None:
        super().__init__(game, options, seed)
        self.script: list[int] = [*self._hands(), *self._tokens()]
        self.kinds: set[int] = set()

    def _hands(self) -> list[int]:
        """Return the titles that have just been dealt, hand by hand."""
        s = self.states[0]
        titles: list[int] = []
        for seat in range(self.options.num_players):
            hand = [title for title, number in enumerate(s["hands"][seat]) for _ in range(number)]
            # Whoever was dealt it has played it.
            hand += [AFOOT] * (HAND_SIZE - len(hand))
            self.random.shuffle(hand)
            titles += hand
        return titles

    def _tokens(self) -> list[int]:
        s = self.states[0]
        tokens = [int(token) for token in s["telegram_stock"][NUM_TELEGRAMS - 1 :: -1]]
        for kind in range(NUM_SAY_TYPES):
            points = self.rules["say_points"][0, kind].tolist()
            left = list(range(SAY_TOKENS))
            for worth in s["say_pool"][kind][::-1]:
                token = next(token for token in left if points[token] == worth)
                left.remove(token)
                tokens.append(token)
        return tokens

    def choose(self) -> int:
        """Choose a legal action."""
        return self.random.choice(self.legal())

    def settled(self) -> bytes:
        states = self.states.copy()
        states["rng"] = 0
        states["pile"][0, : states["pile_size"][0]].sort()
        return states.tobytes()

    def drawn(self, spiel: Any) -> int:
        kind, *drawn = spiel._draws
        self.kinds.add(kind)
        if kind == holmes_chance.FIRST_DEAL:
            return self.script[len(drawn)]
        if kind == holmes_chance.PILE_CARD:
            pile = self.before["pile"][0, : self.before["pile_size"][0]]
            return int(pile[-len(drawn)])
        titles = drawn[2 : 2 + drawn[1]]
        done = len(drawn) - 2 - len(titles)
        if done == 0:
            self.script = self._hands() if kind == holmes_chance.NEW_DEAL else self._by_generator(titles)
        return self.script[done]

    def _by_generator(self, titles: list[int]) -> list[int]:
        """Take the action again by a generator, which shuffles the rest of the pile before; return its bytes."""
        generator = self.random.getrandbits(64)
        self.states = self.before.copy()
        s = self.states[0]
        size = int(s["pile_size"])
        assert s["pile"][:size][size - len(titles) :].tolist() == titles[::-1]
        s["pile"][: size - len(titles)].sort()
        s["rng"] = generator
        shuffle(s, s["pile"], size - len(titles))
        self._step()
        return list(generator.to_bytes(8, "big"))


TWINS = {"sleuth": SleuthTwin, "holmes": HolmesTwin}


def parameters(options: Any) -> dict[str, Any]:
    """Return options as the parameters of a game in OpenSpiel."""
    named = {name: getattr(options, name) for name in options.__dataclass_fields__}
    return {"players" if name == "num_players" else name: value for name, value in named.items()}


def played_twice(twin: Twin, spiel: Any, limit: int = 10_000) -> Iterator[Any]:
    """Play both games to the end, or so many decisions; iterate over OpenSpiel's state at each of them, the end too."""
    twin.follow(spiel)
    yield spiel
    for _ in range(limit):
        if spiel.is_terminal():
            return
        action = twin.choose()
        twin.take(action)
        spiel.apply_action(action)
        twin.follow(spiel)
        yield spiel
