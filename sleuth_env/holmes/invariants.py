"""What always holds of a game, checked before a kernel is given bytes from outside.

The kernels look at nothing: a state that has not come from `deal` and `step` must pass `problems`
first. What passes is a position that they can play to the end, and each field that follows from
others agrees with them; it need not be one that can be reached.
Axis letters: ``B`` games, ``P`` seats, ``T`` titles.
"""

from __future__ import annotations

import numpy as np

from ..game_doors import problem_texts
from ..kernels import inner, kernel
from .cards import (
    AFOOT,
    ALIBI,
    ALL_TARGETS,
    ARREST_IF_GUILTY,
    DISCARD_EFFECT,
    FOG_EFFECT,
    GIFT_EFFECT,
    HIGHEST_CARD,
    HIGHEST_CARDS,
    MASTERMIND,
    MAX_IMPROMPTUS,
    NUM_BOOKS,
    NUM_CARDS,
    NUM_COLUMNS,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    NUM_VILLAINS,
    SAY_TOKENS,
    TELEGRAM_EFFECT,
    TOKEN_EFFECT,
)
from .choices import may_escape
from .moves import left_of
from .rules import legal
from .state import (
    ARRESTED,
    COUNTERED,
    DISCARD,
    DISCARDED,
    DRAWN,
    ESCAPE,
    EVENT_FIELDS,
    FINISHED,
    FOG,
    GIVE,
    HAND_ON,
    IMPROMPTU,
    IMPROMPTU_ARREST,
    INNOCENT,
    KIND,
    MAX_EVENTS,
    MAX_NOTES,
    NO_EVENT,
    NUM_EVENT_KINDS,
    NUM_HOLDERS,
    NUM_PHASES,
    PILE,
    PLAYED,
    PLAYER,
    RESPOND,
    SECOND,
    SHOW,
    SOURCE,
    STATE,
    TARGET,
    TITLE,
    TOKEN,
    TOOK_TELEGRAM,
    TOOK_TOKEN,
    TURN,
    VERDICT,
    P,
    T,
)

# The faults: what is wrong, in the order in which it is looked for. First what the later checks
# index with.
(
    SOUND,
    UNUSED_BYTES,
    PHASE_RANGE,
    TURN_RANGE,
    NEXT_TURN_RANGE,
    TURN_NUMBER_RANGE,
    CASE_NUMBER_RANGE,
    ACTOR_RANGE,
    TRUNCATED_RANGE,
    KEEPS_SHEETS_RANGE,
    CURRENT_RANGE,
    CITY_RANGE,
    IN_PLAY_RANGE,
    DRAWN_RANGE,
    MORE_RANGE,
    CARD_RANGE,
    PLAYER_RANGE,
    TARGET_RANGE,
    ARRESTER_RANGE,
    TRIED_RANGE,
    COUNTERS_RANGE,
    IMPROMPTUS_RANGE,
    CLOSED_RANGE,
    ARRESTS_RANGE,
    LAST_RANGE,
    SET_DOWN_RANGE,
    DECLINED_RANGE,
    HANDS_RANGE,
    DISCARDS_RANGE,
    PILE_SIZE_RANGE,
    PILE_RANGE,
    BOOKS_RANGE,
    VILLAINS_RANGE,
    TELEGRAMS_RANGE,
    STOCK_RANGE,
    SAY_RANGE,
    SAY_SIZES_RANGE,
    SAY_POOL_RANGE,
    LOOKS_RANGE,
    SHEETS_RANGE,
    EVENTS_RANGE,
    UNUSED_SEATS,
    CARDS_LOST,
    HELD_WRONG,
    SIZES_WRONG,
    SAY_LOST,
    STOCK_WRONG,
    SHEETS_WRONG,
    SUMS_WRONG,
    SHEETS_LEFT,
    ENDED_WRONG,
    TRUNCATED_WRONG,
    ACTOR_WRONG,
    NOTHING_CARRIED_OUT,
    CARD_WRONG,
    IN_PLAY_WRONG,
    DRAWN_WRONG,
    SET_DOWN_WRONG,
    ARRESTER_WRONG,
    TARGET_WRONG,
    TRIED_WRONG,
    MORE_WRONG,
    LEGAL_WRONG,
    NO_SHEETS,
) = range(64)

# Of each fault the field in which it lies, as far as one can say, and what is wrong with it.
_SAID = {
    UNUSED_BYTES: ("moved", "this, got, notes and padding are not blank"),
    PHASE_RANGE: ("phase", "not a phase"),
    TURN_RANGE: ("turn", "not a seat"),
    NEXT_TURN_RANGE: ("next_turn", "not a seat"),
    TURN_NUMBER_RANGE: ("turn_number", "not a turn from 1 to the turn limit"),
    CASE_NUMBER_RANGE: ("case_number", "not a case from 1 to the last"),
    ACTOR_RANGE: ("actor", "not a seat, nor -1 in a finished game"),
    TRUNCATED_RANGE: ("truncated", "not 0 or 1"),
    KEEPS_SHEETS_RANGE: ("keeps_sheets", "not 0 or 1"),
    CURRENT_RANGE: ("current", "not a title that can be the Current card"),
    CITY_RANGE: ("city", "not 0 or 1, or not the kind of the Current card"),
    IN_PLAY_RANGE: ("in_play", "not an I Say card, nor -1"),
    DRAWN_RANGE: ("drawn", "not a title that can be drawn, nor -1"),
    MORE_RANGE: ("more", "not 0 or 1"),
    CARD_RANGE: ("card", "not a title that can be played, nor -1"),
    PLAYER_RANGE: ("player", "not a seat, nor -1"),
    TARGET_RANGE: ("target", "not a seat, nor -1"),
    ARRESTER_RANGE: ("arrester", "not a seat, nor -1"),
    TRIED_RANGE: ("tried", "not num_tried different seats, and then -1"),
    COUNTERS_RANGE: ("num_counters", "not a number of Interrupts"),
    IMPROMPTUS_RANGE: ("num_impromptus", f"not a number from 0 to {MAX_IMPROMPTUS}"),
    CLOSED_RANGE: ("closed", "not numbers of cases that have been closed"),
    ARRESTS_RANGE: ("arrests", "not numbers of cases that have been closed by an arrest"),
    LAST_RANGE: ("last_closer", "with the other fields of the last case not the end of one"),
    SET_DOWN_RANGE: ("set_down", "not titles, nor -1"),
    DECLINED_RANGE: ("declined", "not 0 or 1"),
    HANDS_RANGE: ("hands", "not numbers of copies"),
    DISCARDS_RANGE: ("discards", "not numbers of copies"),
    PILE_SIZE_RANGE: ("pile_size", f"not a number from 0 to {NUM_CARDS}"),
    PILE_RANGE: ("pile", "not pile_size titles, and then -1"),
    BOOKS_RANGE: ("books", "not seats, nor -1"),
    VILLAINS_RANGE: ("villains", "not seats, nor -1"),
    TELEGRAMS_RANGE: ("telegrams", "not seats, nor -1"),
    STOCK_RANGE: ("telegram_stock", "not telegram_size different tokens, and then -1"),
    SAY_RANGE: ("say", "not points of I Say tokens"),
    SAY_SIZES_RANGE: ("say_sizes", f"not numbers from 0 to {SAY_TOKENS}"),
    SAY_POOL_RANGE: ("say_pool", "not the points of say_sizes tokens, and then 0"),
    LOOKS_RANGE: ("looks", "with look_whole and look_turn not what a viewer can have been shown"),
    SHEETS_RANGE: ("least", "with most not bounds of numbers of copies"),
    EVENTS_RANGE: ("events", "not events"),
    UNUSED_SEATS: ("hands", "something lies at a seat where nobody sits"),
    CARDS_LOST: ("hands", "with the piles and the open cards they are not all cards once each"),
    HELD_WRONG: ("held", "not the titles in the hands"),
    SIZES_WRONG: ("hand_sizes", "not the numbers of cards in the hands"),
    SAY_LOST: ("say", "with the pool they are not all I Say tokens once each"),
    STOCK_WRONG: ("telegram_stock", "not the Telegram tokens that nobody has"),
    SHEETS_WRONG: ("least", "with most not bounds that hold of the cards"),
    SUMS_WRONG: ("spare", "with excess and counted not the sums of the sheets"),
    SHEETS_LEFT: ("keeps_sheets", "with least, most, spare, excess and counted not all 0"),
    ENDED_WRONG: ("phase", "finished too early, or not finished"),
    TRUNCATED_WRONG: ("truncated", "the turn limit cannot have ended this game"),
    ACTOR_WRONG: ("actor", "not the seat that decides in this phase"),
    NOTHING_CARRIED_OUT: ("card", "with player and target not blank, though nothing is carried out"),
    CARD_WRONG: ("card", "not one that leads to this phase"),
    IN_PLAY_WRONG: ("in_play", "not the I Say card that is carried out"),
    DRAWN_WRONG: ("drawn", "not a card that is drawn and may be played"),
    SET_DOWN_WRONG: ("set_down", "not cards of the hands, of those who have chosen before the actor"),
    ARRESTER_WRONG: ("arrester", "not whoever makes the Impromptu Arrest of this phase"),
    TARGET_WRONG: ("target", "not whom this card is played on"),
    TRIED_WRONG: ("tried", "not opponents who have countered an Impromptu Arrest"),
    MORE_WRONG: ("more", "no further card may be played in this turn"),
    LEGAL_WRONG: ("phase", "there is not enough to decide in it"),
    NO_SHEETS: ("keeps_sheets", "the game has no sheets, so nobody can look at it"),
}

MOST_TURNS = 2**31 - 1


# --- ranges ---


@inner
def _is_mark(number):
    return number == 0 or number == 1


@inner
def _is_seat_or_nobody(rules, seat):
    return -1 <= seat < rules["num_players"]


@inner
def _course_ranges(rules, s):
    num_players = rules["num_players"]
    if s["phase"] < 0 or s["phase"] >= NUM_PHASES:
        return PHASE_RANGE
    if s["turn"] < 0 or s["turn"] >= num_players:
        return TURN_RANGE
    if s["next_turn"] < 0 or s["next_turn"] >= num_players:
        return NEXT_TURN_RANGE
    if s["turn_number"] < 1 or s["turn_number"] > rules["max_turns"]:
        return TURN_NUMBER_RANGE
    if s["case_number"] < 1 or (rules["cases"] > 0 and s["case_number"] > rules["cases"]):
        return CASE_NUMBER_RANGE
    if not _is_seat_or_nobody(rules, s["actor"]) or (s["actor"] == -1) != (s["phase"] == FINISHED):
        return ACTOR_RANGE
    if not _is_mark(s["truncated"]):
        return TRUNCATED_RANGE
    return SOUND if _is_mark(s["keeps_sheets"]) else KEEPS_SHEETS_RANGE


@inner
def _table_ranges(rules, s):
    never = rules["says"] | rules["villains"] | (np.int64(1) << MASTERMIND)
    if s["current"] < 0 or s["current"] >= T or (never >> int(s["current"])) & 1:
        return CURRENT_RANGE
    kind = rules["is_city"][s["current"]]
    if not _is_mark(s["city"]) or (kind >= 0 and kind != s["city"]):
        return CITY_RANGE
    if s["in_play"] < -1 or s["in_play"] >= T or (s["in_play"] >= 0 and not (rules["says"] >> int(s["in_play"])) & 1):
        return IN_PLAY_RANGE
    if s["drawn"] < -1 or s["drawn"] >= AFOOT:
        return DRAWN_RANGE
    return SOUND if _is_mark(s["more"]) else MORE_RANGE


@inner
def _tried_range(rules, s):
    if s["num_tried"] < 0 or s["num_tried"] >= rules["num_players"]:
        return TRIED_RANGE
    seats = 0
    for i in range(P):
        seat = int(s["tried"][i])
        if i >= s["num_tried"]:
            if seat != -1:
                return TRIED_RANGE
        elif seat < 0 or seat >= rules["num_players"] or (seats >> seat) & 1:
            return TRIED_RANGE
        else:
            seats |= 1 << seat
    return SOUND


@inner
def _play_ranges(rules, s):
    if s["card"] < -1 or s["card"] >= AFOOT:
        return CARD_RANGE
    if not _is_seat_or_nobody(rules, s["player"]):
        return PLAYER_RANGE
    if not _is_seat_or_nobody(rules, s["target"]):
        return TARGET_RANGE
    if not _is_seat_or_nobody(rules, s["arrester"]):
        return ARRESTER_RANGE
    # There are no more Interrupts than cards to be drawn meanwhile, but no kernel counts on it.
    if s["num_counters"] < 0 or s["num_counters"] > NUM_CARDS:
        return COUNTERS_RANGE
    if s["num_impromptus"] < 0 or s["num_impromptus"] > MAX_IMPROMPTUS:
        return IMPROMPTUS_RANGE
    return _tried_range(rules, s)


@inner
def _last_case(rules, s):
    closer = s["last_closer"]
    accused = s["last_accused"]
    total = s["last_total"]
    book = s["last_book"]
    escaped = s["last_escaped"]
    if not _is_seat_or_nobody(rules, closer) or not _is_seat_or_nobody(rules, accused):
        return LAST_RANGE
    if total < -1 or book < -1 or book >= NUM_BOOKS or escaped < 0 or escaped >= 1 << NUM_VILLAINS:
        return LAST_RANGE
    by_arrest = closer >= 0 and accused >= 0 and accused != closer and total >= 0 and escaped == 0
    by_escape = accused == -1 and total == -1 and book == -1 and (closer >= 0) == (escaped != 0)
    return SOUND if by_arrest or by_escape else LAST_RANGE


@inner
def _seat_ranges(rules, s):
    for seat in range(P):
        if s["closed"][seat] < 0 or s["closed"][seat] > s["case_number"]:
            return CLOSED_RANGE
        if s["arrests"][seat] < 0 or s["arrests"][seat] > s["closed"][seat]:
            return ARRESTS_RANGE
        if s["set_down"][seat] < -1 or s["set_down"][seat] >= AFOOT:
            return SET_DOWN_RANGE
        if not _is_mark(s["declined"][seat]):
            return DECLINED_RANGE
        for title in range(T):
            if s["hands"][seat, title] < 0 or s["hands"][seat, title] > rules["copies"][title]:
                return HANDS_RANGE
    return _last_case(rules, s)


@inner
def _pile_ranges(rules, s):
    for title in range(T):
        if s["discards"][title] < 0 or s["discards"][title] > rules["copies"][title]:
            return DISCARDS_RANGE
    if s["pile_size"] < 0 or s["pile_size"] > NUM_CARDS:
        return PILE_SIZE_RANGE
    for i in range(NUM_CARDS):
        title = s["pile"][i]
        if title < -1 or title >= AFOOT or (title >= 0) != (i < s["pile_size"]):
            return PILE_RANGE
    return SOUND


@inner
def _token_ranges(rules, s):
    for book in range(NUM_BOOKS):
        if not _is_seat_or_nobody(rules, s["books"][book]):
            return BOOKS_RANGE
    for villain in range(NUM_VILLAINS):
        if not _is_seat_or_nobody(rules, s["villains"][villain]):
            return VILLAINS_RANGE
    return _telegram_ranges(rules, s) or _say_ranges(s)


@inner
def _telegram_ranges(rules, s):
    if s["telegram_size"] < 0 or s["telegram_size"] > NUM_TELEGRAMS:
        return STOCK_RANGE
    stock = 0
    for token in range(NUM_TELEGRAMS):
        if not _is_seat_or_nobody(rules, s["telegrams"][token]):
            return TELEGRAMS_RANGE
        place = int(s["telegram_stock"][token])
        if place < -1 or place >= NUM_TELEGRAMS or (place >= 0) != (token < s["telegram_size"]):
            return STOCK_RANGE
        if place >= 0:
            if (stock >> place) & 1:
                return STOCK_RANGE
            stock |= 1 << place
    return SOUND


@inner
def _say_ranges(s):
    for kind in range(NUM_SAY_TYPES):
        if s["say_sizes"][kind] < 0 or s["say_sizes"][kind] > SAY_TOKENS:
            return SAY_SIZES_RANGE
        for seat in range(P):
            if s["say"][seat, kind] < 0:
                return SAY_RANGE
        for i in range(SAY_TOKENS):
            points = s["say_pool"][kind, i]
            if points < 0 or (points > 0) != (i < s["say_sizes"][kind]):
                return SAY_POOL_RANGE
    return SOUND


@inner
def _look_ranges(rules, s):
    for viewer in range(P):
        for other in range(P):
            turn = s["look_turn"][viewer, other]
            if not _is_mark(s["look_whole"][viewer, other]) or turn < 0 or turn > MOST_TURNS:
                return LOOKS_RANGE
            for title in range(T):
                if s["looks"][viewer, other, title] < 0:
                    return LOOKS_RANGE
        for holder in range(NUM_HOLDERS):
            for title in range(NUM_COLUMNS):
                least = s["least"][viewer, holder, title]
                most = s["most"][viewer, holder, title]
                if least < 0 or least > most or most > rules["sheet_copies"][title]:
                    return SHEETS_RANGE
    return SOUND


@inner
def _has_title(kind):
    return kind in (PLAYED, COUNTERED, DISCARDED)


@inner
def _needs_target(kind):
    return kind in (COUNTERED, IMPROMPTU_ARREST, INNOCENT, ARRESTED)


@inner
def _may_have_target(kind):
    return _needs_target(kind) or kind in (PLAYED, TOOK_TOKEN, TOOK_TELEGRAM)


@inner
def _events(rules, s):
    ended = False
    for i in range(MAX_EVENTS):
        kind = s["events"][i, KIND]
        if kind < NO_EVENT or kind >= NUM_EVENT_KINDS:
            return EVENTS_RANGE
        if kind == NO_EVENT or i >= 2 * rules["num_players"]:
            ended = True
            for field in range(EVENT_FIELDS):
                if s["events"][i, field] != -1:
                    return EVENTS_RANGE
            continue
        player = s["events"][i, PLAYER]
        target = s["events"][i, TARGET]
        title = s["events"][i, TITLE]
        if ended or player < 0 or player >= rules["num_players"] or not _is_seat_or_nobody(rules, target):
            return EVENTS_RANGE
        if title < -1 or title >= T or (title >= 0) != _has_title(kind):
            return EVENTS_RANGE
        if (_needs_target(kind) and target < 0) or (target >= 0 and not _may_have_target(kind)):
            return EVENTS_RANGE
        if target == player:
            return EVENTS_RANGE
    return SOUND


@inner
def _has_notes(s):
    """Return whether notes of what happened to cards are left, which are read in the step in which they are taken."""
    left = s["num_notes"] != 0
    for i in range(MAX_NOTES):
        left = left or s["notes"][i] != 0
    return left


@inner
def _unused(rules, s):
    for title in range(T):
        if s["moved"][title] != 0:
            return UNUSED_BYTES
    if _has_notes(s):
        return UNUSED_BYTES
    for i in range(s["padding"].size):
        if s["padding"][i] != 0:
            return UNUSED_BYTES
    for seat in range(P):
        if s["got"][seat] != -1:
            return UNUSED_BYTES
        if seat >= rules["num_players"] and _is_used(s, seat):
            return UNUSED_SEATS
    return SOUND


@inner
def _is_used(s, seat):
    """Return whether anything lies at a seat where nobody sits."""
    if s["held"][seat] != 0 or s["hand_sizes"][seat] != 0 or s["closed"][seat] != 0 or s["set_down"][seat] != -1:
        return True
    if s["declined"][seat] != 0:
        return True
    for kind in range(NUM_SAY_TYPES):
        if s["say"][seat, kind] != 0:
            return True
    used = False
    for title in range(T):
        used = used or s["hands"][seat, title] != 0
    return used


# --- the cards and tokens ---


@inner
def _copies_of(s, title):
    """Return how many copies of a title there are anywhere but in the draw pile."""
    copies = int(s["discards"][title]) + (s["current"] == title) + (s["in_play"] == title) + (s["drawn"] == title)
    for seat in range(P):
        copies += int(s["hands"][seat, title])
    return copies


@inner
def _cards(rules, s):
    total = 0
    for title in range(T):
        copies = _copies_of(s, title)
        total += copies
        if title == AFOOT:
            if copies != (s["current"] == AFOOT):
                return CARDS_LOST
            continue
        for i in range(s["pile_size"]):
            copies += s["pile"][i] == title
        if copies != rules["copies"][title]:
            return CARDS_LOST
    for seat in range(P):
        size = 0
        held = np.int64(0)
        for title in range(T):
            size += int(s["hands"][seat, title])
            held |= np.int64(s["hands"][seat, title] > 0) << title
        if s["held"][seat] != held:
            return HELD_WRONG
        if s["hand_sizes"][seat] != size:
            return SIZES_WRONG
    return SOUND


@inner
def _count_say(s, kind, points):
    """Return how many I Say tokens of a type there are of some points, none (0) apart."""
    found = 0
    for i in range(SAY_TOKENS):
        found += s["say_pool"][kind, i] == points
    for seat in range(P):
        found += s["say"][seat, kind] == points
    return found


@inner
def _say_tokens(rules, s):
    for kind in range(NUM_SAY_TYPES):
        number = int(s["say_sizes"][kind])
        for seat in range(P):
            number += s["say"][seat, kind] > 0
        if number != SAY_TOKENS:
            return SAY_LOST
        for i in range(SAY_TOKENS):
            points = rules["say_points"][kind, i]
            wanted = 0
            for j in range(SAY_TOKENS):
                wanted += rules["say_points"][kind, j] == points
            if _count_say(s, kind, points) != wanted:
                return SAY_LOST
    return SOUND


@inner
def _telegrams(s):
    free = 0
    for token in range(NUM_TELEGRAMS):
        free += s["telegrams"][token] == -1
        place = s["telegram_stock"][token]
        if place >= 0 and s["telegrams"][place] != -1:
            return STOCK_WRONG
    return SOUND if free == s["telegram_size"] else STOCK_WRONG


# --- what is known ---


@inner
def _in_pile(s, viewer, title):
    """Return the copies in the draw pile, as a viewer counts: the drawn card is one of them for the others."""
    copies = int(s["drawn"] == title and viewer != s["turn"])
    for i in range(s["pile_size"]):
        copies += s["pile"][i] == title
    return copies


@inner
def _size_of_pile(s, viewer):
    """Return the number of cards in the draw pile, see `_in_pile`."""
    return s["pile_size"] + int(s["drawn"] >= 0 and viewer != s["turn"])


@inner
def _unseen(rules, s, viewer, title):
    """Return the copies of a title that a viewer does not see."""
    copies = _in_pile(s, viewer, title)
    for seat in range(rules["num_players"]):
        if seat != viewer:
            copies += s["hands"][seat, title]
    return copies


@inner
def _is_of_sheet(rules, viewer, holder):
    """Return whether the sheet of a viewer speaks of a holder."""
    num_players = rules["num_players"]
    return viewer < num_players and holder != viewer and (holder < num_players or holder == PILE)


@inner
def _no_sheets(s):
    """Check that no sheet is left where none is kept."""
    for viewer in range(P):
        for holder in range(NUM_HOLDERS):
            if s["counted"][viewer, holder] != 0:
                return SHEETS_LEFT
            for title in range(NUM_COLUMNS):
                if s["least"][viewer, holder, title] != 0 or s["most"][viewer, holder, title] != 0:
                    return SHEETS_LEFT
        for title in range(NUM_COLUMNS):
            if s["spare"][viewer, title] != 0 or s["excess"][viewer, title] != 0:
                return SHEETS_LEFT
    return SOUND


@inner
def _bounds(rules, s):
    for viewer in range(P):
        for holder in range(NUM_HOLDERS):
            is_used = _is_of_sheet(rules, viewer, holder)
            for title in range(T):
                least = s["least"][viewer, holder, title]
                most = s["most"][viewer, holder, title]
                if not is_used or title == AFOOT:
                    if most != 0:
                        return SHEETS_WRONG
                    continue
                copies = _in_pile(s, viewer, title) if holder == PILE else s["hands"][holder, title]
                if copies < least or copies > most:
                    return SHEETS_WRONG
    return SOUND


@inner
def _sums(rules, s):
    """Check the sums of the sheets, whose bounds are sound."""
    for viewer in range(P):
        for holder in range(NUM_HOLDERS):
            cards = 0
            if _is_of_sheet(rules, viewer, holder):
                cards = s["hand_sizes"][holder] if holder < P else _size_of_pile(s, viewer)
            if s["counted"][viewer, holder] != cards:
                return SUMS_WRONG
        for title in range(NUM_COLUMNS):
            unseen = _unseen(rules, s, viewer, title) if viewer < rules["num_players"] and title < AFOOT else 0
            spare = unseen
            excess = -unseen
            for holder in range(NUM_HOLDERS):
                spare -= int(s["least"][viewer, holder, title])
                excess += int(s["most"][viewer, holder, title])
            if s["spare"][viewer, title] != spare or s["excess"][viewer, title] != excess:
                return SUMS_WRONG
    return SOUND


@inner
def _sheets(rules, s):
    return _bounds(rules, s) or _sums(rules, s) if s["keeps_sheets"] else _no_sheets(s)


@inner
def _looks(rules, s):
    for viewer in range(P):
        for other in range(P):
            if s["look_turn"][viewer, other] == 0:
                seen = s["look_whole"][viewer, other] != 0
                for title in range(T):
                    seen = seen or s["looks"][viewer, other, title] != 0
                if seen:
                    return LOOKS_RANGE
            elif viewer == other or viewer >= rules["num_players"] or other >= rules["num_players"]:
                return LOOKS_RANGE
    return SOUND


# --- the course of the game ---


@inner
def _has_ended(rules, s):
    """Return whether a Book that ends the game has been taken."""
    ended = False
    for book in range(NUM_BOOKS):
        ended = ended or (rules["book_ends"][book] == 1 and s["books"][book] >= 0)
    return ended


@inner
def _ends(rules, s):
    if s["truncated"]:
        ended = s["phase"] == FINISHED and s["turn_number"] == rules["max_turns"] and not _has_ended(rules, s)
        return SOUND if ended else TRUNCATED_WRONG
    if s["phase"] == FINISHED:
        # A game ends when a case is closed.
        last = rules["cases"] > 0 and s["case_number"] == rules["cases"]
        return SOUND if s["last_closer"] >= 0 and (last or _has_ended(rules, s)) else ENDED_WRONG
    return ENDED_WRONG if _has_ended(rules, s) else SOUND


@inner
def _is_idle(s):
    """Return whether nothing is carried out."""
    return s["card"] == -1 and s["player"] == -1 and s["target"] == -1


@inner
def _is_carried_out(rules, s, effect):
    """Return whether a card with an effect is carried out."""
    return s["card"] >= 0 and rules["effect"][s["card"]] == effect


@inner
def _course(rules, s):
    """Check what lies apart in which phase."""
    phase = s["phase"]
    if (s["drawn"] >= 0) != (phase == DRAWN):
        return DRAWN_WRONG
    idle = phase in (TURN, SECOND, DRAWN, IMPROMPTU, ESCAPE, FINISHED)
    if idle and not _is_idle(s):
        return NOTHING_CARRIED_OUT
    if phase in (TURN, SECOND, DRAWN) and s["actor"] != s["turn"]:
        return ACTOR_WRONG
    says = s["card"] >= 0 and (rules["says"] >> int(s["card"])) & 1 == 1
    if s["in_play"] != (s["card"] if says else -1):
        return IN_PLAY_WRONG
    # An Impromptu Arrest is under way from its beginning until somebody has been arrested.
    arresting = phase == IMPROMPTU or (phase in (RESPOND, HAND_ON) and s["card"] < 0)
    if (s["arrester"] >= 0) != arresting:
        return ARRESTER_WRONG
    if not arresting and (s["num_tried"] != 0 or s["num_counters"] != 0):
        return TRIED_WRONG
    if phase == TURN and s["num_impromptus"] != 0:
        return IMPROMPTUS_RANGE
    if phase == SECOND and not s["more"]:
        return MORE_WRONG
    if not idle and s["player"] == -1:
        return PLAYER_RANGE
    return SOUND


@inner
def _card_carried_out(rules, s):
    """Check a card that is carried out, or answered."""
    if s["card"] < 0:
        return SOUND
    if s["player"] != s["turn"]:
        return PLAYER_RANGE
    countered = s["phase"] == HAND_ON
    if s["in_play"] < 0 and not countered and s["current"] != s["card"]:
        return CARD_WRONG
    if (rules["villains"] >> int(s["card"])) & 1 or s["card"] == MASTERMIND or s["card"] == ALIBI:
        return CARD_WRONG
    if s["target"] == s["player"] or (s["target"] >= 0 and not (rules["aimed"] >> int(s["card"])) & 1):
        return TARGET_WRONG
    return SOUND


@inner
def _has_own_phase(rules, s):
    """Return whether the card that is carried out leads to this phase, in which its player decides."""
    phase = s["phase"]
    if phase == GIVE:
        return _is_carried_out(rules, s, GIFT_EFFECT) and s["target"] >= 0
    if phase == DISCARD:
        return _is_carried_out(rules, s, DISCARD_EFFECT)
    if phase == SOURCE:
        return _is_carried_out(rules, s, TELEGRAM_EFFECT) and s["target"] >= 0 and s["telegram_size"] == 0
    if phase == VERDICT:
        if not _is_carried_out(rules, s, ARREST_IF_GUILTY) or s["target"] < 0 or rules["must_arrest"]:
            return False
        return s["held"][s["target"]] & rules["villains"] != 0
    # TOKEN is left.
    if s["in_play"] >= 0:
        return rules["lists_say"][s["current"]] == 1
    return _is_carried_out(rules, s, TOKEN_EFFECT) and s["target"] >= 0


@inner
def _decision(rules, s):
    """Check who decides what."""
    phase = s["phase"]
    if phase in (GIVE, DISCARD, SOURCE, VERDICT, TOKEN):
        if not _has_own_phase(rules, s):
            return CARD_WRONG
        return SOUND if s["actor"] == s["player"] else ACTOR_WRONG
    if phase == SHOW:
        if _is_carried_out(rules, s, HIGHEST_CARD):
            return SOUND if s["actor"] == s["target"] else ACTOR_WRONG
        return SOUND if _is_carried_out(rules, s, HIGHEST_CARDS) and s["actor"] != s["player"] else CARD_WRONG
    if phase == RESPOND:
        return _answer(rules, s)
    if phase == IMPROMPTU:
        return SOUND if s["actor"] == s["arrester"] else ACTOR_WRONG
    if phase == ESCAPE:
        may = may_escape(rules, s, s["actor"]) and s["declined"][s["actor"]] == 0
        return SOUND if may else ACTOR_WRONG
    if phase == DRAWN:
        playable = rules["suitable"][s["current"], s["city"]] | rules["permissible"][s["current"]]
        return SOUND if (playable >> int(s["drawn"])) & 1 and not s["more"] else DRAWN_WRONG
    return SOUND


@inner
def _answer(rules, s):
    if s["card"] < 0:
        if s["player"] != s["arrester"]:
            return ARRESTER_WRONG
        return SOUND if s["target"] == s["actor"] and s["actor"] != s["player"] else TARGET_WRONG
    if s["target"] >= 0:
        return SOUND if s["target"] == s["actor"] else ACTOR_WRONG
    to_all = rules["target"][s["card"]] == ALL_TARGETS
    return SOUND if to_all and s["actor"] != s["player"] else TARGET_WRONG


@inner
def _set_down(rules, s):
    """Check the cards that have been set down: those of all who decide before the actor."""
    choosing = s["phase"] in (HAND_ON, FOG)
    if s["phase"] == FOG and not _is_carried_out(rules, s, FOG_EFFECT):
        return CARD_WRONG
    if s["phase"] == HAND_ON:
        if s["current"] != ALIBI:
            return CURRENT_RANGE
        if s["card"] < 0 and (s["player"] != s["arrester"] or s["target"] < 0 or s["target"] == s["player"]):
            return ARRESTER_WRONG
    is_before = choosing
    for k in range(rules["num_players"]):
        seat = left_of(rules, s["turn"], k)
        is_before = is_before and seat != s["actor"]
        title = int(s["set_down"][seat])
        if (title >= 0) != (is_before and s["hand_sizes"][seat] > 0):
            return SET_DOWN_WRONG
        if title >= 0 and s["hands"][seat, title] == 0:
            return SET_DOWN_WRONG
    return SOUND


@inner
def _tried(rules, s):
    if s["num_tried"] > s["num_counters"]:
        return TRIED_WRONG
    for i in range(s["num_tried"]):
        if s["tried"][i] == s["arrester"]:
            return TRIED_WRONG
    return SOUND


@inner
def _fault(rules, s):
    """Return the first fault of a game.

    Each check counts on those before it.
    """
    return (
        _course_ranges(rules, s)
        or _table_ranges(rules, s)
        or _play_ranges(rules, s)
        or _seat_ranges(rules, s)
        or _pile_ranges(rules, s)
        or _token_ranges(rules, s)
        or _look_ranges(rules, s)
        or _events(rules, s)
        or _unused(rules, s)
        or _cards(rules, s)
        or _say_tokens(rules, s)
        or _telegrams(s)
        or _looks(rules, s)
        or _sheets(rules, s)
        or _ends(rules, s)
        or _course(rules, s)
        or _card_carried_out(rules, s)
        or _decision(rules, s)
        or _set_down(rules, s)
        or _tried(rules, s)
    )


@kernel
def _find_faults(rules, states, faults):
    for b in range(states.size):
        faults[b] = _fault(rules[0], states[b])


def problems(rules: np.ndarray, states: np.ndarray) -> list[str]:
    """Return what is wrong with some games, one text for each that is not sound.

    It may be given any bytes. A game that is sound can be played, seen, drawn and written down.
    Blank states, in which nothing has been dealt, are not sound, nor are games without sheets.

    >>> from sleuth_env.holmes.cards import Options, make_rules
    >>> from sleuth_env.holmes.cases import deal
    >>> from sleuth_env.holmes.state import new_states
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
    faults = _faults(rules, states)
    faults[(faults == SOUND) & (states["keeps_sheets"] == 0)] = NO_SHEETS
    return problem_texts(states, faults, _SAID)


def problems_in_play(rules: np.ndarray, states: np.ndarray) -> list[str]:
    """Return what is wrong with some games that are only played: they may have no sheets, see `problems`."""
    return problem_texts(states, _faults(rules, states), _SAID)


def _faults(rules: np.ndarray, states: np.ndarray) -> np.ndarray:
    faults = np.zeros(len(states), np.int64)
    # A copy where it must be: kernels are compiled for arrays that lie as NumPy makes them.
    found = np.require(states, STATE, ["C", "A", "W"])
    _find_faults(rules, found, faults)
    _find_idle(rules, found, faults)
    return faults


def _find_idle(rules: np.ndarray, states: np.ndarray, faults: np.ndarray) -> None:
    """Mark those of the sound games in which there is nothing to decide.

    In TURN a player is always asked, in every other phase only if they have two or more legal actions.
    """
    rows = np.flatnonzero((faults == SOUND) & (states["phase"] != FINISHED))
    marks = np.zeros((rows.size, int(rules["num_actions"][0])), np.uint8)
    legal(rules, states[rows], marks)
    faults[rows] = np.where(marks.sum(1) < 1 + (states["phase"][rows] != TURN), LEGAL_WRONG, SOUND)
