"""What always holds of a game, checked before a kernel is given bytes from outside.

The kernels look at nothing: a state that has not come from `deal` and `step` must pass `problems`
first. What passes is a position that they can play to the end, and each field that follows from
others agrees with them; it need not be one that can be reached.
Axis letters: ``B`` games, ``P`` seats, ``Q`` questions.
"""

from __future__ import annotations

import numpy as np

from ..bits import members, popcount
from ..game_doors import problem_texts
from ..kernels import inner, kernel
from .cards import ALL_GEMS, ALL_SEARCH_CARDS, NUM_QUESTIONS, NUM_SEARCH_CARDS, SEARCH_HAND
from .state import (
    ACCUSED_EVENT,
    ASK_EVENT,
    ASKER,
    CARD,
    COUNT,
    EXCHANGE_EVENT,
    FINAL_EVENT,
    FINISHED,
    IN,
    KIND,
    MUST_ACCUSE,
    NO_EVENT,
    NUM_PHASES,
    OFFER,
    OUT,
    QUESTION,
    RIGHT,
    RIGHT_EVENT,
    SECOND,
    STATE,
    TARGET,
    TURN,
    WRONG_EVENT,
    P,
    Q,
)

# The faults: what is wrong, in the order in which it is looked for. First what the later checks
# index with.
(
    SOUND,
    UNUSED_BYTES,
    HANDS_RANGE,
    MISSING_RANGE,
    TABLE_RANGE,
    SEARCH_RANGE,
    DISCARDS_RANGE,
    PILE_SIZE_RANGE,
    PILE_RANGE,
    PHASE_RANGE,
    TURN_RANGE,
    TURN_NUMBER_RANGE,
    ACTOR_RANGE,
    STANDING_RANGE,
    OFFERS_RANGE,
    EVENTS_RANGE,
    ANSWERS_RANGE,
    ASKERS_RANGE,
    UNUSED_SEATS,
    GEMS_LOST,
    HANDS_WRONG,
    SEARCH_LOST,
    SEARCH_WRONG,
    STANDING_WRONG,
    ACCUSED_WRONG,
    PLACE_WRONG,
    ENDED_WRONG,
    TRUNCATED_WRONG,
    ACTOR_WRONG,
    TURN_WRONG,
    ACCUSING_WRONG,
    ASKED_WRONG,
    OFFERS_WRONG,
    ANSWERS_WRONG,
    SEEN_WRONG,
    SPENT_WRONG,
    FIRST_ASKED_WRONG,
    EVENTS_WRONG,
    EXCHANGES_WRONG,
) = range(39)

# Of each fault the field in which it lies, as far as one can say, and what is wrong with it.
_SAID = {
    UNUSED_BYTES: ("padding", "not zeros"),
    HANDS_RANGE: ("hands", "not sets of gems"),
    MISSING_RANGE: ("missing_gems", "not a set of gems"),
    TABLE_RANGE: ("table", "not a set of gems"),
    SEARCH_RANGE: ("search", "not sets of search cards"),
    DISCARDS_RANGE: ("discards", "not a set of search cards"),
    PILE_SIZE_RANGE: ("pile_size", f"not a number from 0 to {NUM_SEARCH_CARDS}"),
    PILE_RANGE: ("pile", "not search cards"),
    PHASE_RANGE: ("phase", "not a phase"),
    TURN_RANGE: ("turn", "not a seat"),
    TURN_NUMBER_RANGE: ("turn_number", "not a turn from 1 to the turn limit"),
    ACTOR_RANGE: ("actor", "not a seat, nor -1 in a finished game"),
    STANDING_RANGE: ("standing", "not IN, OUT or RIGHT"),
    OFFERS_RANGE: ("offers", "not a queue of seats"),
    EVENTS_RANGE: ("events", "not events"),
    ANSWERS_RANGE: ("answers", "not numbers that can be announced"),
    ASKERS_RANGE: ("askers", "not sets of other seats"),
    UNUSED_SEATS: ("hands", "something lies at a seat where nobody sits"),
    GEMS_LOST: ("hands", "with the table and the missing gems they are not all gems once each"),
    HANDS_WRONG: ("hands", "not as many gems as each seat gets, or are missing"),
    SEARCH_LOST: ("search", "with the pile and the discards they are not all search cards once each"),
    SEARCH_WRONG: ("search", "not as many search cards as a seat has now"),
    STANDING_WRONG: ("standing", "does not agree with the accusations"),
    ACCUSED_WRONG: ("accused", "not as many gems as are missing, or accused by somebody still in"),
    PLACE_WRONG: ("place", "not the places of the players who were right"),
    ENDED_WRONG: ("phase", "finished too early, or not finished"),
    TRUNCATED_WRONG: ("truncated", "the turn limit cannot have ended this game"),
    ACTOR_WRONG: ("actor", "not the seat that decides in this phase"),
    TURN_WRONG: ("turn", "not the seat whose turn it is"),
    ACCUSING_WRONG: ("accusing", "not an unfinished accusation"),
    ASKED_WRONG: ("asked", "not the number of questions of this turn"),
    OFFERS_WRONG: ("offers", "not the contenders, the actor at offer_at, in the order of the rules"),
    ANSWERS_WRONG: ("answers", "not what the hands say to the questions that were asked"),
    SEEN_WRONG: ("seen", "not what was shown at the questions that were asked"),
    SPENT_WRONG: ("spent", "search cards that pay for no question that was asked"),
    FIRST_ASKED_WRONG: ("first_target", "with first_elements not the first question of this turn"),
    EVENTS_WRONG: ("events", "not the last events of this game"),
    EXCHANGES_WRONG: ("exchanges", "not numbers of exchanges in this many turns"),
}


# --- ranges ---


@inner
def _is_within(mask, whole):
    return mask >= 0 and mask & ~whole == 0


@inner
def _hand_ranges(s):
    for seat in range(P):
        if not _is_within(s["hands"][seat], ALL_GEMS):
            return HANDS_RANGE
        if not _is_within(s["search"][seat], ALL_SEARCH_CARDS):
            return SEARCH_RANGE
        if not _is_within(s["spent"][seat], ALL_SEARCH_CARDS):
            return SPENT_WRONG
        if not _is_within(s["accused"][seat], ALL_GEMS):
            return ACCUSED_WRONG
    return SOUND


@inner
def _table_ranges(s):
    if not _is_within(s["missing_gems"], ALL_GEMS):
        return MISSING_RANGE
    if not _is_within(s["table"], ALL_GEMS):
        return TABLE_RANGE
    if not _is_within(s["accusing"], ALL_GEMS):
        return ACCUSING_WRONG
    if not _is_within(s["discards"], ALL_SEARCH_CARDS):
        return DISCARDS_RANGE
    if s["pile_size"] < 0 or s["pile_size"] > NUM_SEARCH_CARDS:
        return PILE_SIZE_RANGE
    for i in range(NUM_SEARCH_CARDS):
        if s["pile"][i] < 0 or s["pile"][i] >= NUM_SEARCH_CARDS:
            return PILE_RANGE
    return SOUND


@inner
def _turn_ranges(rules, s):
    num_players = rules["num_players"]
    if s["phase"] < 0 or s["phase"] >= NUM_PHASES:
        return PHASE_RANGE
    if s["turn"] < 0 or s["turn"] >= num_players:
        return TURN_RANGE
    if s["turn_number"] < 1 or s["turn_number"] > rules["max_turns"]:
        return TURN_NUMBER_RANGE
    if s["actor"] < -1 or s["actor"] >= num_players or (s["actor"] == -1) != (s["phase"] == FINISHED):
        return ACTOR_RANGE
    if s["asked"] < 0 or s["asked"] > 1 + rules["double_interrogation"]:
        return ASKED_WRONG
    if s["first_target"] < -1 or s["first_target"] >= num_players:
        return FIRST_ASKED_WRONG
    if s["truncated"] < 0 or s["truncated"] > 1:
        return TRUNCATED_WRONG
    return SOUND


@inner
def _seat_ranges(rules, s):
    num_players = rules["num_players"]
    if s["num_offers"] < 0 or s["num_offers"] > num_players or s["offer_at"] < 0 or s["offer_at"] > s["num_offers"]:
        return OFFERS_RANGE
    for seat in range(P):
        if s["standing"][seat] != IN and s["standing"][seat] != OUT and s["standing"][seat] != RIGHT:
            return STANDING_RANGE
        if s["offers"][seat] < 0 or s["offers"][seat] >= num_players:
            return OFFERS_RANGE
        if s["exchanges"][seat] < 0 or s["exchanges"][seat] > rules["max_turns"]:
            return EXCHANGES_WRONG
    return SOUND


@inner
def _knowledge_ranges(rules, s):
    num_players = rules["num_players"]
    for target in range(P):
        for question in range(Q):
            if s["answers"][target, question] < -1:
                return ANSWERS_RANGE
            # A seat does not ask itself.
            asked_itself = s["askers"][target, question] >> target & 1
            if s["askers"][target, question] < 0 or s["askers"][target, question] >> num_players or asked_itself:
                return ASKERS_RANGE
    for i in range(P):
        event = s["events"][i]
        if (
            not NO_EVENT <= event[KIND] <= ACCUSED_EVENT
            or not -1 <= event[ASKER] < num_players
            or not -1 <= event[TARGET] < num_players
            or not -1 <= event[QUESTION] < NUM_QUESTIONS
            or not -1 <= event[CARD] < NUM_SEARCH_CARDS
        ):
            return EVENTS_RANGE
    return SOUND


@inner
def _unused(rules, s):
    for i in range(3):
        if s["padding"][i] != 0:
            return UNUSED_BYTES
    for seat in range(rules["num_players"], P):
        empty = s["hands"][seat] | s["accused"][seat] | s["search"][seat] | s["spent"][seat]
        if empty != 0 or s["standing"][seat] != IN or s["place"][seat] != 0 or s["exchanges"][seat] != 0:
            return UNUSED_SEATS
        for question in range(Q):
            if s["answers"][seat, question] != -1 or s["askers"][seat, question] != 0:
                return UNUSED_SEATS
        for other in range(P):
            if s["seen"][seat, other] != 0 or s["seen"][other, seat] != 0:
                return UNUSED_SEATS
        if s["events"][seat, KIND] != NO_EVENT:
            return EVENTS_WRONG
    return SOUND


# --- the cards ---


@inner
def _gems(rules, s):
    held = s["table"] | s["missing_gems"]
    total = popcount(s["table"]) + popcount(s["missing_gems"])
    for seat in range(rules["num_players"]):
        held |= s["hands"][seat]
        total += popcount(s["hands"][seat])
    if held != ALL_GEMS or total != popcount(ALL_GEMS):
        return GEMS_LOST
    if popcount(s["missing_gems"]) != rules["missing"]:
        return HANDS_WRONG
    for seat in range(rules["num_players"]):
        if popcount(s["hands"][seat]) != rules["hand_size"]:
            return HANDS_WRONG
    return SOUND


@inner
def _search_cards(rules, s):
    held = s["discards"]
    total = popcount(s["discards"]) + s["pile_size"]
    for i in range(s["pile_size"]):
        held |= 1 << int(s["pile"][i])
    for seat in range(rules["num_players"]):
        held |= s["search"][seat]
        total += popcount(s["search"][seat])
    if held != ALL_SEARCH_CARDS or total != NUM_SEARCH_CARDS:
        return SEARCH_LOST
    for seat in range(rules["num_players"]):
        size = popcount(s["search"][seat])
        if s["standing"][seat] != IN:
            # They keep what they had when they accused.
            if size > SEARCH_HAND or size < SEARCH_HAND - 1 - rules["double_interrogation"]:
                return SEARCH_WRONG
        else:
            asking = seat == s["turn"] and not s["truncated"]
            if size != SEARCH_HAND - (s["asked"] if asking else 0):
                return SEARCH_WRONG
    return SOUND


# --- the course of the game ---


@inner
def _count_standing(rules, s, standing):
    count = 0
    for seat in range(rules["num_players"]):
        count += s["standing"][seat] == standing
    return count


@inner
def _accusations(rules, s):
    for seat in range(rules["num_players"]):
        accused = s["accused"][seat]
        standing = s["standing"][seat]
        if (standing == RIGHT) != (accused == s["missing_gems"]):
            return STANDING_WRONG
        if popcount(accused) != (0 if standing == IN else rules["missing"]):
            return ACCUSED_WRONG
    return SOUND


@inner
def _ends(rules, s):
    left = _count_standing(rules, s, IN)
    right = _count_standing(rules, s, RIGHT)
    if s["num_right"] != right or right > rules["winners"]:
        return PLACE_WRONG
    survived = rules["last_survivor_wins"] and left == 1 and right == 0
    over = right == rules["winners"] or left == 0 or survived
    if s["truncated"] and (over or s["phase"] != FINISHED or s["turn_number"] != rules["max_turns"]):
        return TRUNCATED_WRONG
    if not s["truncated"] and over != (s["phase"] == FINISHED):
        return ENDED_WRONG
    taken = 0
    for seat in range(rules["num_players"]):
        place = s["place"][seat]
        if s["standing"][seat] == RIGHT:
            if place < 1 or place > right or taken >> int(place) & 1:
                return PLACE_WRONG
            taken |= 1 << int(place)
        elif place != (survived and s["standing"][seat] == IN):
            return PLACE_WRONG
    return SOUND


@inner
def _turns(rules, s):
    phase = s["phase"]
    turn_is_in = s["standing"][s["turn"]] == IN
    if phase != FINISHED and (s["standing"][s["actor"]] != IN or (phase != OFFER and s["actor"] != s["turn"])):
        return ACTOR_WRONG
    if popcount(s["accusing"]) >= rules["missing"] or (phase == FINISHED and s["accusing"] != 0):
        return ACCUSING_WRONG
    if phase == OFFER and not rules["any_time"]:
        return OFFERS_WRONG
    # Without a question, offers follow upon the accusation after a final one.
    if (
        (phase in (TURN, MUST_ACCUSE) and s["asked"] != 0)
        or (phase == SECOND and (s["asked"] != 1 or not rules["double_interrogation"]))
        or (phase == OFFER and s["asked"] == 0 and turn_is_in)
    ):
        return ASKED_WRONG
    in_order = not rules["first_random"] and _count_standing(rules, s, IN) == rules["num_players"]
    if in_order and s["turn"] != (s["turn_number"] - 1) % rules["num_players"]:
        return TURN_WRONG
    return SOUND


@inner
def _offers(rules, s):
    size = s["num_offers"]
    if (size > 0) != (s["offer_at"] < size) or (s["phase"] != FINISHED and (size > 0) != (s["phase"] == OFFER)):
        return OFFERS_WRONG
    for i in range(size, P):
        if s["offers"][i] != 0:
            return OFFERS_WRONG
    if s["phase"] == OFFER and s["offers"][s["offer_at"]] != s["actor"]:
        return OFFERS_WRONG
    return _queue(rules, s, size) if size > 0 else SOUND


@inner
def _queue(rules, s, size):
    """Check that the contenders are offered to accuse once each, in the order of the rules."""
    offered = 0
    last = -1
    for i in range(size):
        seat = int(s["offers"][i])
        distance = (seat - int(s["turn"])) % int(rules["num_players"])
        asked_already = i < s["offer_at"] or (s["phase"] == FINISHED and i == s["offer_at"])
        if offered >> seat & 1 or (s["standing"][seat] != IN and not asked_already):
            return OFFERS_WRONG
        if not rules["offers_random"] and distance < last:
            return OFFERS_WRONG
        offered |= 1 << seat
        last = distance
    for seat in range(rules["num_players"]):
        if s["standing"][seat] == IN and not offered >> seat & 1:
            return OFFERS_WRONG
    return SOUND


# --- what has been asked ---


@inner
def _answers(rules, s):
    for target in range(rules["num_players"]):
        for question in range(Q):
            count = s["answers"][target, question]
            if (count >= 0) != (s["askers"][target, question] != 0):
                return ANSWERS_WRONG
            if count >= 0 and count != popcount(s["hands"][target] & rules["question_gems"][question]):
                return ANSWERS_WRONG
    return SOUND


@inner
def _asked_of(s, asker, target):
    """Return the mask of the questions that a seat has asked another."""
    questions = np.int64(0)
    for question in range(Q):
        questions |= np.int64(s["askers"][target, question] >> asker & 1) << question
    return questions


@inner
def _shown_and_paid(rules, s):
    for asker in range(rules["num_players"]):
        asked = np.int64(0)
        for target in range(rules["num_players"]):
            questions = _asked_of(s, asker, target)
            asked |= questions
            seen = np.int64(0)
            for question in members(questions):
                if rules["num_elements"][question] == 2 and not rules["super_sleuth"]:
                    seen |= s["hands"][target] & rules["question_gems"][question]
            if s["seen"][asker, target] != seen:
                return SEEN_WRONG
        for card in members(s["spent"][asker]):
            if not _pays_for(rules, card, asked):
                return SPENT_WRONG
    return SOUND


@inner
def _pays_for(rules, card, questions):
    """Return whether a search card allows one of some questions (a mask)."""
    for i in range(rules["num_card_pairs"][card]):
        if questions >> int(rules["pair_question"][rules["card_pairs"][card, i]]) & 1:
            return True
    return False


@inner
def _first_asked(rules, s):
    if s["asked"] == 0:
        return SOUND if s["first_target"] == -1 and s["first_elements"] == 0 else FIRST_ASKED_WRONG
    if s["first_target"] == -1 or s["first_elements"] < 1:
        return FIRST_ASKED_WRONG
    for question in range(Q):
        by_turn = s["askers"][s["first_target"], question] >> int(s["turn"]) & 1
        if by_turn and rules["num_elements"][question] == s["first_elements"]:
            return SOUND
    return FIRST_ASKED_WRONG


# --- the last events ---


@inner
def _is_accusation(kind):
    return kind in (RIGHT_EVENT, WRONG_EVENT, ACCUSED_EVENT)


@inner
def _is_true_event(rules, s, event):
    """Return whether an event that is one can have happened."""
    kind = event[KIND]
    asker = event[ASKER]
    if asker < 0:
        return False
    if kind in (ASK_EVENT, FINAL_EVENT):
        target = event[TARGET]
        question = event[QUESTION]
        if target < 0 or question < 0 or not s["askers"][target, question] >> int(asker) & 1:
            return False
        if event[COUNT] != s["answers"][target, question]:
            return False
        if kind == FINAL_EVENT:
            return event[CARD] == -1
        return (
            event[CARD] >= 0
            and s["spent"][asker] >> int(event[CARD]) & 1 == 1
            and _pays_for(rules, event[CARD], np.int64(1) << int(question))
        )
    if event[TARGET] != -1 or event[QUESTION] != -1 or event[CARD] != -1 or event[COUNT] != -1:
        return False
    if kind == EXCHANGE_EVENT:
        return s["exchanges"][asker] > 0
    standing = s["standing"][asker]
    if kind == ACCUSED_EVENT:
        return not rules["announce_result"] and standing != IN
    return rules["announce_result"] and standing == (RIGHT if kind == RIGHT_EVENT else OUT)


@inner
def _count_events(s):
    count = 0
    while count < P and s["events"][count, KIND] != NO_EVENT:
        count += 1
    return count


@inner
def _events(rules, s):
    num_players = int(rules["num_players"])
    count = _count_events(s)
    for i in range(count, P):
        event = s["events"][i]
        blank = event[ASKER] == -1 and event[TARGET] == -1 and event[QUESTION] == -1 and event[CARD] == -1
        if event[KIND] != NO_EVENT or not blank or event[COUNT] != -1:
            return EVENTS_WRONG
    # Nobody accuses twice, or acts after an accusation.
    acted = 0
    accusations = 0
    for i in range(count):
        event = s["events"][i]
        if not _is_true_event(rules, s, event):
            return EVENTS_WRONG
        if _is_accusation(event[KIND]):
            accusations += 1
            if acted >> int(event[ASKER]) & 1:
                return EVENTS_WRONG
        acted |= 1 << int(event[ASKER])
    # Every turn has an event, and so has one under way once it has begun.
    begun = s["turn_number"] - (s["phase"] == TURN)
    if count < min(num_players, begun) or (begun == 0 and count > 0):
        return EVENTS_WRONG
    if count < num_players and accusations + _count_standing(rules, s, IN) != num_players:
        return EVENTS_WRONG
    return _last_event(rules, s, count)


@inner
def _last_event(rules, s, count):
    """Check that the last event, accusations apart, is what has led to this phase."""
    phase = s["phase"]
    if phase == FINISHED:
        ended_it = count > 0 and _is_accusation(s["events"][0, KIND])
        return SOUND if ended_it or s["truncated"] else EVENTS_WRONG
    at = 0
    while at < count and _is_accusation(s["events"][at, KIND]):
        at += 1
    if phase == TURN:
        if count == 0 or at > 0:
            return SOUND
        seat = (int(s["events"][0, ASKER]) + 1) % int(rules["num_players"])
        while s["standing"][seat] != IN:
            seat = (seat + 1) % int(rules["num_players"])
        return SOUND if seat == s["turn"] and s["events"][0, KIND] != FINAL_EVENT else TURN_WRONG
    if at == count or s["events"][at, ASKER] != s["turn"] or (phase == MUST_ACCUSE and at > 0):
        return EVENTS_WRONG
    if s["events"][at, KIND] != (ASK_EVENT if s["asked"] > 0 else FINAL_EVENT):
        return EVENTS_WRONG
    if s["asked"] > 0:
        same_target = s["events"][at, TARGET] == s["first_target"]
        same_size = rules["num_elements"][s["events"][at, QUESTION]] == s["first_elements"]
        is_first = s["asked"] == 1
        if same_target != is_first or same_size != is_first:
            return FIRST_ASKED_WRONG
    return SOUND


@inner
def _exchanges(rules, s):
    total = 0
    logged = 0
    for seat in range(rules["num_players"]):
        total += s["exchanges"][seat]
        logged += s["events"][seat, KIND] == EXCHANGE_EVENT
    # A turn has one exchange at most, and is over by it.
    if total > s["turn_number"] - 1 + s["truncated"] or total < logged:
        return EXCHANGES_WRONG
    if _count_events(s) < rules["num_players"] and total != logged:
        return EXCHANGES_WRONG
    return SOUND


@inner
def _fault(rules, s):
    """Return the first fault of a game.

    Each check counts on those before it.
    """
    return (
        _hand_ranges(s)
        or _table_ranges(s)
        or _turn_ranges(rules, s)
        or _seat_ranges(rules, s)
        or _knowledge_ranges(rules, s)
        or _unused(rules, s)
        or _gems(rules, s)
        or _search_cards(rules, s)
        or _accusations(rules, s)
        or _ends(rules, s)
        or _turns(rules, s)
        or _offers(rules, s)
        or _answers(rules, s)
        or _shown_and_paid(rules, s)
        or _first_asked(rules, s)
        or _events(rules, s)
        or _exchanges(rules, s)
    )


@kernel
def _find_faults(rules, states, faults):
    for b in range(states.size):
        faults[b] = _fault(rules[0], states[b])


def problems(rules: np.ndarray, states: np.ndarray) -> list[str]:
    """Return what is wrong with some games, one text for each that is not sound.

    It may be given any bytes. A game that is sound can be played, seen, drawn and written down.
    Blank states, in which nothing has been dealt, are not sound.

    >>> from sleuth_env.sleuth import Options, deal, make_rules, new_states
    >>> rules = make_rules(Options(num_players=3))
    >>> states = new_states(2)
    >>> deal(rules, states, np.array([1, 2], np.uint64))
    >>> problems(rules, states)
    []
    >>> states["actor"][1] = 2**31 - 1
    >>> problems(rules, states)
    ['game 1: actor is 2147483647: not a seat, nor -1 in a finished game']

    Args:
        rules: RULES [1].
        states: STATE [B].
    """
    faults = np.zeros(len(states), np.int64)
    # A copy where it must be: kernels are compiled for arrays that lie as NumPy makes them.
    _find_faults(rules, np.require(states, STATE, ["C", "A", "W"]), faults)
    return problem_texts(states, faults, _SAID)
