"""I Say, Holmes! in extensive form: chance is a player, who deals one card after the other.

What nobody can know before it is drawn is drawn when it is needed, so a draw pile has no order: chance
draws its next card when somebody takes it. Every order of a shuffled pile is then as likely as it
was, so this is the same game; only the state looks different, for a pile lies in the order of the
titles. The rules remain the kernels of `rules`, which are tried out in the state before an action to
see what they would draw, and carry it out when chance has drawn that:

- the deal of a case is drawn card by card (and the tokens, at the beginning of the game, one by one);
- cards from the top of the pile are drawn one by one;
- whatever else is random in a step is left to the game's own generator, and chance draws the eight
  bytes of its state, one by one: cards looked at by chance, hands mixed by a dense fog, a stolen
  Telegram, a pile of discards that is turned over while cards are being drawn.

See `sleuth_env.game.Extensive`. Axis letters: ``P`` seats, ``T`` titles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bits import shuffle
from ..game import opaque
from .cards import (
    BOOKS,
    CASE,
    COPIES,
    HAND_SIZE,
    INTERRUPTS,
    MAX_IMPROMPTUS,
    NUM_CARDS,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    POINTS,
    RANK,
    SAY_TOKENS,
    SAY_TYPES,
    TELEGRAMS,
    TITLES,
    VILLAINS,
    Options,
    make_rules,
)
from .cases import deal
from .invariants import problems
from .notation import event_text, names_in, player_name, title_names
from .redeal import redeal
from .rules import step
from .state import FINISHED, NO_EVENT, PHASES, new_states
from .view import VIEW, view

# What chance is to draw, with what it has drawn so far of it. An action is carried out after that.
FIRST_DEAL = 1  # FIRST_DEAL, titles and tokens: hands, then Telegrams, then I Say tokens of each type
PILE_CARD = 2  # PILE_CARD, action, titles: cards from the top of the pile
NEW_DEAL = 3  # NEW_DEAL, action, number of titles, titles: those, then the hands of the next case
GENERATOR = 4  # GENERATOR, action, number of titles, titles, bytes: those, then the state of the generator
Draws = tuple[int, ...]
NOTHING: Draws = ()

NUM_BYTES = 8
BYTE = 256
NUM_TOKENS = NUM_TELEGRAMS + NUM_SAY_TYPES * SAY_TOKENS
# How often other cards are dealt where some contradict what a player has concluded.
TRIES = 50
MOST = 2**31 - 1


def begin(options: Options) -> tuple[np.ndarray, Draws]:
    """Return a game of which nothing has been drawn (STATE [1]), and what is to be drawn."""
    make_rules(options)
    return new_states(1), (FIRST_DEAL,)


def is_dealt(draws: Draws) -> bool:
    """Return whether all cards have been dealt and somebody is the first to play."""
    return draws[:1] != (FIRST_DEAL,)


# --- chance ---


def outcomes(options: Options, state: np.ndarray, draws: Draws) -> list[tuple[int, float]]:
    """Return what chance may draw next, in ascending order, with probabilities.

    An outcome is a title, the number of a token, or a byte.

    >>> state, draws = begin(Options(num_players=3))
    >>> sum(chance for _, chance in outcomes(Options(num_players=3), state, draws))
    1.0
    """
    left = _open(options, state[0], draws)
    number = sum(left.values())
    return [(outcome, left[outcome] / number) for outcome in sorted(left)]


def _open(options: Options, s: np.void, draws: Draws) -> dict[int, int]:
    """Return how many equally likely ways there are to draw each outcome."""
    kind = draws[0]
    if kind == GENERATOR:
        return dict.fromkeys(range(BYTE), 1)
    if kind == PILE_CARD:
        return _left(s["pile"][: s["pile_size"]].tolist(), draws[2:])
    if kind == NEW_DEAL:
        return _left(_stack(options), draws[3 + draws[2] :])
    drawn = draws[1:]
    hands = len(_stack(options))
    if len(drawn) < hands:
        return _left(_stack(options), drawn)
    _, tokens, first = _token_kind(len(drawn) - hands)
    return _left(range(tokens), drawn[hands + first :])


def _stack(options: Options) -> list[int]:
    """Return the titles of the Deal Out Stack, with repeats."""
    rules = make_rules(options)[0]
    stack: list[int] = rules["stack_cards"][: rules["stack_size"]].tolist()
    return stack


def _left(cards: Sequence[int], drawn: Sequence[int]) -> dict[int, int]:
    return dict(Counter(cards) - Counter(drawn))


def _token_kind(number: int) -> tuple[int, int, int]:
    """Return the kind of the token that is drawn after a number of others, how many there are of it, and the first.

    -1 stands for Telegrams, anything else is a type of I Say tokens.
    """
    if number < NUM_TELEGRAMS:
        return -1, NUM_TELEGRAMS, 0
    kind = (number - NUM_TELEGRAMS) // SAY_TOKENS
    return kind, SAY_TOKENS, NUM_TELEGRAMS + kind * SAY_TOKENS


def draw(options: Options, state: np.ndarray, draws: Draws, outcome: int, rewards: NDArray[np.float64]) -> Draws:
    """Let chance draw one of `outcomes`; return what is to be drawn then.

    ``rewards`` (f8 [1, P]) is written: what each seat gets by the action that is carried out then.
    """
    rewards[:] = 0
    draws = (*draws, outcome)
    kind = draws[0]
    if kind == PILE_CARD:
        return _advance(options, state, draws[1], draws[2:], rewards) or NOTHING
    dealt = draws[1:] if kind == FIRST_DEAL else draws[3 + draws[2] :]
    if len(dealt) < _needed(options, kind):
        return draws
    if kind == FIRST_DEAL:
        _begin_game(options, state, dealt)
        return NOTHING
    titles = draws[3 : 3 + draws[2]]
    if kind == NEW_DEAL:
        _carry_out(_dealing(options, dealt), state, draws[1], titles, rewards)
    else:
        generator = int.from_bytes(bytes(dealt), "big")
        _carry_out(make_rules(options), state, draws[1], titles, rewards, generator)
    _settle(state[0])
    return NOTHING


def _needed(options: Options, kind: int) -> int:
    """Return how much has to be drawn."""
    if kind == GENERATOR:
        return NUM_BYTES
    return len(_stack(options)) + (NUM_TOKENS if kind == FIRST_DEAL else 0)


def outcome_name(options: Options, state: np.ndarray, draws: Draws, outcome: int) -> str:
    """Return what chance draws in words.

    >>> state, draws = begin(Options(num_players=3))
    >>> outcome_name(Options(num_players=3), state, draws, TITLES.index("clue"))
    'player_0 gets clue'
    """
    kind = draws[0]
    if kind == GENERATOR:
        return f"byte {len(draws) - 3 - draws[2]} of the generator is {outcome}"
    if kind == PILE_CARD:
        return f"the next card is {TITLES[outcome]}"
    number = len(draws) - (1 if kind == FIRST_DEAL else 3 + draws[2])
    if number < len(_stack(options)):
        return f"{player_name(number // HAND_SIZE)} gets {TITLES[outcome]}"
    token, _, _ = _token_kind(number - len(_stack(options)))
    if token < 0:
        return f"the next Telegram is {TELEGRAMS[outcome]}"
    worth = int(make_rules(options)[0]["say_points"][token, outcome])
    return f"the next token {SAY_TYPES[token]} is number {outcome}, worth {worth}"


# --- deals ---


@lru_cache(maxsize=64)
def _shuffled(size: int) -> tuple[int, ...]:
    """Return where each of some cards comes from when they are shuffled by a generator at 0."""
    game = new_states(1)
    cards = np.arange(size, dtype=np.int8)
    shuffle(game[0], cards, size)
    return tuple(cards.tolist())


def _dealing(options: Options, dealt: Sequence[int]) -> np.ndarray:
    """Return the rules (RULES [1]) with which a generator at 0 deals these titles."""
    rules = make_rules(options).copy()
    for place, title in zip(_shuffled(len(dealt)), dealt, strict=True):
        rules["stack_cards"][0, place] = title
    # Kernels would be compiled once more for rules that can be written into.
    rules.flags.writeable = False
    return rules


def _begin_game(options: Options, state: np.ndarray, dealt: Sequence[int]) -> None:
    hands = len(_stack(options))
    deal(_dealing(options, dealt[:hands]), state, np.zeros(1, np.uint64))
    s = state[0]
    tokens = dealt[hands:]
    s["telegram_stock"] = tokens[:NUM_TELEGRAMS][::-1]
    points = make_rules(options)[0]["say_points"]
    for kind in range(NUM_SAY_TYPES):
        start = NUM_TELEGRAMS + kind * SAY_TOKENS
        s["say_pool"][kind] = points[kind, list(tokens[start : start + SAY_TOKENS][::-1])]
    _settle(s)


def _settle(s: np.void) -> None:
    """Let the pile lie in the order of the titles, for none of it has been drawn, and the generator at 0."""
    s["rng"] = 0
    s["pile"][: s["pile_size"]].sort()


# --- actions ---


def act(options: Options, state: np.ndarray, action: int, rewards: NDArray[np.float64]) -> Draws | None:
    """Take a player's action; return what is to be drawn then, None where it is illegal and nothing has changed.

    Where something is to be drawn the state is still the one before the action.
    """
    return _advance(options, state, action, (), rewards)


def _carry_out(
    rules: np.ndarray,
    state: np.ndarray,
    action: int,
    titles: Sequence[int],
    rewards: NDArray[np.float64],
    generator: int | None = None,
) -> bool:
    """Take an action with some cards on top of the pile; return whether it is legal.

    With a generator, by which the rest of the pile is shuffled first: it may be drawn in this step, too.
    """
    s = state[0]
    size = int(s["pile_size"])
    if titles:
        rest = sorted((Counter(s["pile"][:size].tolist()) - Counter(titles)).elements())
        s["pile"][:size] = [*rest, *titles[::-1]]
    if generator is not None:
        s["rng"] = generator
        shuffle(s, s["pile"], size - len(titles))
    taken = np.zeros(1, np.uint8)
    step(rules, state, np.array([action], np.int64), taken, rewards)
    return bool(taken[0])


def _advance(
    options: Options, state: np.ndarray, action: int, titles: Draws, rewards: NDArray[np.float64]
) -> Draws | None:
    """Carry an action out if all that it draws has been drawn; return what is to be drawn next, None if it is illegal.

    Without another case after this one, it is seen what is drawn before a new deal.
    """
    s = state[0]
    trial = _copy(state)
    if not _carry_out(_last_case(options, int(s["case_number"])), trial, action, titles, rewards):
        return None
    if trial["rng"][0] != 0:
        rewards[:] = 0
        return (GENERATOR, action, len(titles), *titles)
    if int(s["pile_size"]) - int(trial["pile_size"][0]) > len(titles):
        rewards[:] = 0
        return (PILE_CARD, action, *titles)
    if trial["phase"][0] == FINISHED:
        trial = _copy(state)
        _carry_out(make_rules(options), trial, action, titles, rewards)
        if trial["case_number"][0] != s["case_number"]:
            rewards[:] = 0
            return (NEW_DEAL, action, len(titles), *titles)
    _settle(trial[0])
    opaque(state)[:] = opaque(trial)
    return NOTHING


def _copy(state: np.ndarray) -> np.ndarray:
    return opaque(state).copy().view(state.dtype)


@lru_cache(maxsize=256)
def _last_case(options: Options, case: int) -> np.ndarray:
    """Return the rules (RULES [1]) by which a game ends with a case."""
    rules = make_rules(options).copy()
    rules["cases"] = case
    rules.flags.writeable = False
    return rules


def resampled(options: Options, state: np.ndarray, seat: int, rng: np.random.Generator) -> np.ndarray:
    """Return a game (STATE [1]) that may be the one that a seat sees, see `redeal`.

    Hidden cards are dealt within the bounds of the seat's sheet, and what others have been shown of
    one another is forgotten.

    Args:
        options: of the game.
        state: STATE [1], in which somebody is to decide.
        seat: the viewer, who decides.
        rng: draws.

    Raises:
        ValueError: somebody else is to decide, or no deal was found.
    """
    if seat != state["actor"][0]:
        raise ValueError(f"a game of holmes can be resampled for player_{int(state['actor'][0])} only, who decides")
    rules = make_rules(options)
    views = np.zeros(1, VIEW)
    view(rules, state, np.array([seat]), views)
    again = np.zeros(1, VIEW)
    for _ in range(TRIES):
        games = new_states(1)
        redeal(rules, views, rng.integers(0, 2**64, 1, np.uint64), games)
        games = _with_hidden(state, games[0], seat)
        view(rules, games, np.array([seat]), again)
        if again[0] == views[0] and not problems(rules, games):
            return games
    raise ValueError(f"no deal that player_{seat} takes for possible was found in {TRIES} tries")


HIDDEN = (
    *("hands", "held", "pile", "set_down"),
    *("telegrams", "telegram_stock", "say", "say_pool"),
    *("least", "most", "spare", "excess", "counted"),
)
LOOKS = ("looks", "look_whole", "look_turn")


def _with_hidden(state: np.ndarray, dealt: np.void, seat: int) -> np.ndarray:
    """Return a game with what is hidden from a seat taken from another one (STATE [1])."""
    games = _copy(state)
    s = games[0]
    for name in HIDDEN:
        s[name] = dealt[name]
    others = np.arange(len(s["hands"])) != seat
    for name in LOOKS:
        s[name][np.ix_(others, others)] = 0
    s["declined"][others] = 0
    _settle(s)
    return games


# --- what a seat knows ---


def noticed(options: Options, before: Any, seen: Any) -> list[bytes]:
    """Return what a seat notices between two of its views (VIEW records): the new public events, one by one.

    Whatever else it sees is in what it sees whenever it decides. In between it would tell how the
    course of a turn is divided into steps, which depends on what others may decide.
    """
    if before is None:
        return [seen.tobytes()]
    size = 2 * options.num_players
    old = before["events"][:size].tolist()
    new = seen["events"][:size].tolist()
    number = next(k for k in range(size + 1) if new[k:] == old[: size - k])
    return [np.array(event, np.int8).tobytes() for event in new[:number][::-1]]


def _by_seat(seen: Any) -> list[tuple[str, int]]:
    """Return the name and the relative seat of every player, player_0 first."""
    count = int(seen["num_players"])
    return [(player_name(seat), (seat - int(seen["seat"])) % count) for seat in range(count)]


def _listed(names: Sequence[str]) -> str:
    return " ".join(names) or "none"


def public_text(options: Options, seen: Any) -> str:
    """Return what everybody knows in words: what lies open, the tokens, the last events."""
    names = [player_name((int(seen["seat"]) + k) % options.num_players) for k in range(options.num_players)]
    over = f", {PHASES[FINISHED]}" if seen["phase"] == FINISHED else ""
    pools = [f"{name} {int(number)}" for name, number in zip(SAY_TYPES, seen["say_pool"], strict=True)]
    lines = [
        f"case {int(seen['case_number'])}, turn {int(seen['turn_number'])} of {names[seen['turn']]}{over}",
        f"current: {TITLES[seen['current']]}, {'city' if seen['city'] else 'country'}",
        f"draw pile: {int(seen['pile_size'])}; discards: {_listed(title_names(seen['discards']))}",
        f"pool: {', '.join(pools)}, telegrams {int(seen['telegram_pool'])}",
    ]
    lines += (_seat_line(seen, name, k) for name, k in _by_seat(seen))
    if seen["last_closer"] >= 0:
        lines.append(_last_case_line(seen, names))
    events = [event_text(event, names) for event in seen["events"] if event[0] != NO_EVENT]
    return "\n".join([*lines, f"last: {'; '.join(events) or 'nothing'}"])


def _seat_line(seen: Any, name: str, k: int) -> str:
    masks = (("books", BOOKS), ("villain_tokens", VILLAINS), ("say_tokens", SAY_TYPES))
    tokens = [token for field, all_of in masks for i, token in enumerate(all_of) if int(seen[field][k]) >> i & 1]
    return (
        f"{name}: {int(seen['hand_sizes'][k])} cards, {int(seen['closed'][k])} cases closed; "
        f"tokens: {_listed(tokens)}, telegrams {int(seen['telegrams'][k])}"
    )


def _last_case_line(seen: Any, names: Sequence[str]) -> str:
    closer = names[seen["last_closer"]]
    if seen["last_accused"] < 0:
        escaped = [name for i, name in enumerate(VILLAINS) if int(seen["last_escaped"]) >> i & 1]
        return f"last case: {closer} escaped with {_listed(escaped)}"
    book = BOOKS[seen["last_book"]] if seen["last_book"] >= 0 else "no book"
    return f"last case: {closer} arrested {names[seen['last_accused']]} for {int(seen['last_total'])}, {book}"


def private_text(options: Options, seen: Any) -> str:
    """Return what the viewer knows besides in words: its hand, its decision, looks, what it has concluded."""
    lines = [f"I am {player_name(int(seen['seat']))}", f"hand: {_listed(title_names(seen['hand']))}"]
    if seen["to_act"]:
        lines.append(_decision_line(options, seen))
    for name, k in _by_seat(seen):
        if seen["shown_turn"][k]:
            what = "the whole hand" if seen["shown_whole"][k] else "cards"
            shown = _listed(title_names(seen["shown"][k]))
            lines.append(f"{name} showed me {what} in turn {int(seen['shown_turn'][k])}: {shown}")
        if seen["seen_by"][k].any() or seen["seen_by_whole"][k]:
            lines.append(f"{name} has seen of mine: {_listed(title_names(seen['seen_by'][k]))}")
    return "\n".join([*lines, *_sheet_lines(options, seen)])


def _decision_line(options: Options, seen: Any) -> str:
    names = [player_name((int(seen["seat"]) + k) % options.num_players) for k in range(options.num_players)]
    words = [f"to decide: {PHASES[seen['phase']]}"]
    words += [f"{field} {TITLES[seen[field]]}" for field in ("card", "drawn") if seen[field] >= 0]
    words += [f"{field} {names[seen[field]]}" for field in ("player", "target") if seen[field] >= 0]
    tried = [name for k, name in enumerate(names) if int(seen["tried"]) >> k & 1]
    return ", ".join([*words, *([f"tried {_listed(tried)}"] if tried else [])])


def _sheet_lines(options: Options, seen: Any) -> list[str]:
    """Return which cards a holder has for certain, and which titles it cannot have though they are about."""
    holders = [*((name, k - 1) for name, k in _by_seat(seen) if k > 0), ("draw pile", options.num_players - 1)]
    about = seen["most"][: options.num_players].any(axis=0)
    lines = []
    for name, h in holders:
        size = int(seen["hand_sizes"][h + 1] if h < options.num_players - 1 else seen["pile_size"])
        lacking = sum(1 << t for t in np.flatnonzero(about & (seen["most"][h] == 0)).tolist())
        known = [f"has {_listed(title_names(seen['least'][h]))}"] if seen["least"][h].any() else []
        # Of a holder all of whose cards are known that is all there is to say.
        known += [f"lacks {_listed(names_in(lacking))}"] if lacking and seen["least"][h].sum() < size else []
        lines += [f"{name} certainly {'; '.join(known)}"] if known else []
    return lines


# --- bounds ---


def most_outcomes(options: Options) -> int:
    """Return the number of values of a byte."""
    return BYTE


def most_decisions(options: Options) -> int:
    """Return a number that the decisions of a game do not exceed.

    In a turn every card is played at most once on average, and answered, shown and set down by
    everybody; of Impromptu Arrests, each of which every Interrupt may counter, there are 50.
    """
    num_players = options.num_players
    interrupts = sum(COPIES[title] for title in INTERRUPTS)
    cards = NUM_CARDS * (4 * num_players + 6)
    arrests = MAX_IMPROMPTUS * (interrupts + 1) * (num_players + 2)
    return min(options.max_turns * (cards + arrests), MOST)


def most_draws(options: Options) -> int:
    """Return a number that the draws of a game do not exceed: of each decision a pile, or a deal."""
    return min(most_decisions(options) * NUM_CARDS, MOST)


@lru_cache(maxsize=64)
def payoffs(options: Options) -> tuple[float, float]:
    """Return numbers below and above which nobody gets in a game.

    >>> payoffs(Options(num_players=3))
    (-0.5, 1.0)
    """
    rules = make_rules(options)[0]
    others = options.num_players - 1
    if rules["reward"] == POINTS:
        # Everything there is, and the worst of every Telegram.
        most = int(rules["book_points"].sum() + rules["villain_points"].sum() + rules["say_points"].max(axis=1).sum())
        most += int(rules["telegram_points"].max(axis=1).clip(0).sum())
        least = int(rules["telegram_points"].min(axis=1).clip(None, 0).sum())
        return -(most - least) / 10, (most - least) / 10
    if rules["reward"] == CASE:
        cases = min(options.cases or options.max_turns, options.max_turns)
        return -cases / others, float(cases)
    return (-1.0 if rules["reward"] == RANK else -1 / others), 1.0


def pays_at_end(options: Options) -> bool:
    """Return whether all is paid in the last step: unless each closed case is paid for."""
    return options.reward != "case"
