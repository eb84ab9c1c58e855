"""The rules of Sleuth as kernels on records: what is legal, and what an action does.

A game is one STATE record, a batch is an array of them, a single game is a batch of one. Games are
dealt in `state` and changed here. Seats in a state are absolute; in an action they are relative:
``+k`` is the k-th seat to the actor's left. Source: docs/game.md, "Rules in brief". Axis letters:
``B`` games, ``P`` = 7 seats (unused ones stay empty), ``Q`` = 43 questions, ``A`` actions.
"""

from __future__ import annotations

from ..bits import members, popcount, shuffle
from ..kernels import inner, kernel
from .cards import NUM_GEMS, NUM_PAIRS, SEARCH_HAND
from .results import final_rewards
from .state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    ASKER,
    CARD,
    COUNT,
    EVENT_FIELDS,
    EXCHANGE_EVENT,
    FINAL_EVENT,
    FINISHED,
    IN,
    KIND,
    MUST_ACCUSE,
    OFFER,
    OUT,
    QUESTION,
    RIGHT,
    RIGHT_EVENT,
    SECOND,
    TARGET,
    TURN,
    WRONG_EVENT,
    P,
    Q,
)

# --- what is legal ---


@inner
def may_ask(rules, s, target, question):
    """Return whether the actor may ask so, the search card apart.

    ``s`` is the STATE record, or the actor's VIEW record with relative seats.
    """
    if s["accusing"] != 0:
        return False
    if s["phase"] == SECOND:
        return target != s["first_target"] and rules["num_elements"][question] != s["first_elements"]
    return s["phase"] == TURN


@inner
def is_shown(rules, question):
    """Return whether the asker sees the cards that match (rules: one RULES record)."""
    return rules["num_elements"][question] == 2 and not rules["super_sleuth"]


@inner
def _may_take_turn(s):
    """Return whether the actor may exchange, or ask a final question."""
    return s["phase"] == TURN and s["accusing"] == 0


@inner
def _may_accuse(s, gem):
    return s["phase"] != FINISHED and not (s["accusing"] >> gem) & 1


@inner
def _may_pass(s):
    return (s["phase"] == OFFER or s["phase"] == SECOND) and s["accusing"] == 0


@inner
def _seat_left(rules, s, distance):
    return (int(s["actor"]) + distance) % int(rules["num_players"])


@inner
def _is_legal(rules, s, action):
    if action < 0 or action >= rules["num_actions"] or s["phase"] == FINISHED:
        return False
    if action < rules["final_at"]:
        pair = action % NUM_PAIRS
        paid = (s["search"][s["actor"]] >> int(rules["pair_card"][pair])) & 1
        return paid == 1 and may_ask(
            rules, s, _seat_left(rules, s, action // NUM_PAIRS + 1), rules["pair_question"][pair]
        )
    if action <= rules["exchange_at"]:
        return _may_take_turn(s)
    if action < rules["pass_at"]:
        return _may_accuse(s, action - int(rules["accuse_at"]))
    return _may_pass(s)


@inner
def _mark_asks(rules, s, row):
    # On a turn all that can be paid for may be asked, and nobody need be asked for it one by one.
    anything = s["phase"] == TURN
    for card in members(s["search"][s["actor"]]):
        for i in range(rules["num_card_pairs"][card]):
            pair = rules["card_pairs"][card, i]
            for k in range(rules["num_players"] - 1):
                row[k * NUM_PAIRS + pair] = anything or may_ask(
                    rules, s, _seat_left(rules, s, k + 1), rules["pair_question"][pair]
                )


@inner
def mark_legal(rules, s, row):
    """Mark what the actor of one game may do, see `legal` (row: u1 [A])."""
    row[:] = 0
    if s["phase"] == FINISHED:
        return
    if s["accusing"] == 0 and (s["phase"] == TURN or s["phase"] == SECOND):
        _mark_asks(rules, s, row)
    if _may_take_turn(s):
        row[rules["final_at"] : rules["exchange_at"] + 1] = 1
    row[rules["accuse_at"] : rules["accuse_at"] + NUM_GEMS] = 1
    for gem in members(s["accusing"]):
        row[rules["accuse_at"] + gem] = 0
    row[rules["pass_at"]] = _may_pass(s)


@kernel
def legal(rules, states, out):
    """Mark what each game's actor may do.

    Args:
        rules: RULES [1].
        states: STATE [B].
        out: u1 [B, A], written: 1 where legal; all 0 in a finished game.
    """
    for b in range(states.size):
        mark_legal(rules[0], states[b], out[b])


# --- what an action does ---


@inner
def _record(rules, s, kind, asker, target, question, card, count):
    events = s["events"]
    for i in range(int(rules["num_players"]) - 1, 0, -1):
        for j in range(EVENT_FIELDS):
            events[i, j] = events[i - 1, j]
    events[0, KIND] = kind
    events[0, ASKER] = asker
    events[0, TARGET] = target
    events[0, QUESTION] = question
    events[0, CARD] = card
    events[0, COUNT] = count


@inner
def _finish(s):
    s["phase"] = FINISHED
    s["actor"] = -1


@inner
def _reshuffle(s):
    size = 0
    for card in members(s["discards"]):
        s["pile"][size] = card
        size += 1
    s["discards"] = 0
    s["pile_size"] = size
    shuffle(s, s["pile"], size)


@inner
def _fill_search_hand(s, seat):
    while popcount(s["search"][seat]) < SEARCH_HAND:
        if s["pile_size"] == 0:
            _reshuffle(s)
        s["pile_size"] -= 1
        s["search"][seat] |= 1 << int(s["pile"][s["pile_size"]])


@inner
def _end_turn(rules, s):
    if s["standing"][s["turn"]] == IN:
        _fill_search_hand(s, s["turn"])
    if s["turn_number"] == rules["max_turns"]:
        s["truncated"] = 1
        _finish(s)
        return
    s["turn_number"] += 1
    seat = (int(s["turn"]) + 1) % int(rules["num_players"])
    while s["standing"][seat] != IN:
        seat = (seat + 1) % int(rules["num_players"])
    s["turn"] = seat
    s["actor"] = seat
    s["phase"] = TURN
    s["asked"] = 0
    s["first_target"] = -1
    s["first_elements"] = 0


@inner
def _start_offers(rules, s):
    """Queue the contenders clockwise from the asker."""
    size = 0
    for k in range(rules["num_players"]):
        seat = (int(s["turn"]) + k) % int(rules["num_players"])
        if s["standing"][seat] == IN:
            s["offers"][size] = seat
            size += 1
    if rules["offers_random"]:
        shuffle(s, s["offers"], size)
    s["num_offers"] = size
    s["offer_at"] = 0
    s["phase"] = OFFER


@inner
def _next_offer(rules, s):
    """Offer to accuse to the next in the queue; after the last one the interrupted turn goes on."""
    if s["offer_at"] < s["num_offers"]:
        s["actor"] = s["offers"][s["offer_at"]]
        return
    s["num_offers"] = 0
    s["offer_at"] = 0
    for i in range(P):
        s["offers"][i] = 0
    if rules["double_interrogation"] and s["asked"] == 1 and s["standing"][s["turn"]] == IN:
        s["phase"] = SECOND
        s["actor"] = s["turn"]
    else:
        _end_turn(rules, s)


@inner
def _answer(rules, s, target, question):
    """Announce the count, show the asker the cards of a two-element question; return the count."""
    gems = s["hands"][target] & rules["question_gems"][question]
    s["answers"][target, question] = popcount(gems)
    s["askers"][target, question] |= 1 << int(s["actor"])
    if is_shown(rules, question):
        s["seen"][s["actor"], target] |= gems
    return popcount(gems)


@inner
def _ask(rules, s, target, question, card):
    count = _answer(rules, s, target, question)
    s["search"][s["actor"]] &= ~(1 << card)
    s["spent"][s["actor"]] |= 1 << card
    s["discards"] |= 1 << card
    _record(rules, s, ASK_EVENT, s["actor"], target, question, card, count)
    s["asked"] += 1
    if s["asked"] == 1:
        s["first_target"] = target
        s["first_elements"] = rules["num_elements"][question]
    if rules["any_time"]:
        _start_offers(rules, s)
    _next_offer(rules, s)


@inner
def _final_question(rules, s, target, question):
    count = _answer(rules, s, target, question)
    _record(rules, s, FINAL_EVENT, s["actor"], target, question, -1, count)
    s["phase"] = MUST_ACCUSE


@inner
def _exchange(rules, s):
    s["exchanges"][s["actor"]] += 1
    s["discards"] |= s["search"][s["actor"]]
    s["search"][s["actor"]] = 0
    _record(rules, s, EXCHANGE_EVENT, s["actor"], -1, -1, -1, -1)
    _end_turn(rules, s)


@inner
def _count_in(rules, s):
    count = 0
    for seat in range(rules["num_players"]):
        count += s["standing"][seat] == IN
    return count


@inner
def _crown_survivor(rules, s):
    for seat in range(rules["num_players"]):
        if s["standing"][seat] == IN:
            s["place"][seat] = 1
    _finish(s)


@inner
def _judge(rules, s):
    """Compare the actor's complete accusation with the missing gems."""
    seat = s["actor"]
    right = s["accusing"] == s["missing_gems"]
    s["accused"][seat] = s["accusing"]
    s["accusing"] = 0
    s["standing"][seat] = RIGHT if right else OUT
    if right:
        s["num_right"] += 1
        s["place"][seat] = s["num_right"]
    kind = ACCUSED_EVENT
    if rules["announce_result"]:
        kind = RIGHT_EVENT if right else WRONG_EVENT
    _record(rules, s, kind, seat, -1, -1, -1, -1)


@inner
def _go_on_after_accusation(rules, s):
    if s["phase"] == OFFER:
        s["offer_at"] += 1
        _next_offer(rules, s)
    elif s["phase"] == MUST_ACCUSE and rules["any_time"]:
        _start_offers(rules, s)
        _next_offer(rules, s)
    else:
        _end_turn(rules, s)


@inner
def _accuse(rules, s, gem):
    s["accusing"] |= 1 << gem
    if popcount(s["accusing"]) < rules["missing"]:
        return
    _judge(rules, s)
    left = _count_in(rules, s)
    if s["num_right"] == rules["winners"] or left == 0:
        _finish(s)
    elif rules["last_survivor_wins"] and left == 1 and s["num_right"] == 0:
        _crown_survivor(rules, s)
    else:
        _go_on_after_accusation(rules, s)


@inner
def _pass(rules, s):
    if s["phase"] == OFFER:
        s["offer_at"] += 1
        _next_offer(rules, s)
    else:
        _end_turn(rules, s)


@inner
def _act(rules, s, action):
    if action < rules["final_at"]:
        pair = action % NUM_PAIRS
        _ask(
            rules,
            s,
            _seat_left(rules, s, action // NUM_PAIRS + 1),
            int(rules["pair_question"][pair]),
            int(rules["pair_card"][pair]),
        )
    elif action < rules["exchange_at"]:
        final = action - int(rules["final_at"])
        _final_question(rules, s, _seat_left(rules, s, final // Q + 1), final % Q)
    elif action == rules["exchange_at"]:
        _exchange(rules, s)
    elif action < rules["pass_at"]:
        _accuse(rules, s, action - int(rules["accuse_at"]))
    else:
        _pass(rules, s)


@inner
def take(rules, s, action, rewards):
    """Take an action in one game and return whether it was legal, see `step` (rewards: f8 [P])."""
    rewards[:] = 0.0
    if not _is_legal(rules, s, action):
        return False
    _act(rules, s, action)
    if s["phase"] == FINISHED:
        final_rewards(rules, s, rewards)
    return True


@kernel
def step(rules, states, actions, taken, rewards):
    """Take one action in every game.

    Args:
        rules: RULES [1].
        states: STATE [B], changed.
        actions: i8 [B].
        taken: u1 [B], written: 1 where the action was taken; 0 where it is illegal, and then the
            state is untouched.
        rewards: f8 [B, P], written: what each seat gets by this step. All is paid in the last one
            (see `results.final_rewards`); before it and for an illegal action the rewards are zero.
    """
    for b in range(states.size):
        taken[b] = take(rules[0], states[b], actions[b], rewards[b])
