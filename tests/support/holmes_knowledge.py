"""What each player of *I Say, Holmes!* knows of the cards, as a careful player would write it down.

Part of the oracle (see `tests.support.holmes_oracle`): slow and obvious, and fed with nothing but what
the player sees. A sheet has a row for every other player, the next to the left first, and a last one for
the draw pile; a row says for each of 37 titles how many copies are there at least and at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


class Sheet:
    """The sheet of one player.

    Args:
        viewer: whose it is.
        num_players: in the game.
        titles: the names of the titles, afoot not among them.
    """

    def __init__(self, viewer: int, num_players: int, titles: Sequence[str]) -> None:
        self.viewer = viewer
        self.n = num_players
        self.titles = list(titles)
        self.pile = num_players - 1
        self.least = np.zeros((num_players, len(titles)), int)
        self.most = np.zeros((num_players, len(titles)), int)
        self.sizes = np.zeros(num_players, int)  # of the hands, and of the pile
        self.unseen = np.zeros(len(titles), int)  # copies that lie with the others or in the pile

    def row(self, seat: int) -> int:
        """Return the row of another player."""
        assert seat != self.viewer
        return (seat - self.viewer - 1) % self.n

    def count(self, cards: Iterable[str]) -> np.ndarray:
        """Return how many copies of each title are among some cards."""
        copies = np.zeros(len(self.titles), int)
        for card in cards:
            copies[self.titles.index(card)] += 1
        return copies

    def only(self, titles: Iterable[str]) -> np.ndarray:
        """Return which of all titles are among some (bool)."""
        return np.isin(self.titles, list(titles))

    # What follows

    def tighten(self) -> None:
        """Draw all conclusions: the copies of a title add up to those unseen, those of a holder to their number."""
        while True:
            least, most = self.least, self.most
            floor = np.maximum(
                self.unseen - (most.sum(0) - most), self.sizes[:, None] - (most.sum(1, keepdims=True) - most)
            )
            ceiling = np.minimum(
                self.unseen - (least.sum(0) - least), self.sizes[:, None] - (least.sum(1, keepdims=True) - least)
            )
            self.least = np.maximum(least, floor)
            self.most = np.minimum(most, ceiling)
            if (self.least == least).all() and (self.most == most).all():
                return

    # What an unknown card of a holder may be

    def can(self, row: int) -> np.ndarray:
        """Return which titles an unknown card of a holder can be (0 or 1)."""
        return (self.most[row] > 0).astype(int)

    def surely(self, row: int) -> np.ndarray:
        """Return which title an unknown card of a holder surely is (0 or 1)."""
        return ((self.least[row] == self.sizes[row]) & (self.sizes[row] > 0)).astype(int)

    def unknown_leaves(self, row: int, can: np.ndarray, surely: np.ndarray) -> None:
        """An unknown card leaves a holder."""
        self.least[row] = np.maximum(self.least[row] - can, 0)
        self.most[row] -= surely
        self.sizes[row] -= 1

    def unknown_arrives(self, row: int, can: np.ndarray, surely: np.ndarray) -> None:
        """An unknown card comes to a holder."""
        self.least[row] += surely
        self.most[row] += can
        self.sizes[row] += 1

    def moves_unknown(self, source: int, receiver: int, never: Iterable[str] = ()) -> None:
        """An unknown card goes from one holder to another; it is none of some titles."""
        may = 1 - self.only(never)
        can = self.can(source) * may
        surely = self.surely(source) * may
        self.unknown_leaves(source, can, surely)
        self.unknown_arrives(receiver, can, surely)
        self.tighten()

    # What is seen of single cards

    def leaves(self, row: int, card: str) -> None:
        """A card is seen to leave a holder, to where it remains in sight."""
        title = self.titles.index(card)
        self.least[row, title] = max(self.least[row, title], 1) - 1
        self.most[row, title] -= 1
        self.sizes[row] -= 1
        self.unseen[title] -= 1

    def arrives(self, row: int, card: str) -> None:
        """A card that was in sight is seen to come to a holder."""
        title = self.titles.index(card)
        self.least[row, title] += 1
        self.most[row, title] += 1
        self.sizes[row] += 1
        self.unseen[title] += 1

    def has_none(self, row: int, titles: Iterable[str]) -> None:
        """A holder is known to have none of some titles."""
        none = self.only(titles)
        self.least[row, none] = 0
        self.most[row, none] = 0
        self.tighten()

    def has(self, row: int, cards: Iterable[str], whole: bool) -> None:
        """A holder is seen to have some cards, and these alone if they are the whole hand."""
        copies = self.count(cards)
        self.least[row] = np.maximum(self.least[row], copies)
        if whole:
            self.least[row] = copies
            self.most[row] = copies
        self.tighten()


class Knowledge:
    """The sheets of all players.

    Args:
        num_players: in the game.
        titles: the names of the titles in order, without afoot.
    """

    def __init__(self, num_players: int, titles: Sequence[str]) -> None:
        self.n = num_players
        self.titles = list(titles)
        self.sheets = [Sheet(viewer, num_players, titles) for viewer in range(num_players)]

    def others(self, seat: int) -> list[Sheet]:
        """Return the sheets of all but one."""
        return [sheet for sheet in self.sheets if sheet.viewer != seat]

    # Beginnings

    def deal(self, hands: Sequence[Sequence[str]], pile: Sequence[str]) -> None:
        """Cards are dealt from a stack whose composition everybody knows; so is the composition of the pile."""
        for sheet in self.sheets:
            self._unseen_hands(sheet, hands)
            for seat, hand in enumerate(hands):
                if seat != sheet.viewer:
                    row = sheet.row(seat)
                    sheet.sizes[row] = len(hand)
                    sheet.least[row] = 0
                    sheet.most[row] = np.minimum(sheet.unseen, len(hand))
            there = sheet.count(pile)
            sheet.sizes[sheet.pile] = len(pile)
            sheet.least[sheet.pile] = there
            sheet.most[sheet.pile] = there
            sheet.unseen = sheet.unseen + there
            sheet.tighten()

    def begin(self, hands: Sequence[Sequence[str]], pile: Sequence[str]) -> None:
        """Nothing is known but what lies open and how many cards each has."""
        for sheet in self.sheets:
            self._unseen_hands(sheet, hands)
            sheet.unseen = sheet.unseen + sheet.count(pile)
            for seat, hand in enumerate(hands):
                if seat != sheet.viewer:
                    sheet.sizes[sheet.row(seat)] = len(hand)
            sheet.sizes[sheet.pile] = len(pile)
            sheet.least[:] = 0
            sheet.most[:] = np.minimum(sheet.unseen, sheet.sizes[:, None])
            sheet.tighten()

    def _unseen_hands(self, sheet: Sheet, hands: Sequence[Sequence[str]]) -> None:
        sheet.unseen = np.zeros(len(self.titles), int)
        for seat, hand in enumerate(hands):
            if seat != sheet.viewer:
                sheet.unseen += sheet.count(hand)

    # Events

    def shows(self, seat: int, card: str) -> None:
        """A card of a hand is played or discarded, face up."""
        for sheet in self.others(seat):
            sheet.leaves(sheet.row(seat), card)
            sheet.tighten()

    def into_pile(self, cards: Sequence[str]) -> None:
        """Cards that lay open are shuffled into the draw pile."""
        for sheet in self.sheets:
            for card in cards:
                sheet.arrives(sheet.pile, card)
            sheet.tighten()

    def lacks(self, seat: int, titles: Iterable[str]) -> None:
        """Everybody learns that a player has none of some titles."""
        for sheet in self.others(seat):
            sheet.has_none(sheet.row(seat), titles)

    def takes(self, seat: int, card: str) -> None:
        """A player takes the top card of the draw pile and looks at it; the others learn of it later."""
        own = self.sheets[seat]
        own.leaves(own.pile, card)
        own.tighten()

    def drawn_is_played(self, seat: int, card: str) -> None:
        """The others see the card that was taken."""
        for sheet in self.others(seat):
            sheet.leaves(sheet.pile, card)
            sheet.tighten()

    def drawn_is_kept(self, seat: int, never: Iterable[str] = ()) -> None:
        """The others do not see it; it is none of some titles."""
        for sheet in self.others(seat):
            sheet.moves_unknown(sheet.pile, sheet.row(seat), never)

    def looks(self, viewer: int, seat: int, cards: Iterable[str], whole: bool, never: Iterable[str] = ()) -> None:
        """A player is shown some cards of another, who has none of some titles."""
        sheet = self.sheets[viewer]
        sheet.has(sheet.row(seat), cards, whole)
        sheet.has_none(sheet.row(seat), never)

    def gives(self, giver: int, receiver: int, card: str) -> None:
        """A player secretly gives a card to another."""
        for sheet in self.sheets:
            if sheet.viewer == giver:
                sheet.arrives(sheet.row(receiver), card)
                sheet.tighten()
            elif sheet.viewer == receiver:
                sheet.leaves(sheet.row(giver), card)
                sheet.tighten()
            else:
                sheet.moves_unknown(sheet.row(giver), sheet.row(receiver))

    def hand_on(self, passed: dict[int, str]) -> None:
        """Everybody who has a card passes one to the right, all at the same time."""
        for sheet in self.sheets:
            unknown = [seat for seat in passed if seat != sheet.viewer]
            before = {seat: (sheet.can(sheet.row(seat)), sheet.surely(sheet.row(seat))) for seat in unknown}
            for seat in unknown:
                if (seat - 1) % self.n == sheet.viewer:
                    sheet.leaves(sheet.row(seat), passed[seat])
                else:
                    sheet.unknown_leaves(sheet.row(seat), *before[seat])
            for seat in passed:
                receiver = (seat - 1) % self.n
                if seat == sheet.viewer:
                    sheet.arrives(sheet.row(receiver), passed[seat])
                elif receiver != sheet.viewer:
                    sheet.unknown_arrives(sheet.row(receiver), *before[seat])
            sheet.tighten()

    def fog(self, put_down: dict[int, str], got_back: dict[int, str]) -> None:
        """Everybody who has a card puts one down; they are shuffled and dealt back."""
        for sheet in self.sheets:
            others = [seat for seat in put_down if seat != sheet.viewer]
            can = sum((sheet.can(sheet.row(seat)) for seat in others), np.zeros(len(self.titles), int))
            surely = sum((sheet.surely(sheet.row(seat)) for seat in others), np.zeros(len(self.titles), int))
            for seat in others:
                row = sheet.row(seat)
                sheet.unknown_leaves(row, sheet.can(row), sheet.surely(row))
            if sheet.viewer in put_down:
                own = self.titles.index(put_down[sheet.viewer])
                can[own] += 1
                surely[own] += 1
                sheet.unseen[own] += 1
                back = self.titles.index(got_back[sheet.viewer])
                can[back] -= 1
                surely[back] = max(surely[back], 1) - 1
                sheet.unseen[back] -= 1
            for seat in others:
                may = (can > 0).astype(int)
                must = (surely == len(others)).astype(int)
                sheet.unknown_arrives(sheet.row(seat), may, must)
            sheet.tighten()

    def hands_move(self, before: Sequence[Sequence[str]], giver: dict[int, int]) -> None:
        """Whole hands go to other players.

        Args:
            before: the hands as they were.
            giver: for each player who gets another hand, whose it was.
        """
        for sheet in self.sheets:
            least = sheet.least.copy()
            most = sheet.most.copy()
            sizes = sheet.sizes.copy()
            viewer = sheet.viewer
            for seat, source in giver.items():
                if seat == viewer:
                    sheet.unseen -= sheet.count(before[source])
                elif source == viewer:
                    given = sheet.count(before[viewer])
                    sheet.unseen += given
                    row = sheet.row(seat)
                    sheet.least[row] = given
                    sheet.most[row] = given
                    sheet.sizes[row] = len(before[viewer])
                else:
                    row = sheet.row(seat)
                    sheet.least[row] = least[sheet.row(source)]
                    sheet.most[row] = most[sheet.row(source)]
                    sheet.sizes[row] = sizes[sheet.row(source)]
            sheet.tighten()

    def innocent(self, arrester: int, accused: int, hand: Sequence[str], villains: Iterable[str]) -> None:
        """A player is found Innocent, and the arrester keeps the whole hand."""
        self.lacks(accused, villains)
        for sheet in self.sheets:
            if sheet.viewer == arrester:
                for card in hand:
                    sheet.leaves(sheet.row(accused), card)
            elif sheet.viewer == accused:
                for card in hand:
                    sheet.arrives(sheet.row(arrester), card)
            else:
                to = sheet.row(arrester)
                row = sheet.row(accused)
                for bounds in (sheet.least, sheet.most, sheet.sizes):
                    bounds[to] += bounds[row]
                    bounds[row] = 0
            sheet.tighten()
