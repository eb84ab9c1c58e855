"""A game set up by hand and played in the rule book's words."""

from __future__ import annotations

import numpy as np

from sleuth_env import sleuth as kernels
from sleuth_env.game import TERMINATED, TRUNCATED, kernels_of
from sleuth_env.sleuth.cards import Options, make_rules
from sleuth_env.sleuth.view import VIEW, view
from tests.support.comparison import CARD_INDEX, QUESTION_INDEX, card_mask, gem_mask
from tests.support.oracle import ACTIONS, CARDS_IN_HAND, GEMS, NUMBERS, SEARCH_CARDS


class Situation:
    """Lay out the cards that matter.

    The others fill hands, table and pile in the order in which the oracle lists them.

    Args:
        options: the game that is played; the first turn is seat 0's.
        missing: the missing gems.
        hands: gems that seats hold.
        search: search cards that seats have.
        pile: the draw pile's next cards, the next first; by default all that no seat has.
    """

    def __init__(
        self,
        options: Options,
        missing: list[str],
        hands: dict[int, list[str]] | None = None,
        search: dict[int, list[str]] | None = None,
        pile: list[str] | None = None,
    ) -> None:
        self.options = options
        self.rules = make_rules(options)
        self.n = options.num_players
        self.states = kernels.new_states(1)
        self.last_rewards = np.zeros((1, 7))
        kernels.deal(self.rules, self.states, np.array([1], "u8"))
        self.states["turn"] = self.states["actor"] = 0
        self._lay_gems(missing, hands or {})
        self._lay_search_cards(search or {}, pile)
        assert not self.problems()

    def _lay_gems(self, missing: list[str], hands: dict[int, list[str]]) -> None:
        self.missing = missing
        state = self.states[0]
        rest = [gem for gem in GEMS if gem not in missing and not any(gem in hand for hand in hands.values())]
        for seat in range(self.n):
            hand = list(hands.get(seat, []))
            while len(hand) < CARDS_IN_HAND[self.n]:
                hand.append(rest.pop(0))
            state["hands"][seat] = gem_mask(hand)
        state["missing_gems"] = gem_mask(missing)
        state["table"] = gem_mask(rest)

    def _lay_search_cards(self, search: dict[int, list[str]], pile: list[str] | None) -> None:
        state = self.states[0]
        rest = [
            card
            for card in SEARCH_CARDS
            if not any(card in cards for cards in search.values()) and card not in (pile or [])
        ]
        for seat in range(self.n):
            cards = list(search.get(seat, []))
            while len(cards) < 4:
                cards.append(rest.pop(0))
            state["search"][seat] = card_mask(cards)
        in_pile = rest if pile is None else pile
        state["pile"][: len(in_pile)] = [CARD_INDEX[card] for card in reversed(in_pile)]
        state["pile_size"] = len(in_pile)
        state["discards"] = 0 if pile is None else card_mask(rest)

    def do(self, *action: object) -> bool:
        """Take an action in words; return whether the kernel took it."""
        taken = np.zeros(1, "u1")
        # Behind the door: a game laid out by hand may know more than questions have shown.
        sound = not self.problems()
        kernels_of(kernels).step(self.rules, self.states, np.array([NUMBERS[self.n][action]]), taken, self.last_rewards)
        assert not (sound and self.problems())
        return bool(taken[0])

    def all_pass(self) -> None:
        """Let everybody decline the offers to accuse."""
        while self.phase == kernels.OFFER:
            assert self.do("pass")

    def accuse_wrongly(self) -> None:
        """Let the actor name gems that are not missing."""
        for gem in [gem for gem in GEMS if gem not in self.missing][: self.options.missing]:
            assert self.do("accuse", gem)

    def accuse_rightly(self) -> None:
        """Let the actor name the missing gems."""
        for gem in self.missing:
            assert self.do("accuse", gem)

    def offer_to(self, seat: int) -> None:
        """Let others pass until a seat is offered to accuse."""
        while self.actor != seat:
            assert self.do("pass")

    def legal(self) -> set[tuple]:
        """Return the legal actions in words."""
        marks = np.zeros((1, len(ACTIONS[self.n])), "u1")
        kernels_of(kernels).legal(self.rules, self.states, marks)
        return {ACTIONS[self.n][number] for number in np.flatnonzero(marks[0])}

    def verbs(self) -> set[str]:
        """Return the verbs of the legal actions."""
        return {action[0] for action in self.legal()}

    def __getattr__(self, field: str) -> int | np.ndarray:
        """Return a field of the state."""
        value = self.__dict__["states"][field][0]
        return value if isinstance(value, np.ndarray) else int(value)

    def announced(self, seat: int, question: str) -> int:
        """Return the number that a seat announced for a question, -1 if it was not asked."""
        return int(self.states["answers"][0, seat, QUESTION_INDEX[question]])

    def shown(self, asker: int, target: int) -> set[str]:
        """Return the gems of the target that the asker has been shown."""
        return gem_names(int(self.states["seen"][0, asker, target]))

    def search_cards(self, seat: int) -> set[str]:
        """Return a seat's face-up search cards."""
        return {card for i, card in enumerate(SEARCH_CARDS) if int(self.states["search"][0, seat]) >> i & 1}

    def seen_by(self, seat: int) -> np.void:
        """Return a seat's view."""
        views = np.zeros(1, VIEW)
        view(self.rules, self.states, np.array([seat]), views)
        return views[0]

    def rewards(self) -> list[float]:
        """Return the players' rewards."""
        rewards = self.last_rewards
        ended = np.zeros(1, "u1")
        settled = np.zeros((1, 7), "u1")
        kernels_of(kernels).ends(self.rules, self.states, ended)
        kernels_of(kernels).settled(self.rules, self.states, settled, np.zeros((1, 7)))
        self.ended_by_rules = bool(ended[0] == TERMINATED)
        self.cut_short = bool(ended[0] == TRUNCATED)
        self.cut_off = [seat for seat in range(self.n) if self.cut_short and not settled[0, seat]]
        return rewards[0, : self.n].tolist()

    def problems(self) -> list[str]:
        """Return what is wrong with the game."""
        return kernels.problems(self.rules, self.states)


def gem_names(mask: int) -> set[str]:
    """Return the names of the gems of a mask."""
    return {gem for i, gem in enumerate(GEMS) if mask >> i & 1}
