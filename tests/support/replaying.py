"""Replay a game's public history in a game with other hidden cards (see `substitution`)."""

from __future__ import annotations

import random

import numpy as np

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import NUM_GEMS, make_rules
from tests.support.substitution import MISSING, History, Redeal, other_results


class Replay:
    """The same history as one seat saw it, with everything changed that it cannot know.

    Args:
        history: the game as it was.
        viewer: the seat that must not notice.
        seed: for the random changes.
        order: what is kept of the order of offers: "seen", all that the viewer's record shows at every
            moment; "asked", who accused before or after the viewer was asked; "accused", who accused
            after whom, which is all that a story of the game tells.
    """

    def __init__(self, history: History, viewer: int, seed: int, order: str = "seen") -> None:
        self.original = history
        self.order = order
        self.viewer = viewer
        self.rng = random.Random(seed)
        self.options = history.options
        self.rules = make_rules(history.options)
        self.game = history.states[0].copy()
        for holder, gems in Redeal(history, viewer, self.rng).search().items():
            if holder == MISSING:
                self.game["missing_gems"] = gems
            else:
                self.game["hands"][0, holder] = gems
        self._choose_accusations()
        self.history = History(self.options, [self.game.copy()], [])
        self._replay()

    def _choose_accusations(self) -> None:
        missing = int(self.game["missing_gems"][0])
        self.accusations = {}
        for seat, right in other_results(self.original, self.viewer, self.rng).items():
            wrong = missing
            while wrong == missing:
                wrong = sum(1 << gem for gem in self.rng.sample(range(NUM_GEMS), self.options.missing))
            self.accusations[seat] = missing if right else wrong

    # --- step by step; all offers of a round are replayed together ---

    def _replay(self) -> None:
        at = 0
        states = self.original.states
        while at < len(self.original.actions):
            end = at + 1
            if states[at]["phase"][0] == kernels.OFFER:
                while states[end]["phase"][0] == kernels.OFFER:
                    end += 1
                self._replay_offers(at, end)
            else:
                self._take(self._counterpart(at, self.original.actions[at]), at, end)
            at = end

    def _counterpart(self, at: int, action: int) -> int:
        """Return the action of the changed game: another gem where somebody else accuses."""
        actor = int(self.original.states[at]["actor"][0])
        first_gem = int(self.rules["accuse_at"][0])
        if actor == self.viewer or not first_gem <= action < int(self.rules["pass_at"][0]):
            return action
        unnamed = self.accusations[actor] & ~int(self.game["accusing"][0])
        return first_gem + self.rng.choice([gem for gem in range(NUM_GEMS) if unnamed >> gem & 1])

    def _replay_offers(self, at: int, end: int) -> None:
        before = self.original.states[at][0]
        queue = before["offers"][: before["num_offers"]].tolist()
        done: dict[int, list[int]] = {seat: [] for seat in queue}
        for i in range(at, end):
            done[int(self.original.states[i]["actor"][0])].append(self.original.actions[i])
        if self.options.offer_order == "random":
            queue = self._other_order(queue, done)
            self.game["offers"][0, : len(queue)] = queue
            self.game["actor"] = queue[0]
            self.history.states[-1] = self.game.copy()
        for seat in queue:
            for action in done[seat] or [int(self.rules["pass_at"][0])]:
                if self.game["phase"][0] == kernels.OFFER:
                    where = next((i for i in range(at, end) if self.original.states[i]["actor"][0] == seat), at)
                    self._take(self._counterpart(where, action), at, end)

    def _other_order(self, queue: list[int], done: dict[int, list[int]]) -> list[int]:
        """Mix those who passed among the others.

        The viewer sees accusations, and whether they come before the viewer's own offer; and a turn
        goes on at once after the last offer.
        """
        first_gem = int(self.rules["accuse_at"][0])
        no_more = int(self.rules["pass_at"][0])
        accused = [seat for seat in queue if any(first_gem <= action < no_more for action in done[seat])]
        seen = [seat for seat in queue if seat in accused or (self.order != "accused" and seat == self.viewer)]
        mixed = self.rng.sample(queue, len(queue))
        while self.order == "seen" and (mixed[-1] in seen) != (queue[-1] in seen):
            self.rng.shuffle(mixed)
        in_order = iter(seen)
        return [next(in_order) if seat in seen else seat for seat in mixed]

    # --- hidden search cards and random numbers ---

    def _take(self, action: int, at: int, end: int) -> None:
        self._mix_pile(at, end)
        taken = np.zeros(1, "u1")
        kernels.step(self.rules, self.game, np.array([action]), taken, np.zeros((1, 7)))
        assert taken[0], "the changed game does not allow what happened"
        self.history.actions.append(action)
        self.history.states.append(self.game.copy())

    def _mix_pile(self, at: int, end: int) -> None:
        """Mix the cards that nobody draws in these steps; a reshuffled pile in the same way."""
        before = self.original.states[at][0]
        after = self.original.states[end][0]
        size = int(before["pile_size"])
        shuffled = int(after["pile_size"]) > size or (int(before["discards"]) & ~int(after["discards"])) != 0
        drawn = size if shuffled else size - int(after["pile_size"])
        rest = before["pile"][: size - drawn].tolist()
        self.rng.shuffle(rest)
        self.game["pile"][0, :size] = rest + before["pile"][size - drawn : size].tolist()
        self.game["rng"] = self.original.states[end - 1]["rng"] if shuffled else self.rng.getrandbits(64)

    # --- what was changed ---

    def changed(self) -> list[str]:
        """Return the names of the hidden things that differ from the game as it was."""
        old = self.original.states[-1][0]
        new = self.history.states[-1][0]
        names = [
            name for name in ("hands", "missing_gems", "accused", "standing", "seen") if (old[name] != new[name]).any()
        ]
        pairs = zip(self.original.states, self.history.states, strict=False)
        if any(a["pile"][0].tolist() != b["pile"][0].tolist() for a, b in pairs):
            names.append("pile")
        offers = [
            [(s["turn_number"][0], s["actor"][0]) for s in history.states if s["phase"][0] == kernels.OFFER]
            for history in (self.original, self.history)
        ]
        return names + (["offers"] if offers[0] != offers[1] else [])

    def secrets(self) -> list[str]:
        """Return the names of the kinds of secrets that this game has for the viewer."""
        last = self.original.states[-1][0]
        others = [seat for seat in range(self.options.num_players) if seat != self.viewer]
        has = {
            "hands": True,
            "missing_gems": not last["accused"][self.viewer] and not (self.options.winners == 1 and last["num_right"]),
            "accused": bool((last["standing"][others] == kernels.OUT).any()),
            "standing": not self.options.announce_result and bool(last["accused"][others].any()),
            "seen": bool(last["seen"][np.ix_(others, others)].any()),
            "pile": True,
            "offers": self.options.offer_order == "random"
            and any(s["phase"][0] == kernels.OFFER for s in self.original.states),
        }
        return [name for name, is_secret in has.items() if is_secret]
