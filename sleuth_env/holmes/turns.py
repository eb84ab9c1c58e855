"""The course of a turn: cards played, answered and carried out, hands settled, arrests.

Kernels on one STATE record. Each leaves the game in the phase where somebody has to decide, or in one
that says what is to be done next (`SETTLE` to `NEW_CASE` of `state`), for `go_on`. Nobody is asked here
whether there is more than one thing to decide: `rules` takes a single legal action at once. Source:
docs/holmes.md.
"""

from __future__ import annotations

from ..kernels import inner
from .cards import (
    ALL_TARGETS,
    ARREST_EFFECT,
    ARREST_IF_GUILTY,
    DISCARD_EFFECT,
    EXCHANGE_EFFECT,
    FOG_EFFECT,
    GIFT_EFFECT,
    HIGHEST_CARD,
    HIGHEST_CARDS,
    MASTERMIND,
    MAX_IMPROMPTUS,
    OPTIONAL_TARGET,
    RANDOM_CARDS,
    SHUFFLE_EFFECT,
    TELEGRAM_EFFECT,
    TOKEN_EFFECT,
    WHOLE_HAND,
)
from .cases import begin_case, close_by_arrest, end_turn
from .choices import counters, may_escape, must_arrest, not_tried, num_token_choices, sources, suitable, with_cards
from .moves import (
    deal_back,
    draw_cards,
    exchange_hands,
    give,
    left_of,
    make_current,
    move_hands,
    pass_cards,
    put,
    record,
    see_hand,
    see_highest,
    see_random,
    shuffle_all,
    take,
    take_hand,
    take_say,
    take_telegram,
    take_top,
)
from .notes import card_drawn_on_turn, card_left, drawn_card_kept, lacks
from .state import (
    ARREST,
    CARRY_OUT,
    COUNTERED,
    DEAL_BACK,
    DISCARD,
    DISCARDED,
    DRAWN,
    DREW,
    ESCAPE,
    FOG,
    GIVE,
    HAND_ON,
    IMPROMPTU,
    IMPROMPTU_ARREST,
    INNOCENT,
    NAME_TARGETS,
    NEW_CASE,
    NOBODY,
    PASS_ON,
    PILE,
    PLAYED,
    RESPOND,
    SECOND,
    SETTLE,
    SHOW,
    SOURCE,
    TOKEN,
    VERDICT,
)

# --- arrests ---


@inner
def _begin_impromptu(s, seat):
    s["num_impromptus"] += 1
    s["num_counters"] = 0
    s["arrester"] = seat
    s["phase"] = IMPROMPTU
    s["actor"] = seat


@inner
def _forget_tried(s):
    for i in range(s["num_tried"]):
        s["tried"][i] = -1
    s["num_tried"] = 0


@inner
def _end_impromptu(s):
    """End an Impromptu Arrest, uncountered or for want of anybody to name."""
    _forget_tried(s)
    s["arrester"] = -1
    s["player"] = -1
    s["target"] = -1
    s["num_counters"] = 0
    s["phase"] = SETTLE


@inner
def _go_on_with_impromptu(rules, s):
    """Let the arrester name another after an Interrupt; when all have countered, all may be named again."""
    arrester = s["arrester"]
    s["player"] = -1
    s["target"] = -1
    if with_cards(rules, s, arrester) == 0:
        _end_impromptu(s)
        return
    if not_tried(rules, s, arrester) == 0:
        _forget_tried(s)
    s["phase"] = IMPROMPTU
    s["actor"] = arrester


@inner
def _arrest(rules, s):
    """Arrest somebody who has not countered."""
    arrester = s["player"]
    accused = s["target"]
    if s["card"] < 0:
        _end_impromptu(s)
    s["phase"] = SETTLE
    if s["held"][accused] & rules["villains"] != 0:
        close_by_arrest(rules, s, arrester, accused)
        return
    record(rules, s, INNOCENT, arrester, accused, NOBODY)
    lacks(s, accused, rules["villains"])
    take_hand(rules, s, arrester, accused)


@inner
def accuse(rules, s, accused):
    """Name somebody in an Impromptu Arrest."""
    arrester = int(s["arrester"])
    record(rules, s, IMPROMPTU_ARREST, arrester, accused, NOBODY)
    # After an Interrupt other cards may have come into the hand.
    if s["num_counters"] == 0:
        lacks(s, arrester, ~rules["interrupts"])
    if arrester == s["turn"]:
        s["more"] = 0
    s["player"] = arrester
    s["target"] = accused
    s["phase"] = RESPOND
    s["actor"] = accused
    if counters(rules, s) == 0:
        uncountered(s)


# --- what a card does ---


@inner
def _ask_for_token(rules, s):
    """Let the player choose an I Say token; return whether there is any to be had."""
    if num_token_choices(rules, s) == 0:
        return False
    s["phase"] = TOKEN
    s["actor"] = s["player"]
    return True


@inner
def _let_see(rules, s, target):
    """Show the player cards of the target."""
    player = int(s["player"])
    effect = rules["effect"][s["card"]]
    if effect == RANDOM_CARDS:
        see_random(rules, s, player, target, int(rules["clue_cards"]))
    elif effect == HIGHEST_CARD:
        _ask_to_show(rules, s, target)
    else:
        see_hand(rules, s, player, target)
        if effect == ARREST_IF_GUILTY and s["held"][target] & rules["villains"] != 0:
            if rules["must_arrest"]:
                s["phase"] = ARREST
            else:
                s["phase"] = VERDICT
                s["actor"] = player


@inner
def _carry_out_on(rules, s):
    """Carry out the instructions of the card on its one target, who has not countered."""
    player = int(s["player"])
    target = int(s["target"])
    effect = rules["effect"][s["card"]]
    s["phase"] = SETTLE
    if effect in (RANDOM_CARDS, HIGHEST_CARD, WHOLE_HAND, ARREST_IF_GUILTY):
        _let_see(rules, s, target)
    elif effect == TELEGRAM_EFFECT:
        if s["telegram_size"] > 0:
            take_telegram(rules, s, target, NOBODY)
        elif sources(rules, s) != 0:
            s["phase"] = SOURCE
            s["actor"] = player
    elif effect == TOKEN_EFFECT:
        _ask_for_token(rules, s)
    elif effect == ARREST_EFFECT:
        s["phase"] = ARREST
    elif effect == GIFT_EFFECT:
        s["phase"] = GIVE
        s["actor"] = player
    elif effect == EXCHANGE_EFFECT:
        exchange_hands(rules, s, player, target)
    else:
        draw_cards(rules, s, target, int(rules["draws"][s["card"]]))


@inner
def _carry_out(rules, s):
    """Carry out the instructions of a card without target or on all, which nobody has countered."""
    player = int(s["player"])
    card = int(s["card"])
    effect = rules["effect"][card]
    s["phase"] = SETTLE
    if rules["target"][card] == ALL_TARGETS:
        if effect == HIGHEST_CARDS:
            _ask_to_show(rules, s, left_of(rules, player, 1))
        else:
            for k in range(1, rules["num_players"]):
                draw_cards(rules, s, left_of(rules, player, k), int(rules["draws"][card]))
    elif effect == FOG_EFFECT:
        s["phase"] = FOG
        _ask_to_set_down(rules, s)
    elif effect == SHUFFLE_EFFECT:
        shuffle_all(rules, s)
    elif effect == DISCARD_EFFECT:
        if s["held"][player] & rules["villains"] != 0:
            s["phase"] = DISCARD
            s["actor"] = player
        else:
            lacks(s, player, rules["villains"])


@inner
def _ask_to_show(rules, s, seat):
    """Let a seat show a card of its highest case value; seats without cards show that, and the next follows."""
    player = int(s["player"])
    all_show = rules["effect"][s["card"]] == HIGHEST_CARDS
    while seat != player and s["hand_sizes"][seat] == 0:
        see_hand(rules, s, player, seat)
        seat = left_of(rules, seat, 1) if all_show else player
    if seat == player:
        s["phase"] = SETTLE
    else:
        s["phase"] = SHOW
        s["actor"] = seat


@inner
def _ask_to_set_down(rules, s):
    """Let the next who has cards choose one of them; when all have chosen, let the cards move."""
    for k in range(rules["num_players"]):
        seat = left_of(rules, s["turn"], k)
        if s["hand_sizes"][seat] > 0 and s["set_down"][seat] < 0:
            s["actor"] = seat
            return
    s["phase"] = DEAL_BACK if s["phase"] == FOG else PASS_ON


@inner
def choose(rules, s, title):
    """Choose a card of the hand: to be passed, put down, given, shown or discarded."""
    seat = int(s["actor"])
    phase = s["phase"]
    if phase in (HAND_ON, FOG):
        s["set_down"][seat] = title
        _ask_to_set_down(rules, s)
        return
    s["phase"] = SETTLE
    if phase == GIVE:
        give(rules, s, seat, int(s["target"]), title)
    elif phase == SHOW:
        see_highest(rules, s, int(s["player"]), seat, title)
        if rules["effect"][s["card"]] == HIGHEST_CARDS:
            _ask_to_show(rules, s, left_of(rules, seat, 1))
    else:
        take(s, seat, title)
        s["discards"][title] += 1
        record(rules, s, DISCARDED, seat, NOBODY, title)
        card_left(s, seat, seat, title)


@inner
def choose_source(rules, s, source):
    """Take a Telegram token from a seat, for the target."""
    take_telegram(rules, s, int(s["target"]), source)
    s["phase"] = SETTLE


@inner
def choose_token(rules, s, receiver, kind, source):
    """Take an I Say token, from the pool (-1) or a seat."""
    take_say(rules, s, receiver, kind, source)
    s["phase"] = NAME_TARGETS if s["in_play"] >= 0 else SETTLE


# --- answers ---


@inner
def _name_targets(rules, s):
    """Let the targets of the card answer with an Interrupt, if they can."""
    card = int(s["card"])
    target = int(s["target"])
    if target >= 0:
        s["phase"] = RESPOND
        s["actor"] = target
        if counters(rules, s) != 0:
            return
    elif rules["target"][card] == ALL_TARGETS:
        if rules["effect"][card] == HIGHEST_CARDS:
            draw_cards(rules, s, int(s["player"]), int(rules["draws"][card]))
        for k in range(1, rules["num_players"]):
            s["phase"] = RESPOND
            s["actor"] = left_of(rules, s["player"], k)
            if counters(rules, s) != 0:
                return
    elif rules["target"][card] == OPTIONAL_TARGET:
        s["phase"] = SETTLE
        return
    s["phase"] = CARRY_OUT


@inner
def uncountered(s):
    """Let happen what was answered by nobody."""
    s["phase"] = CARRY_OUT if s["card"] >= 0 else ARREST


@inner
def counter(rules, s, interrupt):
    """Answer with an Interrupt, which ends the turn."""
    seat = int(s["actor"])
    record(rules, s, COUNTERED, seat, int(s["player"]), interrupt)
    s["more"] = 0
    if s["card"] < 0:
        s["tried"][s["num_tried"]] = seat
        s["num_tried"] += 1
        s["num_counters"] += 1
    take(s, seat, interrupt)
    if interrupt == MASTERMIND:
        s["discards"][MASTERMIND] += 1
        card_left(s, seat, seat, interrupt)
        s["next_turn"] = seat
        move_hands(rules, s)
        _after_interrupt(rules, s)
        return
    make_current(rules, s, interrupt)
    card_left(s, seat, seat, interrupt)
    if rules["left_of_alibi"]:
        s["next_turn"] = left_of(rules, seat, 1)
    s["phase"] = HAND_ON
    _ask_to_set_down(rules, s)


@inner
def _after_interrupt(rules, s):
    if s["card"] >= 0:
        s["phase"] = SETTLE
    else:
        _go_on_with_impromptu(rules, s)


# --- a turn ---


@inner
def play(rules, s, title, target):
    """Play a card on somebody, or on nobody (-1)."""
    seat = int(s["turn"])
    phase = s["phase"]
    is_drawn = phase == DRAWN
    if is_drawn:
        s["drawn"] = -1
    else:
        take(s, seat, title)
        # The second card of a turn is the last, and so is a travel card in Fast Play.
        if rules["fast_play"]:
            s["more"] = ((rules["travel"] >> title) & 1) == 0
        elif phase == SECOND:
            s["more"] = 0
    if (rules["says"] >> title) & 1:
        s["in_play"] = title
    else:
        make_current(rules, s, title)
    card_left(s, PILE if is_drawn else seat, seat, title)
    s["card"] = title
    s["player"] = seat
    s["target"] = target
    record(rules, s, PLAYED, seat, target, title)
    if s["in_play"] < 0 or rules["lists_say"][s["current"]] == 0 or not _ask_for_token(rules, s):
        s["phase"] = NAME_TARGETS


@inner
def draw_on_turn(rules, s):
    """Draw instead of playing."""
    seat = int(s["turn"])
    titles = suitable(rules, s)
    s["more"] = 0
    record(rules, s, DREW, seat, NOBODY, NOBODY)
    lacks(s, seat, titles)
    title = take_top(rules, s)
    if title < 0:
        s["phase"] = SETTLE
        return
    s["drawn"] = title
    card_drawn_on_turn(s, seat, title)
    s["phase"] = DRAWN
    s["actor"] = seat
    if ((titles | rules["permissible"][s["current"]]) >> title) & 1 == 0:
        keep(rules, s)


@inner
def keep(rules, s):
    """Keep the drawn card."""
    seat = int(s["turn"])
    put(s, seat, int(s["drawn"]))
    s["drawn"] = -1
    drawn_card_kept(s, seat, suitable(rules, s))
    s["phase"] = SETTLE


@inner
def _end_card(s):
    """Discard an I Say card that has been carried out or countered, and forget what was carried out."""
    if s["in_play"] >= 0:
        s["discards"][s["in_play"]] += 1
        s["in_play"] = -1
    s["card"] = -1
    s["player"] = -1
    s["target"] = -1


@inner
def _settle(rules, s):
    """Settle hands after a card; when that is done, go on with the turn or end it."""
    _end_card(s)
    for k in range(rules["num_players"]):
        seat = left_of(rules, s["turn"], k)
        if must_arrest(rules, s, seat):
            if s["num_impromptus"] < MAX_IMPROMPTUS and with_cards(rules, s, seat) != 0:
                _begin_impromptu(s, seat)
                return
        elif may_escape(rules, s, seat) and s["declined"][seat] == 0:
            s["phase"] = ESCAPE
            s["actor"] = seat
            return
    if s["more"]:
        s["phase"] = SECOND
        s["actor"] = s["turn"]
    else:
        end_turn(rules, s)


@inner
def decline(s):
    """Decline to escape."""
    s["declined"][s["actor"]] = 1
    s["phase"] = SETTLE


@inner
def go_on(rules, s):
    """Do what is to be done next before anybody decides."""
    phase = s["phase"]
    if phase == SETTLE:
        _settle(rules, s)
    elif phase == NAME_TARGETS:
        _name_targets(rules, s)
    elif phase == CARRY_OUT and s["target"] >= 0:
        _carry_out_on(rules, s)
    elif phase == CARRY_OUT:
        _carry_out(rules, s)
    elif phase == ARREST:
        _arrest(rules, s)
    elif phase == DEAL_BACK:
        deal_back(rules, s)
        s["phase"] = SETTLE
    elif phase == PASS_ON:
        pass_cards(rules, s)
        _after_interrupt(rules, s)
    elif phase == NEW_CASE:
        begin_case(rules, s)
