"""A game of Sleuth told in words: step by step, or to a person who plays it.

It is what the command line knows of the game, see `sleuth_env.game.Telling`. A game is told from
the viewpoint of the public, of one player, or with every hidden card. Whatever takes a view, a state
or a game raises ArrayError where it is given something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from ..game import names_from
from ..game_doors import checked_seat
from .cards import NUM_SEARCH_CARDS, PAIRS, QUESTIONS, Options, action_blocks, make_rules
from .checked import one_state, one_view, seat_in_view
from .drawing.compact import COLUMNS
from .drawing.scene import phase_of
from .drawing.text import draw_belief
from .notation import (
    PHASE_NAMES,
    action_name,
    event_text,
    gem_name,
    gem_names,
    player_name,
    question_name,
    search_card_name,
    search_card_names,
)
from .review import can_prove, ending, known_missing, review, view_of
from .rules import is_shown as shown_by_rules
from .state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    FINAL_EVENT,
    FINISHED,
    IN,
    MUST_ACCUSE,
    OFFER,
    OUT,
    RIGHT,
    RIGHT_EVENT,
    SECOND,
    TURN,
    WRONG_EVENT,
)
from .transcript import GameRecord, Move, Step, checked_record, is_public, pile_names, result_text, winner_names

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
    "reveal",
    "review",
    "rules",
    "seat_names",
    "step_ends",
    "tell_game",
    "told_view",
    "unasked",
    "unsaid",
    "view_of",
]

FORMS = {
    "ask +K QUESTION with CARD": "ask the K-th player to your left, for instance: ask +1 blue-opal with free-blue",
    "final +K QUESTION": "final question: free, but you must accuse at once",
    "exchange": "exchange all four search cards",
    "accuse GEM": "for instance: accuse blue-opal-pair; with more missing gems name them one after the other",
    "pass": "decline an offer to accuse (Enter alone does too), or end the turn after one of two questions",
}
HEADINGS = {"wrong_accusations": "wrong"}
PROMPTS = {
    TURN: "your turn",
    SECOND: "second question, accuse or pass",
    OFFER: "accuse or pass",
    MUST_ACCUSE: "now accuse",
    FINISHED: "the game is over",
}
QUESTION_NAMES = frozenset(question_name(question) for question in range(len(QUESTIONS)))
SEARCH_CARD_NAMES = frozenset(search_card_name(card) for card in range(NUM_SEARCH_CARDS))
# Which search card pays for which question.
PAYABLE = frozenset((question_name(question), search_card_name(card)) for question, card in PAIRS)
ACCUSATIONS = (RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT)


# --- a game text, step by step ---


def tell_game(
    record: GameRecord,
    viewpoint: int | None = None,
    reveal: bool = False,
    steps: range | None = None,
    draw: Callable[[Any], str] | None = None,
) -> Iterator[str]:
    """Iterate over the story of a game, one text (of one or more lines) a step.

    A step is what everybody heard, so all count them alike. What follows it in silence, passes for
    instance, is not told but where everything is revealed; and whatever is shown to a viewpoint is
    what it knew when the next step came: before, it could be seen in which order the players were
    offered to accuse.

    Args:
        record: the game, as `parse_game` returns it.
        viewpoint: the seat whose private knowledge and drawing are added; None: public events only.
        reveal: whether to show the hidden deal and every action, passes and accused gems too.
        steps: which steps to tell, from 1; default: all. The deal is told with the first.
        draw: draws what the viewpoint knows (VIEW record); default: nothing is drawn.
    """
    options = checked_record(record).options
    seat = None if viewpoint is None else checked_seat(options, viewpoint, "viewpoint")
    return _story(record, seat, reveal, steps, draw)


def _story(
    record: GameRecord, viewpoint: int | None, reveal: bool, steps: range | None, draw: Callable[[Any], str] | None
) -> Iterator[str]:
    last = 0
    for step in record.steps():
        last = step.number
        chosen = steps is None or max(step.number, 1) in steps
        # The hidden deal is shown whichever steps are told.
        lines = list(_step_lines(record, step, viewpoint, reveal)) if chosen or step.number == 0 else []
        if chosen and viewpoint is not None and draw is not None:
            lines.append(draw(told_view(record.options, step.after, viewpoint)))
        if lines:
            yield "\n".join(lines)
    if steps is None or max(last, 1) in steps:
        yield from _result_lines(record, reveal)


def num_steps(record: GameRecord) -> int:
    """Return the number of steps of `tell_game`."""
    return max(step.number for step in checked_record(record).steps())


def step_ends(record: GameRecord) -> list[int]:
    """Return how many actions have been taken when each step of `tell_game` is over; first, before step 1."""
    steps = checked_record(record).steps()
    return list(accumulate(len(step.silent) + (step.move is not None) for step in steps))


def _deal_lines(record: GameRecord) -> Iterator[str]:
    """Iterate over lines that show the hidden deal of a game."""
    for key, value in reveal(record.options, record.first_state).items():
        if key in ("missing", "table", "draw_pile"):
            yield f"{key}: {', '.join(value) or 'none'}"
        elif key in ("hands", "search_cards"):
            yield from (f"{key} of {player}: {', '.join(cards)}" for player, cards in value.items())


def _result_lines(record: GameRecord, reveal: bool) -> Iterator[str]:
    """Iterate over lines that say how the game stands at the end of the text.

    In an unfinished game it is hidden who has been offered to accuse; in a finished one who was right,
    where that is not announced.
    """
    state = record.last_state
    finished = state["phase"] == FINISHED
    if reveal or (finished and record.options.announce_result):
        yield f"result: {result_text(state)}"
    else:
        yield f"result: {'over, who was right is not announced' if finished else 'unfinished'}"
    if finished and record.options.winners == 1 and record.options.announce_result and state["num_right"]:
        yield f"missing: {', '.join(gem_names(state['missing_gems']))}"


def _step_lines(record: GameRecord, step: Step, viewpoint: int | None, everything: bool) -> Iterator[str]:
    """Iterate over the lines of one step.

    First a heading with what everybody saw, then what else the viewpoint knows.
    """
    options = record.options
    if step.move is not None:
        before, _, state = step.move
        words = event_text(state["events"][0], [player_name(seat) for seat in range(options.num_players)])
        if everything:
            words = f"{_action_words(options, step.move)} | {words}"
        yield f"step {step.number}, turn {int(before['turn_number'])}: {words}"
        if viewpoint is not None:
            seen = told_view(options, step.after, viewpoint)
            yield from (f"    {line}" for line in private_lines(options, seen, seat_names(seen)))
    elif everything:
        yield from _deal_lines(record)
    if everything:
        yield from (f"    {_action_words(options, move)}" for move in step.silent)


def _action_words(options: Options, move: Move) -> str:
    return f"{player_name(int(move.before['actor']))}: {action_name(move.action, options)}"


# --- what one seat is told ---


def told_view(options: Options, state: Any, seat: int) -> np.void:
    """Return what a seat knows as a story shows it (VIEW record): not whether it is the one offered to accuse now."""
    return unasked(options, view_of(options, state, seat))


def unasked(options: Options, seen: Any) -> np.void:
    """Return what a player knows (one VIEW record) besides that they are the one offered to accuse now."""
    views = one_view(options, seen, "seen").copy()
    if views["phase"][0] == OFFER:
        views["to_act"] = 0
    return views[0]


def is_shown(options: Options, question: int) -> bool:
    """Return whether the asker of a question sees the cards that match it.

    >>> is_shown(Options(), 6), is_shown(Options(), 15), is_shown(Options(super_sleuth=True), 15)
    (False, True, False)
    """
    # The plain function of the kernels' helper; where numba is switched off, it is that itself.
    rule = getattr(shown_by_rules, "py_func", shown_by_rules)
    return bool(rule(make_rules(options)[0], question))


def seat_names(seen: Any, you: str = "") -> list[str]:
    """Return the names of the seats in the numbering of a view (one VIEW record).

    ``you`` is the viewer's name, and then the others are called by their distance, too.
    """
    count, seat = seat_in_view(seen, "seen")
    return names_from(seat, count, you)


def private_lines(options: Options, seen: Any, names: list[str]) -> list[str]:
    """Return what the viewer alone knows of the last public event.

    Args:
        options: of the game.
        seen: VIEW, one record, after the event.
        names: as `seat_names` returns them.
    """
    kind, asker, target, question, _, _ = (int(field) for field in seen["events"][0])
    if kind in ACCUSATIONS:
        return _accusation_lines(seen, kind, asker, names)
    if kind not in (ASK_EVENT, FINAL_EVENT) or 0 not in (asker, target) or not is_shown(options, question):
        return []
    # A hand never changes, so what the asker has ever seen of it and what matches are the cards
    # shown now.
    held = seen["hand"] if target == 0 else seen["seen"][target]
    shown = gem_names(int(held) & int(make_rules(options)["question_gems"][0, question]))
    return [f"shown by {names[target]} to {names[asker]}: {', '.join(shown) or 'nothing'}"]


def _accusation_lines(seen: Any, kind: int, asker: int, names: list[str]) -> list[str]:
    lines = [f"named by {names[0]}: {', '.join(gem_names(seen['accused']))}"] if asker == 0 else []
    # Not wherever they are known: whether the game ends with this accusation or after some more
    # offers would tell whether the accuser was the last who was asked.
    if seen["missing_gems"] and (asker == 0 or kind == RIGHT_EVENT):
        lines.append(f"missing: {', '.join(gem_names(seen['missing_gems']))}")
    return lines


# --- a person at the table ---


def announcement(options: Options, seen: Any) -> list[str]:
    """Return what a person is told before deciding: the search cards, the gems named so far."""
    seen = one_view(options, seen, "seen")[0]
    lines = []
    if seen["phase"] in (TURN, SECOND):
        cards = ", ".join(search_card_names(seen["search"][0]))
        lines.append(f"Turn {int(seen['turn_number'])} is yours; your search cards: {cards}.")
    if seen["accusing"]:
        named = ", ".join(gem_names(seen["accusing"]))
        lines.append(f"Named so far: {named}; name another of the {options.missing} missing gems.")
    return lines


def prompt(options: Options, seen: Any) -> str:
    """Return what a person is asked for."""
    return PROMPTS[phase_of(one_view(options, seen, "seen")[0])]


def unsaid(options: Options, seen: Any) -> str:
    """Return the name of the action that an empty line stands for: an offer may be declined so."""
    return "pass" if phase_of(one_view(options, seen, "seen")[0]) == OFFER else ""


def meant(typed: str, names: Iterable[str]) -> list[str]:
    """Return those names of actions that a typed text can mean.

    The card of a question may be left out, and so may ``ask`` and the player. A question that ends
    in an accusation is never meant unless it is typed in full.

    >>> meant("ask +1 blue", ["ask +1 blue with blue", "ask +1 blue with free", "pass"])
    ['ask +1 blue with blue', 'ask +1 blue with free']
    >>> meant("red-pair", ["ask +1 red-pair with free", "ask +2 red-pair with free", "final +1 red-pair"])
    ['ask +1 red-pair with free', 'ask +2 red-pair with free']
    """
    words = typed.split()
    found = []
    for name in names:
        if name == typed:
            return [name]
        if name.startswith("ask ") and _is_short_for(words, name.split()):
            found.append(name)
    return found


def _is_short_for(typed: list[str], name: list[str]) -> bool:
    """Return whether typed words are those of ``ask +K QUESTION with CARD``, some of them left out."""
    rest = typed[1:] if typed[:1] == ["ask"] else typed
    if rest[:1] == [name[1]]:
        rest = rest[1:]
    return rest in (name[2:3], name[2:])


def news(options: Options, state: Any, action: int, seen: Any, before: Any = None) -> list[str]:
    """Return what the viewer may know of the last action, line by line; nothing if hidden.

    Args:
        options: of the game.
        state: STATE record, after the action.
        action: its number.
        seen: VIEW record, after the action.
        before: VIEW record, before the action; an action is one event, so it is not needed.
    """
    state = one_state(options, state)[0]
    seen = one_view(options, seen, "seen")[0]
    if not is_public(options, state, action):
        return []
    names = seat_names(seen, "you")
    lines = [f"  {event_text(seen['events'][0], names)}"]
    lines += [f"    {line}" for line in private_lines(options, seen, names)]
    actor = int(seen["events"][0, 1])
    own = int(seen["standing"][0])
    # Never that the others play on: where the turn limit is reached it would tell whether the viewer
    # was the last who was asked.
    if actor == 0 and own == OUT:
        lines.append("You are out: you accuse no more, but you still answer.")
    if actor == 0 and own == RIGHT and options.winners > 1:
        lines.append("You were right: the others play for the places that are left.")
    return lines


draw_odds = draw_belief


def rules(options: Options, typed: bool = False) -> list[str]:
    """Return the rules in brief, paragraph by paragraph; the first says in three sentences what the goal is.

    Args:
        options: of the game.
        typed: whether they are for somebody at a terminal, who is also told how to read the sheet that is drawn there.
    """
    missing = {1: "One of the 36 gem cards is", 2: "Two of the 36 gem cards are", 3: "Three of the 36 gem cards are"}
    it = "it" if options.missing == 1 else "them"
    first = (
        "the first to do so wins" if options.winners == 1 else f"the first {options.winners} to do so take the places"
    )
    order = "clockwise from whoever asked" if options.offer_order == "clockwise" else "in an order that nobody sees"
    when = f"On your turn, and after every answer ({order})," if options.accuse == "any_time" else "On your turn"
    secret = "what you named" if options.announce_result else "what you named, or whether you were right"
    last = "all others are out you win" if options.last_survivor_wins else "everybody is out nobody wins"
    begins = "player_0 begins" if options.first_player == "seat_0" else "Who begins is drawn"
    lines = [
        f"{missing[options.missing]} missing; all the others are in the players' hands or open on the table. "
        f"Ask the others how many gems of a kind they hold, and deduce what is missing from the answers. "
        f"Then accuse: name {it}, and {first}; whoever names something else is out.",
        "A gem has a colour (red, blue, green, yellow), a kind (diamond, pearl, opal) and a type (solitaire, pair, "
        "cluster), such as blue-opal-pair; each of the 36 combinations exists once.",
        "On your turn ask one opponent a question with one or two of these words, such as opal or blue-pair. It costs "
        "one of your four search cards, which must allow it: blue-opal asks blue-opal, free-blue asks blue or blue "
        "and any other word, free asks anything. Everybody hears the number"
        + ("." if options.super_sleuth else "; if the question has two words, you alone are shown the matching gems."),
        "Instead you may exchange your four search cards, or ask a final question: free, and any question at all, "
        "but you must accuse right after it.",
        f"{when} you may accuse. Nobody else learns {secret}. If you are wrong you are out of the race, but you keep "
        f"answering; when {last}. {begins}; after {options.max_turns} turns the game is stopped.",
    ]
    if typed:
        lines.append(
            "The sheet shows who may have each gem: 1, 2, ... is the player so many places to your left "
            "(+1, +2, ...), ? means that it may be missing, a dot that it cannot be there."
        )
    if options.missing > 1:
        lines.append(f"An accusation names all {options.missing} missing gems, one after the other, in any order.")
    if options.double_interrogation:
        lines.append("You may ask two opponents a turn: one a question with one word, the other one with two words.")
    return lines


# --- help in typing ---


def hint(options: Options, seen: Any, typed: str) -> str:
    """Return why a question that was typed cannot be asked now, and what can be done; "" if it is not a question."""
    seen = one_view(options, seen, "seen")[0]
    words = typed.split()
    places = [word for word in words if word[0] == "+"]
    named = [word for word in words if word not in ("ask", "final", "with", *places)]
    # Anything else was meant to be something else, such as an accusation.
    if not named or named[0] not in QUESTION_NAMES or not all(word in SEARCH_CARD_NAMES for word in named):
        return ""
    if len(named) > (2 if "with" in words else 1):
        return ""
    question = named[0]
    phase = phase_of(seen)
    if phase not in (TURN, SECOND):
        may = "accuse or pass" if phase == OFFER else "accuse"
        return f"Questions are asked on your own turn; now you may only {may}."
    opponents = [f"+{place}" for place in range(1, options.num_players)]
    for place in places:
        if place not in opponents:
            return f"There is no player {place[:9]} here: you can ask {', '.join(opponents)}."
    if "final" in words:
        return "A final question is asked at the beginning of a turn, in place of others." if phase == SECOND else ""
    return _card_hint(seen, question, named[1] if len(named) > 1 else "", (places or opponents)[0], phase)


def _card_hint(seen: np.void, question: str, card: str, place: str, phase: int) -> str:
    """Return why a question cannot be paid for (card: "" if none is named), or not be the second of a turn."""
    held = search_card_names(seen["search"][0])
    able = [name for name in held if (question, name) in PAYABLE]
    if not able:
        also = f"; final {place} {question} asks it free, but then you must accuse" if phase == TURN else ""
        return f"None of your search cards ({', '.join(held)}) lets you ask {question}{also}."
    if card and card not in able:
        why = f"does not let you ask {question}" if card in held else f"is not one of yours ({', '.join(held)})"
        return f"The search card {card} {why}; {' or '.join(able)} does."
    if phase == SECOND:
        number, other = ("one word", "two words") if seen["first_elements"] == 1 else ("two words", "one word")
        first = int(seen["first_target"])
        return f"You have asked +{first} a question with {number}: now ask somebody else one with {other}."
    return ""


def doubt(options: Options, seen: Any, action: int) -> str:
    """Return why an action may lose the game although nothing forces it, in words; "" if it does not.

    Args:
        options: of the game.
        seen: VIEW record, of the player who would take it.
        action: its number.
    """
    return doubts(options, seen, [action]).get(action, "")


def doubts(options: Options, seen: Any, actions: Iterable[int]) -> dict[int, str]:
    """Return the same of many actions, without those that lose nothing.

    Args:
        options: of the game.
        seen: VIEW record, of the player who would take one of them.
        actions: their numbers.
    """
    seen = one_view(options, seen, "seen")[0]
    blocks = action_blocks(options)
    final = blocks["final"]
    accuse = blocks["accuse"]
    numbers = list(actions)
    asking = [action for action in numbers if final.start <= action < final.stop]
    accusing = [action for action in numbers if accuse.start <= action < accuse.stop]
    if not asking and not accusing:
        return {}
    proved, possible = known_missing(options, seen)
    found = dict.fromkeys(asking, _doubt_of_last_question(options, proved, possible))
    # Whoever must accuse, or has begun to, can only guess.
    guesses = _doubt_of_guess(options, proved, possible) if phase_of(seen) != MUST_ACCUSE else ""
    for action in accusing:
        gem = action - accuse.start
        found[action] = guesses if possible >> gem & 1 else f"{gem_name(gem)} is certainly not missing."
    return {action: why for action, why in found.items() if why}


def _doubt_of_last_question(options: Options, proved: int, possible: int) -> str:
    """Return why not to ask a final question, of masks of the gems that are proved to be missing, and that may be."""
    if proved.bit_count() == options.missing:
        return ""
    return f"After a final question you must accuse, and {(possible & ~proved).bit_count()} gems may still be missing."


def _doubt_of_guess(options: Options, proved: int, possible: int) -> str:
    """Return why not to name a gem that may be missing, of the same masks."""
    if proved.bit_count() == options.missing:
        return ""
    open_gems = (possible & ~proved).bit_count()
    if options.missing == 1:
        return f"It is not proved: {open_gems} gems may still be missing."
    known = f"{proved.bit_count()} of the {options.missing} missing gems"
    return f"Whoever accuses must name all of them, and {known} are proved: {open_gems} others may be missing."


def proved(options: Options, seen: Any) -> bool:
    """Return whether a player (one VIEW record) can prove what is missing."""
    return can_prove(options, one_view(options, seen, "seen")[0])


# --- everything ---


def reveal(options: Options, state: np.void) -> dict[str, Any]:
    """Return the whole hidden state of a game in names, for debugging and analysis.

    Args:
        options: the options of the game.
        state: STATE, one record.

    Raises:
        ArrayError: the state is something else, or no game is like that.
    """
    state = one_state(options, state)[0]
    seats = range(options.num_players)
    return {
        "missing": gem_names(state["missing_gems"]),
        "hands": {player_name(seat): gem_names(state["hands"][seat]) for seat in seats},
        "table": gem_names(state["table"]),
        "search_cards": {player_name(seat): search_card_names(state["search"][seat]) for seat in seats},
        "draw_pile": pile_names(state),
        "discards": search_card_names(state["discards"]),
        "turn": player_name(int(state["turn"])),
        "phase": PHASE_NAMES[state["phase"]],
        "in_contention": [player_name(seat) for seat in seats if state["standing"][seat] == IN],
        "winners": winner_names(state),
        "turn_number": int(state["turn_number"]),
    }
