"""Change everything that a seat cannot know of a game, and replay the same public history.

The seat is "the viewer". Hidden from it are other hands, the missing gems, the gems that others
accused (and, where results are not announced, whether they were right), the order of the draw pile,
the order of offers and others' passes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from sleuth_env import sleuth as kernels
from sleuth_env.sleuth.cards import NUM_GEMS, Options, make_rules, num_actions
from sleuth_env.sleuth.view import VIEW, view
from tests.support.oracle import Oracle
from tests.support.strategies import Player

MISSING = -1


@dataclass
class History:
    """A game from the deal on.

    It is the state before each action, the actions, and the last state (STATE [1] each).
    """

    options: Options
    states: list[np.ndarray]
    actions: list[int]

    def cut(self, length: int) -> History:
        """Return the history up to an action after which nobody is being offered to accuse."""
        while length < len(self.actions) and self.states[length]["phase"][0] == kernels.OFFER:
            length += 1
        return History(self.options, self.states[: length + 1], self.actions[:length])


def play(options: Options, seed: int, player: Player) -> History:
    """Play a whole game."""
    rules = make_rules(options)
    game = Oracle(options, seed)
    chance = random.Random(seed)
    states = kernels.new_states(1)
    taken = np.zeros(1, "u1")
    kernels.deal(rules, states, np.array([seed], "u8"))
    history = History(options, [states.copy()], [])
    while states["phase"][0] != kernels.FINISHED:
        action = player(game, chance)
        game.step(action)
        kernels.step(rules, states, np.array([action]), taken, np.zeros((1, 7)))
        history.actions.append(action)
        history.states.append(states.copy())
    return history


Received = tuple[list[bytes], list[bytes]]


def what_is_seen(history: History, viewer: int) -> Received:
    """Return all that a seat receives in a game.

    Returns:
        Its views, change by change (a step that it does not notice adds nothing; that it is its
        turn in a round of offers is left out, for who was offered before is not to be seen); and
        its views with the legal actions whenever it has to act.
    """
    rules = make_rules(history.options)
    seen = np.zeros(1, VIEW)
    marks = np.zeros((1, num_actions(history.options)), "u1")
    changes: list[bytes] = []
    decisions: list[bytes] = []
    for states in history.states:
        view(rules, states, np.array([viewer]), seen)
        if states["actor"][0] == viewer:
            kernels.legal(rules, states, marks)
            decisions.append(seen.tobytes() + marks.tobytes())
            if states["phase"][0] == kernels.OFFER:
                seen["to_act"] = 0
        if not changes or changes[-1] != seen.tobytes():
            changes.append(seen.tobytes())
    return changes, decisions


# --- another deal of the gems that agrees with all that the viewer knows ---


class Redeal:
    """Search a deal of the gems that is hidden from the viewer and explains the same announcements.

    Args:
        history: what the viewer has seen.
        viewer: the seat.
        chance: where the search's random choices come from.
    """

    def __init__(self, history: History, viewer: int, chance: random.Random) -> None:
        last = history.states[-1][0]
        self.chance = chance
        rules = make_rules(history.options)[0]
        n = history.options.num_players
        opponents = [seat for seat in range(n) if seat != viewer]
        self.held = {seat: int(last["hands"][seat]) for seat in opponents} | {MISSING: int(last["missing_gems"])}
        known = int(last["table"]) | int(last["hands"][viewer])
        for seat in opponents:
            known |= int(last["seen"][viewer, seat])
        if last["accused"][viewer] or (history.options.winners == 1 and last["num_right"]):
            known |= self.held[MISSING]
        self.hidden = [gem for gem in range(NUM_GEMS) if not known >> gem & 1]
        self.counts = {holder: [] for holder in self.held}
        for seat in opponents:
            self.counts[seat] = [
                (int(rules["question_gems"][q]), int(count))
                for q, count in enumerate(last["answers"][seat])
                if count >= 0
            ]

    def search(self) -> dict[int, int]:
        """Return every hidden holder's gems, as masks.

        The missing gems are others if that can be; else what can be changed is.
        """
        self.owner = {gem: self._owner(gem) for gem in self.hidden}
        missing = [gem for gem in self.hidden if self.owner[gem] == MISSING]
        others = [gem for gem in self.hidden if self.owner[gem] != MISSING]
        for gem in self.chance.sample(others, min(6, len(others))) if missing else []:
            self.owner = {gem: self._owner(gem) for gem in self.hidden}
            held = dict(self.held)
            self._swap(held, gem, self.chance.choice(missing))
            if self._put_right(held, [gem for gem in self.hidden if self.owner[gem] != MISSING]):
                return held
        held = dict(self.held)
        self.owner = {gem: self._owner(gem) for gem in self.hidden}
        return held if self._put_right(held, self.hidden) else dict(self.held)

    def _put_right(self, held: dict[int, int], free: list[int], moves: int = 800) -> bool:
        """Mix some gems, then swap them until every announced number is right.

        Return whether that was found.
        """
        if len({self.owner[gem] for gem in free}) < 2:
            return False
        for _ in range(self.chance.choice([1, 3, 30])):
            self._swap(held, *self._two_owned_apart(free))
        wrong = sum(self._wrong(held, holder) for holder in held)
        for move in range(moves):
            if not wrong and held != self.held:
                return True
            first, second = self._two_owned_apart(free)
            holders = self.owner[first], self.owner[second]
            before = sum(self._wrong(held, holder) for holder in holders)
            self._swap(held, first, second)
            worse = sum(self._wrong(held, holder) for holder in holders) - before
            if worse > 0 and self.chance.random() > 0.3**worse * (1 - move / moves):
                self._swap(held, first, second)
            else:
                wrong += worse
        return False

    def _owner(self, gem: int) -> int:
        return next(holder for holder, gems in self.held.items() if gems >> gem & 1)

    def _two_owned_apart(self, free: list[int]) -> tuple[int, int]:
        while True:
            first, second = self.chance.sample(free, 2)
            if self.owner[first] != self.owner[second]:
                return first, second

    def _swap(self, held: dict[int, int], first: int, second: int) -> None:
        both = 1 << first | 1 << second
        held[self.owner[first]] ^= both
        held[self.owner[second]] ^= both
        self.owner[first], self.owner[second] = self.owner[second], self.owner[first]

    def _wrong(self, held: dict[int, int], holder: int) -> int:
        return sum(abs((held[holder] & gems).bit_count() - count) for gems, count in self.counts[holder])


# --- other results of accusations, where nobody is told ---


def other_results(history: History, viewer: int, chance: random.Random) -> dict[int, bool]:
    """Return whether each accuser is right in the changed game, which looks the same in public."""
    options = history.options
    last = history.states[-1][0]
    order = accusers_in_order(history)
    results = {seat: bool(last["standing"][seat] == kernels.RIGHT) for seat in order}
    if options.announce_result:
        return results
    finished = last["phase"] == kernels.FINISHED
    for _ in range(30):
        changed = {seat: results[seat] if seat == viewer else chance.random() < 0.5 for seat in order}
        same_end = end_of_accusations(options, [changed[seat] for seat in order]) == end_of_accusations(
            options, [results[seat] for seat in order]
        )
        # At the end the rewards tell the viewer their place.
        if same_end and (not finished or place_among(changed, viewer) == place_among(results, viewer)):
            return changed
    return results


def accusers_in_order(history: History) -> list[int]:
    """Return the seats that have accused, the first first."""
    order: list[int] = []
    for states in history.states:
        order += [
            seat for seat in range(history.options.num_players) if states["accused"][0, seat] and seat not in order
        ]
    return order


def end_of_accusations(options: Options, results: list[bool]) -> tuple[int, bool] | None:
    """Return after how many accusations a game ends, and whether the last player left wins it.

    None if it goes on.
    """
    for number in range(1, len(results) + 1):
        right = sum(results[:number])
        left = options.num_players - number
        survivor = options.last_survivor_wins and left == 1 and not right
        if right == options.winners or left == 0 or survivor:
            return number, survivor
    return None


def place_among(results: dict[int, bool], seat: int) -> int:
    """Return a seat's place among those who were right, 0 if it was not."""
    right = [accuser for accuser, is_right in results.items() if is_right]
    return right.index(seat) + 1 if seat in right else 0
