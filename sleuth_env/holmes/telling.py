"""A game of I Say, Holmes! told in words: turn by turn, or to a person who plays it.

It is what the command line knows of the game, see `sleuth_env.game.Telling`. A game is told from
the viewpoint of the public, of one player, or with every hidden card. Whatever is told to a player
is taken from their views, which hold nothing that they may not know. Whatever takes a view, a state
or a game raises ArrayError where it is given something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..game import names_from
from ..game_doors import checked_seat
from .cards import (
    BOOKS,
    CARDS,
    CATEGORY,
    NUM_BOOKS,
    SAY_TYPES,
    TITLES,
    VILLAINS,
    Options,
    action_blocks,
    make_rules,
)
from .drawing.scene import (
    counted,
    follows_words,
    may_escape,
    playable_mask,
    status_words,
    suitable_mask,
)
from .drawing.text import COLUMNS, draw_odds
from .notation import action_name, event_text, names_in, player_name
from .records import one_view, seat_in_view
from .reveal import reveal as reveal_state
from .review import ending, review, view_of
from .state import (
    ARRESTED,
    COUNTERED,
    DISCARD,
    DISCARDED,
    DRAWN,
    ESCAPE,
    ESCAPED,
    FINISHED,
    FOG,
    GIVE,
    HAND_ON,
    IMPROMPTU,
    KIND,
    PLAYED,
    PLAYER,
    RESPOND,
    SECOND,
    SHOW,
    SOURCE,
    TITLE,
    TOKEN,
    TURN,
    VERDICT,
)
from .transcript import GameRecord, Move, checked_record, escaped_names, new_events, result_text
from .transcript import Turn as GameTurn

__all__ = [
    "COLUMNS",
    "FORMS",
    "HEADINGS",
    "announcement",
    "doubt",
    "doubts",
    "draw_odds",
    "ending",
    "hint",
    "meant",
    "news",
    "num_steps",
    "prompt",
    "proved",
    "review",
    "rules",
    "seat_names",
    "step_ends",
    "tell_game",
    "unasked",
    "unsaid",
    "view_of",
]

FORMS = {
    "play TITLE": "play a card, for instance: play train; the title alone is enough: train",
    "play TITLE on +K": "play a card on the K-th player to your left, for instance: play suspicion on +2; "
    "short: suspicion +2",
    "choose TITLE": "choose a card of your hand to be passed, put down, given, shown or discarded",
    "arrest +K": "arrest the K-th player to your left",
    "token TYPE": "take an I Say token (pipe, hat or glass) from the pool",
    "token TYPE from +K": "take it from a player, where the pool has none",
    "from +K": "take the Telegram from a player; +0 is yourself",
    "draw": "draw a card; only if none of yours is Suitable",
    "escape": "close the case with your Villains, if you hold nothing else but Interrupts",
    "pass": "play no other card, keep the card drawn, do not counter, do not arrest or escape, as the case may be",
}
HEADINGS: dict[str, str] = {}
# What is played for, by the option `reward`.
TOKENS = "Books, Villain tokens, I Say tokens and Telegrams together"
GOALS = {
    "winner": f"Whoever then has most points wins: {TOKENS}",
    "rank": f"Whoever then has most points wins ({TOKENS}), and every place counts",
    "points": f"Whoever then has most points wins ({TOKENS}), and every point counts",
    "case": "What counts is every case that you close, and nothing else",
}
PROMPTS = {
    TURN: "your turn",
    SECOND: "another card, or pass",
    DRAWN: "play the drawn card",
    TOKEN: "which token",
    RESPOND: "counter, or pass",
    HAND_ON: "which card do you pass on",
    FOG: "which card do you put down",
    GIVE: "which card do you give",
    SHOW: "which card do you show",
    DISCARD: "which Villain do you discard",
    SOURCE: "from whom",
    VERDICT: "arrest, or pass",
    IMPROMPTU: "whom do you arrest",
    ESCAPE: "escape, or pass",
    FINISHED: "the game is over",
}
# How the sheet is read that is drawn at a terminal.
SHEET = (
    "The sheet shows who may hold each Villain: yes, ? perhaps, a dot not. +1 is the player to your left, and so on. "
)
# Words of actions that may be left out.
FILLERS = frozenset(("play", "choose", "arrest", "from", "token", "on"))


# --- a game text, turn by turn ---


def tell_game(
    record: GameRecord,
    viewpoint: int | None = None,
    reveal: bool = False,
    steps: range | None = None,
    draw: Callable[[Any], str] | None = None,
) -> Iterator[str]:
    """Iterate over the story of a game, one text (of one or more lines) a step.

    A step is a turn, which everybody counts alike: who was asked to decide in it, and how often, is
    nobody else's business.

    Args:
        record: the game, as `parse_game` returns it.
        viewpoint: the seat whose private knowledge and drawing are added; None: public events only.
        reveal: whether to show the hidden cards and every action.
        steps: which turns to tell, from 1; default: all. The deal is told with the first.
        draw: draws what the viewpoint knows (VIEW record); default: nothing is drawn.
    """
    options = checked_record(record).options
    seat = None if viewpoint is None else checked_seat(options, viewpoint, "viewpoint")
    return _story(record, seat, reveal, steps, draw)


def _story(
    record: GameRecord, viewpoint: int | None, reveal: bool, steps: range | None, draw: Callable[[Any], str] | None
) -> Iterator[str]:
    last = 1
    if reveal:
        yield "\n".join(_deal_lines(record.options, record.first_state))
    for turn in record.turns():
        last = turn.number
        if steps is not None and turn.number not in steps:
            continue
        lines = list(_turn_lines(record.options, turn, viewpoint, reveal))
        if viewpoint is not None and draw is not None:
            lines.append(draw(view_of(record.options, turn.after, viewpoint)))
        yield "\n".join(lines)
    if steps is None or last in steps:
        yield from _result_lines(record, reveal)


def num_steps(record: GameRecord) -> int:
    """Return the number of steps of `tell_game`: of turns that have begun."""
    return max(turn.number for turn in checked_record(record).turns())


def step_ends(record: GameRecord) -> list[int]:
    """Return how many actions have been taken when each turn is over; first, before the first one: none."""
    return list(accumulate((len(turn.moves) for turn in checked_record(record).turns()), initial=0))


def _deal_lines(options: Options, state: Any) -> Iterator[str]:
    """Iterate over lines that show the hidden cards of a game."""
    revealed = reveal_state(options, state)
    yield f"case {revealed['case_number']}"
    for player, cards in revealed["hands"].items():
        yield f"    hand of {player}: {', '.join(cards) or 'none'}"
    yield f"    draw pile: {', '.join(revealed['draw_pile']) or 'none'}"


def _turn_lines(options: Options, turn: GameTurn, viewpoint: int | None, everything: bool) -> Iterator[str]:
    """Iterate over the lines of one turn: a heading, what everybody saw, what else the viewpoint knows."""
    state = turn.before
    names = [player_name(seat) for seat in range(options.num_players)]
    yield (
        f"step {turn.number}, case {int(state['case_number'])}: turn of {names[int(state['turn'])]}, "
        f"the Current card is {TITLES[int(state['current'])]}"
    )
    for move in turn.moves:
        if everything:
            yield f"    {names[int(move.before['actor'])]}: {action_name(move.action, options)}"
        yield from (f"    {line}" for line in _move_lines(options, move, viewpoint, names))
    if everything and turn.after["case_number"] != state["case_number"]:
        yield from _deal_lines(options, turn.after)


def _move_lines(options: Options, move: Move, viewpoint: int | None, names: Sequence[str]) -> list[str]:
    if viewpoint is None:
        return public_lines(options, move.before, move.after, names)
    before = view_of(options, move.before, viewpoint)
    seen = view_of(options, move.after, viewpoint)
    return told_lines(options, before, seen, seat_names(seen))


def _result_lines(record: GameRecord, reveal: bool) -> Iterator[str]:
    """Iterate over lines that say how the game stands; who is to decide in private is hidden."""
    state = record.last_state
    finished = state["phase"] == FINISHED
    yield f"result: {result_text(record.options, state) if finished or reveal else 'unfinished'}"
    if finished or reveal:
        yield from (f"    {player}: {points} points" for player, points in _points(record).items())


def _points(record: GameRecord) -> dict[str, int]:
    found: dict[str, int] = reveal_state(record.options, record.last_state)["points"]
    return found


# --- what one seat is told ---


def seat_names(seen: Any, you: str = "") -> list[str]:
    """Return the names of the seats in the numbering of a view (one VIEW record).

    ``you`` is the viewer's name, and then the others are called by their distance, too.
    """
    count, seat = seat_in_view(seen, "seen")
    return names_from(seat, count, you)


def public_lines(options: Options, before: Any, after: Any, names: Sequence[str]) -> list[str]:
    """Return what everybody saw of an action, line by line.

    Args:
        options: of the game.
        before: STATE or VIEW record before the action.
        after: the same after it.
        names: of the seats, in the numbering of the records.
    """
    events = new_events(options, before, after)
    lines = []
    for event in events:
        lines.append(event_text(event, names))
        if event[KIND] in (ARRESTED, ESCAPED):
            lines.append(_closing_words(after, names))
    return lines


def _closing_words(after: Any, names: Sequence[str]) -> str:
    """Return how the last case was closed, in words."""
    closer = names[int(after["last_closer"])]
    if after["last_accused"] < 0:
        return f"  {closer} escaped with {', '.join(escaped_names(after))}"
    book = int(after["last_book"])
    return f"  the Grand Total was {int(after['last_total'])}: {closer} took {BOOKS[book] if book >= 0 else 'no Book'}"


def told_lines(options: Options, before: Any, seen: Any, names: Sequence[str]) -> list[str]:
    """Return all that a viewer noticed of an action, line by line.

    Args:
        options: of the game.
        before: VIEW record before the action.
        seen: VIEW record after it.
        names: of the seats in the numbering of the views.
    """
    lines = public_lines(options, before, seen, names)
    lines += [f"  {line}" for line in _token_lines(options, before, seen, names)]
    if seen["case_number"] != before["case_number"]:
        return [*lines, f"case {int(seen['case_number'])} begins; dealt to {names[0]}: {', '.join(_hand_words(seen))}"]
    lines += [f"  {line}" for line in _hand_lines(options, before, seen, names)]
    return [*lines, *(f"  {line}" for line in _look_lines(options, before, seen, names))]


def _hand_words(seen: Any) -> list[str]:
    return counted(seen["hand"])


def _token_lines(options: Options, before: Any, seen: Any, names: Sequence[str]) -> Iterator[str]:
    for k in range(options.num_players):
        types = int(seen["say_tokens"][k])
        if types & ~int(before["say_tokens"][k]):
            shown = [name for kind, name in enumerate(SAY_TYPES) if types >> kind & 1]
            yield f"I Say tokens before {names[k]}: {', '.join(shown)}"


def _hand_lines(options: Options, before: Any, seen: Any, names: Sequence[str]) -> Iterator[str]:
    """Iterate over lines that say what came into a viewer's hand and left it, but for cards played from it."""
    change = seen["hand"].astype(np.int64) - before["hand"]
    for event in new_events(options, before, seen):
        title = int(event[TITLE])
        shown = event[KIND] in (PLAYED, COUNTERED, DISCARDED) and event[PLAYER] == 0
        if shown and change[title] < 0:
            change[title] += 1
    whose = "your hand" if names[0] == "you" else f"the hand of {names[0]}"
    if (change < 0).any():
        yield f"out of {whose}: {', '.join(counted(np.maximum(-change, 0)))}"
    if (change > 0).any():
        yield f"into {whose}: {', '.join(counted(np.maximum(change, 0)))}"


def _differ(before: Any, seen: Any, k: int, *fields: str) -> bool:
    return any(bool((seen[name][k] != before[name][k]).any()) for name in fields)


def _look_lines(options: Options, before: Any, seen: Any, names: Sequence[str]) -> Iterator[str]:
    """Iterate over lines that say what a viewer was shown and had to show."""
    you = names[0] == "you"
    for k in range(1, options.num_players):
        if seen["shown_turn"][k] and _differ(before, seen, k, "shown", "shown_whole", "shown_turn"):
            whole = " (all of it)" if seen["shown_whole"][k] else ""
            known = ", ".join(counted(seen["shown"][k])) or "nothing"
            yield f"{'you know' if you else 'known'} of the hand of {names[k]}: {known}{whole}"
        if seen["seen_by"][k].any() and _differ(before, seen, k, "seen_by", "seen_by_whole"):
            whole = " (all of it)" if seen["seen_by_whole"][k] else ""
            whose = "your hand" if you else f"the hand of {names[0]}"
            yield f"{names[k]} knows of {whose}: {', '.join(counted(seen['seen_by'][k]))}{whole}"


# --- a person at the table ---


def announcement(options: Options, seen: Any) -> list[str]:
    """Return what a person is told before deciding: what is to be decided, and by which cards."""
    seen = one_view(options, seen, "seen")[0]
    words = f"{status_words(options, seen, seat_names(seen, 'you'))}."
    if seen["phase"] == TURN:
        words = f"Turn {int(seen['turn_number'])} is yours. {_choice_words(options, seen)}"
    elif seen["phase"] == SECOND:
        words = f"{words} {_choice_words(options, seen)}"
    return [words]


def _choice_words(options: Options, seen: Any) -> str:
    """Return which cards may be played, and whether one may be drawn."""
    names = names_in(playable_mask(options, seen))
    words = f"On {TITLES[int(seen['current'])]} you may play {', '.join(names)}" if names else "You can play nothing"
    if seen["phase"] != TURN:
        return f"{words}."
    if not suitable_mask(options, seen):
        words += "; or draw" if names else "; draw"
    if may_escape(options, seen):
        words += "; or escape"
    return f"{words}."


def prompt(options: Options, seen: Any) -> str:
    """Return what a person is asked for."""
    seen = one_view(options, seen, "seen")[0]
    if seen["phase"] == DRAWN and _may_keep(seen):
        return "play the drawn card, or pass"
    return PROMPTS.get(int(seen["phase"]), "others decide")


def _may_keep(seen: Any) -> bool:
    """Return whether a drawn card may be kept although it can be played."""
    return CATEGORY[int(seen["drawn"])] == "i-say"


def unsaid(options: Options, seen: Any) -> str:
    """Return the name of the action that an empty line stands for: that no more is played."""
    seen = one_view(options, seen, "seen")[0]
    return "pass" if seen["phase"] == SECOND or (seen["phase"] == DRAWN and _may_keep(seen)) else ""


def meant(typed: str, names: Iterable[str]) -> list[str]:
    """Return those names of actions that a typed text can mean.

    Words such as ``play`` and ``on`` may be left out, and so may the target.

    >>> names = ["play train", "play clue on +1", "play clue on +2", "draw"]
    >>> meant("train", names), meant("clue 2", names), meant("clue", names)
    (['play train'], ['play clue on +2'], ['play clue on +1', 'play clue on +2'])
    """
    words = typed.split()
    found = []
    for name in names:
        if name == typed:
            return [name]
        if words and _is_short_for(words, name.split()):
            found.append(name)
    return found


def _is_short_for(typed: list[str], name: list[str]) -> bool:
    """Return whether typed words are those of an action, but for fillers and a target that is left out.

    A mere number is none: it may be that of a player or of a line in a list.
    """
    first = typed[0]
    if first in FILLERS and first not in ("on", name[0]):
        return False
    if all(word.isdecimal() for word in typed):
        return False
    words = [f"+{word}" if word.isdecimal() else word for word in typed if word not in FILLERS]
    content = [word for word in name if word not in FILLERS]
    return bool(words) and words == content[: len(words)]


def news(options: Options, state: Any, action: int, seen: Any, before: Any) -> list[str]:
    """Return what the viewer may know of the last action, line by line; nothing if hidden.

    Args:
        options: of the game.
        state: STATE record, after the action; nothing is taken from it.
        action: its number; what was hidden stays hidden.
        seen: VIEW record, after the action.
        before: VIEW record, before the action.
    """
    seen = one_view(options, seen, "seen")[0]
    before = one_view(options, before, "before")[0]
    return [f"  {line}" for line in told_lines(options, before, seen, seat_names(seen, "you"))]


def rules(options: Options, typed: bool = False) -> list[str]:
    """Return the rules in brief, paragraph by paragraph; the first says in three sentences what the goal is.

    Args:
        options: of the game.
        typed: whether they are for somebody at a terminal, who is also told how to read the sheet that is drawn there.
    """
    end = "when somebody takes the Book His Last Bow (last-bow)"
    end += f", and after {options.cases} case{'s' if options.cases > 1 else ''} at the latest" if options.cases else ""
    more = (
        "You may play as many cards as you like, one Suitable to the other, until you play a travel card."
        if options.fast_play
        else f"Whoever begins a turn with {CARDS['deduction_hand']} cards or more may play a second one."
    )
    must = "must" if options.must_arrest else "may"
    left = "other Villains"
    left += " and the rest of the arrested hand" if options.guilty_hand == "discarded" else ""
    begins = "begins in the city" if options.new_case_location == "city" else "begins where the last one has ended"
    after_alibi = ", and the player to the left of its user is next" if options.after_alibi == "left_of_alibi" else ""
    return [
        "Somewhere in the players' hands are Villains: arrest a player who holds one and you close the case and take a "
        "Book, or hold nothing but Villains (and Interrupts) yourself and escape with their tokens. "
        "Cases follow one another, and tokens are kept; the game ends "
        f"{end}. "
        f"{GOALS[options.reward]}.",
        "On your turn play a card that is Suitable to the Current card: one that its list names. Where the list says "
        "similar-location, it is a location of the kind that the Location marker shows, city or country. If you hold "
        "no Suitable card you draw; a Suitable card that is drawn is played at once. " + more,
        "I Say cards (sherlock-holmes, mrs-hudson, ...) may be played instead, never must; most of them not while the "
        "Current card is a travel card. If the Current card's list names i-say, you take an I Say token for it.",
        "suspicion, detective and others make a player draw; clue and disguise let you look at cards of theirs; "
        "telegram gives them a token that costs points; constabulary gives them a card of yours.",
        "arrest takes a player's whole hand: with a Villain in it the case is closed; without one you keep the cards "
        "and they draw as many. The value of the Villains that you have caught and of all cards that the others still "
        f"hold, {left} left out, decides which Book you get. Whoever sees a Villain by sherlock-holmes or dr-watson "
        f"{must} arrest that player. A new case {begins}.",
        "Whoever has no card left, or only Interrupts, must make an Impromptu Arrest at once.",
        f"Interrupts answer: alibi (then everybody passes a card to the right{after_alibi}) and mastermind (all hands "
        "move to the right, and its player has the next turn).",
        (SHEET if typed else "") + f"After {options.max_turns} turns the game is stopped.",
    ]


# --- help in typing ---


def hint(options: Options, seen: Any, typed: str) -> str:
    """Return why a card that was typed cannot be played now, and what can be done; "" if it is not about a card."""
    seen = one_view(options, seen, "seen")[0]
    words = [word for word in typed.split() if word not in FILLERS and word[0] != "+"]
    if typed == "draw" and seen["phase"] == TURN:
        names = ", ".join(names_in(suitable_mask(options, seen)))
        return f"You may draw only without a Suitable card; you hold {names}."
    if typed == "escape":
        return "You may escape only with Villains in hand, and nothing else but Interrupts."
    if len(words) != 1 or words[0] not in TITLES:
        return ""
    title = TITLES.index(words[0])
    if title == seen["drawn"] or (seen["phase"] in (TURN, SECOND) and playable_mask(options, seen) >> title & 1):
        return ""
    if not seen["hand"][title]:
        return f"You do not hold {words[0]}; your hand: {', '.join(counted(seen['hand']))}."
    if seen["phase"] not in (TURN, SECOND):
        return ""
    if CATEGORY[title] == "villain":
        return f"{words[0]} is a Villain: Villains are never played."
    if CATEGORY[title] == "interrupt":
        return f"{words[0]} is an Interrupt: it only answers what somebody does to you."
    current = int(seen["current"])
    if CATEGORY[title] == "i-say":
        return f"{words[0]} may not be played while the Current card is {TITLES[current]}."
    follows = follows_words(current, bool(seen["city"]))
    return f"{words[0]} cannot follow {TITLES[current]}, which may be followed by {follows}."


def doubt(options: Options, seen: Any, action: int) -> str:
    """Return why an action may lose the game although nothing forces it, in words; "" if it does not.

    That is an arrest that would end the game by taking His Last Bow, where others have more points on
    the table even then.

    Args:
        options: of the game.
        seen: VIEW record, of the player who would take it.
        action: its number.
    """
    seen = one_view(options, seen, "seen")[0]
    rules = make_rules(options)[0]
    if not _may_end_game(options, seen, action, rules):
        return ""
    known = [_open_points(seen, k, rules) for k in range(options.num_players)]
    own = known[0] + int(rules["book_points"][0])
    best = max(known[1:])
    if own >= best:
        return ""
    return (
        "If there is a Villain, this takes His Last Bow and ends the game: "
        f"by Books and Villain tokens you would have {own} points, another player has {best}."
    )


def doubts(options: Options, seen: Any, actions: Iterable[int]) -> dict[int, str]:
    """Return the same of many actions, without those that lose nothing.

    Args:
        options: of the game.
        seen: VIEW record, of the player who would take one of them.
        actions: their numbers.
    """
    found = {action: doubt(options, seen, action) for action in actions}
    return {action: why for action, why in found.items() if why}


def _may_end_game(options: Options, seen: Any, action: int, rules: Any) -> bool:
    """Return whether an action may take the last Book, which ends the game."""
    taken = 0
    for books in seen["books"].tolist():
        taken |= books
    left = [book for book in range(NUM_BOOKS) if not taken >> book & 1]
    if left != [book for book in left if rules["book_ends"][book]]:
        return False
    blocks = action_blocks(options)
    if blocks["arrest"].start <= action < blocks["arrest"].stop:
        return bool(seen["phase"] == VERDICT)
    return action_name(action, options).startswith("play arrest on ")


def _open_points(seen: Any, k: int, rules: Any) -> int:
    """Return the points of a seat that everybody can see: those of Books and Villain tokens."""
    points = sum(int(rules["book_points"][b]) for b in range(NUM_BOOKS) if int(seen["books"][k]) >> b & 1)
    villains = int(seen["villain_tokens"][k])
    return points + sum(int(rules["villain_points"][v]) for v in range(len(VILLAINS)) if villains >> v & 1)


def unasked(options: Options, seen: Any) -> Any:
    """Return what a player knows (one VIEW record): this game has no offers."""
    return one_view(options, seen, "seen")[0]


def proved(options: Options, seen: Any) -> bool:
    """Return False: nothing that is offered waits for a proof in this game."""
    return False
