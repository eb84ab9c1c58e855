"""What always holds of a game, checked for tests."""

from __future__ import annotations

from ..bits import popcount
from ..kernels import inner, kernel
from .cards import ALL_GEMS, ALL_SEARCH_CARDS, NUM_SEARCH_CARDS, SEARCH_HAND
from .state import FINISHED, IN, OFFER, RIGHT, Q

# One bit for each kind of broken invariant, see `problems`.
(
    GEMS_LOST,
    HANDS_WRONG,
    SEARCH_LOST,
    SEARCH_WRONG,
    ACTOR_WRONG,
    ANSWER_WRONG,
    SEEN_WRONG,
    STANDING_WRONG,
    OFFERS_WRONG,
) = (1 << i for i in range(9))


@inner
def _partition(masks, size, others, whole):
    """Return whether the first `size` masks and `others` hold each bit of `whole` exactly once."""
    seen = others
    total = popcount(others)
    for i in range(size):
        seen |= masks[i]
        total += popcount(masks[i])
    return seen == whole and total == popcount(whole)


@inner
def _gem_problems(rules, s):
    flags = 0
    if (
        not _partition(s["hands"], rules["num_players"], s["table"] | s["missing_gems"], ALL_GEMS)
        or s["table"] & s["missing_gems"]
    ):
        flags |= GEMS_LOST
    if popcount(s["missing_gems"]) != rules["missing"]:
        flags |= HANDS_WRONG
    for seat in range(rules["num_players"]):
        if popcount(s["hands"][seat]) != rules["hand_size"]:
            flags |= HANDS_WRONG
    return flags


@inner
def _search_card_problems(rules, s):
    flags = 0
    off_table = s["discards"]
    if popcount(off_table) + s["pile_size"] + _count_held(rules, s) != NUM_SEARCH_CARDS:
        flags |= SEARCH_LOST
    for i in range(s["pile_size"]):
        off_table |= 1 << int(s["pile"][i])
    if not _partition(s["search"], rules["num_players"], off_table, ALL_SEARCH_CARDS):
        flags |= SEARCH_LOST
    for seat in range(rules["num_players"]):
        spent = s["asked"] if seat == s["turn"] else 0
        if s["phase"] != FINISHED and s["standing"][seat] == IN and popcount(s["search"][seat]) != SEARCH_HAND - spent:
            flags |= SEARCH_WRONG
    return flags


@inner
def _count_held(rules, s):
    total = 0
    for seat in range(rules["num_players"]):
        total += popcount(s["search"][seat])
    return total


@inner
def _actor_problems(rules, s):
    flags = 0
    if s["phase"] == FINISHED:
        return ACTOR_WRONG if s["actor"] != -1 else 0
    if s["actor"] < 0 or s["actor"] >= rules["num_players"] or s["standing"][s["actor"]] != IN:
        return ACTOR_WRONG
    if s["phase"] != OFFER and s["actor"] != s["turn"]:
        flags |= ACTOR_WRONG
    if s["phase"] == OFFER and (s["offer_at"] >= s["num_offers"] or s["offers"][s["offer_at"]] != s["actor"]):
        flags |= OFFERS_WRONG
    return flags


@inner
def _knowledge_problems(rules, s):
    flags = 0
    for target in range(rules["num_players"]):
        for question in range(Q):
            count = s["answers"][target, question]
            if (count >= 0) != (s["askers"][target, question] != 0):
                flags |= ANSWER_WRONG
            if count >= 0 and count != popcount(s["hands"][target] & rules["question_gems"][question]):
                flags |= ANSWER_WRONG
        for asker in range(rules["num_players"]):
            if s["seen"][asker, target] & ~s["hands"][target] or (rules["super_sleuth"] and s["seen"][asker, target]):
                flags |= SEEN_WRONG
    return flags


@inner
def _standing_problems(rules, s):
    flags = 0
    right = 0
    for seat in range(rules["num_players"]):
        standing = s["standing"][seat]
        right += standing == RIGHT
        if (standing == RIGHT) != (s["accused"][seat] == s["missing_gems"]) or (standing == IN) != (
            s["accused"][seat] == 0
        ):
            flags |= STANDING_WRONG
        if standing == RIGHT and s["place"][seat] == 0:
            flags |= STANDING_WRONG
    if right != s["num_right"] or right > rules["winners"]:
        flags |= STANDING_WRONG
    return flags


@kernel
def problems(rules, states, flags):
    """Find broken invariants; a sound game has none.

    Args:
        rules: RULES [1].
        states: STATE [B].
        flags: i8 [B], written: the sum of the bits GEMS_LOST, HANDS_WRONG, SEARCH_LOST,
            SEARCH_WRONG, ACTOR_WRONG, ANSWER_WRONG, SEEN_WRONG, STANDING_WRONG and OFFERS_WRONG
            that apply.
    """
    for b in range(states.size):
        s = states[b]
        flags[b] = _gem_problems(rules[0], s) | _search_card_problems(rules[0], s) | _actor_problems(rules[0], s)
        flags[b] |= _knowledge_problems(rules[0], s) | _standing_problems(rules[0], s)
