"""The record of a game.

Seats in a state are absolute. Copies are counted: ``hands[seat, title]`` is the number of copies of a
title in a hand. Source: docs/holmes.md. Axis letters: ``B`` games, ``P`` = 8 seats (unused ones stay
empty), ``T`` = 38 titles, ``V`` = 5 villains.

Knowledge, all of it in the state and kept up to date by the rules:
looks say what a viewer was last shown of another seat; sheets bound what they can conclude; events
are what everybody saw. The rules never read any of it. Sheets are kept from notes, which are taken
while a step is carried out and read at its end; a game at which nobody looks can do without (`sheet.drop_sheets`).
"""

from __future__ import annotations

import numpy as np

from ..checks import check_number
from ..memory import check_fits
from .cards import (
    AFOOT,
    MAX_PLAYERS,
    NUM_BOOKS,
    NUM_CARDS,
    NUM_COLUMNS,
    NUM_SAY_TYPES,
    NUM_TELEGRAMS,
    NUM_TITLES,
    NUM_VILLAINS,
    SAY_TOKENS,
)

P = MAX_PLAYERS
T = NUM_TITLES
# The holders of a sheet are the seats, absolute, and behind them the draw pile.
PILE = P
NUM_HOLDERS = P + 1

# The phases: what is being decided, and by whom (docs/holmes.md, "Who decides what").
NUM_PHASES = 15
(
    TURN,
    SECOND,
    DRAWN,
    TOKEN,
    RESPOND,
    HAND_ON,
    FOG,
    GIVE,
    SHOW,
    DISCARD,
    SOURCE,
    VERDICT,
    IMPROMPTU,
    ESCAPE,
    FINISHED,
) = range(NUM_PHASES)
PHASES = (
    "turn",
    "second",
    "drawn",
    "token",
    "respond",
    "hand_on",
    "fog",
    "give",
    "show",
    "discard",
    "source",
    "verdict",
    "impromptu",
    "escape",
    "finished",
)

# What is to be done next, while a step is carried out and nobody has to decide yet; none of these remains. The kernels
# of a turn thus need not call each other, one inside the other: numba compiles a kernel once more inside each caller.
(
    SETTLE,  # what was played is over
    NAME_TARGETS,  # a card has been played: its targets may answer
    CARRY_OUT,  # nobody has answered
    ARREST,  # the player arrests the target, who has not answered
    DEAL_BACK,  # all cards have been set down (dense-fog)
    PASS_ON,  # all cards have been set down (alibi)
    NEW_CASE,
) = range(-1, -8, -1)

# Numbers of NumPy, here and below: for each plain number that is handed on numba compiles a kernel again.
NOBODY = np.int64(-1)

# Kinds of public events; -1 is the lack of one.
NO_EVENT = -1
NUM_EVENT_KINDS = 10
(
    PLAYED,  # player, target or -1, title; also afoot, at the beginning of a case
    DREW,  # player: instead of playing; other draws are part of their cards
    COUNTERED,  # whoever answered, whose card or arrest, the Interrupt
    IMPROMPTU_ARREST,  # player, accused
    INNOCENT,  # arrester, accused
    ARRESTED,  # arrester, the guilty
    ESCAPED,  # player
    DISCARDED,  # player, -1, title: the Villain of irene-adler
    TOOK_TOKEN,  # receiver, from whom or -1 for the pool: an I Say token
    TOOK_TELEGRAM,  # receiver, from whom or -1 for the stock
) = np.arange(NUM_EVENT_KINDS)
EVENT_KINDS = (
    "played",
    "drew",
    "countered",
    "impromptu",
    "innocent",
    "arrested",
    "escaped",
    "discarded",
    "token",
    "telegram",
)
# The fields of an event; -1 where one does not apply.
EVENT_FIELDS = 4
KIND, PLAYER, TARGET, TITLE = range(EVENT_FIELDS)
# The last 2 * num_players events are kept.
MAX_EVENTS = 2 * P

# Notes of what happens to cards, see `notes`, and how many at most are taken before they can be read: those of a whole
# hand, of the discards turned over and of the cards that are drawn in the place of that hand.
MAX_NOTES = 256
NOTES_AT_ONCE = 210

# What kernels pass on is i8 whatever its size, as in `cards.RULES`.
STATE = np.dtype(
    [
        # What every decision touches comes first, close together.
        ("rng", "u8"),  # the game's own random generator
        ("held", "i8", P),  # [P] mask of the titles in each hand: bit t is set where hands[seat, t] > 0
        # Where the game stands.
        ("turn", "i8"),  # whose turn it is
        ("next_turn", "i8"),  # whose turn is next, as things stand
        ("actor", "i8"),  # who decides now, -1 when the game is finished
        ("phase", "i8"),  # TURN, ..., FINISHED
        ("turn_number", "i8"),  # from 1, over all cases
        ("case_number", "i8"),  # from 1
        ("truncated", "i8"),  # 1 where the turn limit has ended the game
        ("current", "i8"),  # title of the Current card; afoot lies aside in a case where it is another
        ("city", "i8"),  # the Location marker: 1 city, 0 country
        ("in_play", "i8"),  # I Say card that lies apart while it is carried out, -1 none
        ("drawn", "i8"),  # title that was drawn and is not in the hand yet (phase DRAWN), -1 none
        ("more", "i8"),  # 1 where another card may be played in this turn, when what was played is over
        # What is being carried out.
        ("card", "i8"),  # title being carried out or answered, -1 none: an Impromptu Arrest, or nothing
        ("player", "i8"),  # who played that card, or makes the Impromptu Arrest that is answered; -1 nobody
        ("target", "i8"),  # its one target, or the accused; -1 nobody, or all
        ("arrester", "i8"),  # who has to make an Impromptu Arrest, from its beginning to its end; -1 nobody
        ("num_tried", "i8"),  # number of seats in tried
        ("num_counters", "i8"),  # Interrupts that have answered this Impromptu Arrest
        ("num_impromptus", "i8"),  # Impromptu Arrests begun in this turn
        ("keeps_sheets", "i8"),  # 0 where no sheets are kept, see `sheet.drop_sheets`
        ("num_notes", "i8"),  # number of notes that have not been read; there are none whenever somebody decides
        ("pile_size", "i8"),  # number of cards in the draw pile
        ("hand_sizes", "i8", P),  # [P] number of cards in each hand
        ("set_down", "i8", P),  # [P] title that a seat has chosen so far in HAND_ON or FOG, -1 none
        ("got", "i8", P),  # [P] title that each seat has just got for the one that it put down, -1 none
        ("notes", "i8", MAX_NOTES),  # notes of what happens to cards, see `notes`; then 0
        ("tried", "i1", P),  # [P] who has countered this Impromptu Arrest, in order, then -1
        ("declined", "i1", P),  # [P] 1: has declined to escape since a card last entered or left the hand
        # Knowledge: public events, kept across cases.
        ("events", "i1", (MAX_EVENTS, EVENT_FIELDS)),  # [2n, 4] newest first: KIND, PLAYER, TARGET, TITLE; -1 none
        # Cards.
        ("discards", "i1", T),  # [T] copies in the discard pile
        ("hands", "i1", (P, T)),  # [P, T] copies in each hand
        ("pile", "i1", NUM_CARDS),  # [125] the draw pile: the next card is pile[pile_size - 1]; the rest is -1
        # Tokens.
        ("books", "i1", NUM_BOOKS),  # [6] who has each Book, -1 nobody
        ("villains", "i1", NUM_VILLAINS),  # [V] who has each Villain token, -1 nobody
        ("telegrams", "i1", NUM_TELEGRAMS),  # [8] who has each Telegram token, -1 nobody: it is in the stock
        ("telegram_stock", "i1", NUM_TELEGRAMS),  # [8] the stock: the next token is telegram_stock[size - 1]; then -1
        ("say", "i1", (P, NUM_SAY_TYPES)),  # [P, 3] points of the I Say token of each type, 0 none
        ("say_pool", "i1", (NUM_SAY_TYPES, SAY_TOKENS)),  # [3, 5] points of those in the pool, next last; then 0
        ("say_sizes", "i1", NUM_SAY_TYPES),  # [3] number of I Say tokens in the pool
        ("telegram_size", "i1"),  # number of Telegram tokens in the stock
        # Knowledge: the sheet of each viewer, bounds of the copies with each holder: the seats, absolute, then
        # the draw pile (PILE). In phase DRAWN the drawn card still counts as one of the pile for everybody but
        # the player who drew it. A sheet has N = 64 columns, of which the first 37 are titles in use; in the others,
        # the viewer's own row and those of unused seats there is always 0.
        ("least", "i1", (P, NUM_HOLDERS, NUM_COLUMNS)),  # [viewer, holder, N]
        ("most", "i1", (P, NUM_HOLDERS, NUM_COLUMNS)),  # [viewer, holder, N]
        ("spare", "i1", (P, NUM_COLUMNS)),  # [viewer, N] copies that the viewer does not see less the sum of least
        ("excess", "i1", (P, NUM_COLUMNS)),  # [viewer, N] the sum of most less copies that the viewer does not see
        ("counted", "i1", (P, NUM_HOLDERS)),  # [viewer, holder] number of cards of each holder of the sheet
        # Knowledge: what each viewer was last shown of another seat (docs/holmes.md, "What a player knows").
        ("looks", "i1", (P, P, T)),  # [viewer, other, T] copies that were seen
        ("look_whole", "i1", (P, P)),  # [viewer, other] 1 where it was the whole hand
        # While cards move together; blank whenever somebody decides.
        ("moved", "i1", T),  # [T] copies that have just gone from one hand to another
        ("padding", "i1", 5),  # copies leave bytes of no field undefined: there are none
        ("look_turn", "i4", (P, P)),  # [viewer, other] turn number of the last look, 0 there is none
        # What was closed, for texts and counts.
        ("closed", "i4", P),  # [P] number of cases that each seat has closed
        ("arrests", "i4", P),  # [P] number of those that it closed by an arrest
        ("last_closer", "i4"),  # who closed the last case, -1 before the first end of one
        ("last_accused", "i4"),  # who was arrested then, -1 where the case was closed by an escape
        ("last_total", "i4"),  # the Grand Total then, -1 after an escape
        ("last_book", "i4"),  # the Book taken then, -1 none
        ("last_escaped", "i4"),  # mask of the Villains that escaped then: bit v is villain v; 0 after an arrest
    ],
    align=True,
)


def _blank() -> np.ndarray:
    blank = np.zeros(1, STATE)
    blank["phase"] = FINISHED
    blank["turn_number"] = 1
    blank["case_number"] = 1
    blank["current"] = AFOOT
    blank["city"] = 1
    blank["keeps_sheets"] = 1
    nothing = (
        *("actor", "in_play", "drawn", "card", "player", "target", "arrester", "tried", "set_down", "got", "pile"),
        *("books", "villains", "telegrams", "telegram_stock", "events"),
        *("last_closer", "last_accused", "last_total", "last_book"),
    )
    for field in nothing:
        blank[field] = -1
    blank.flags.writeable = False
    return blank


# What holds before any card is dealt, STATE [1]: nobody is to act.
BLANK = _blank()


def new_states(num_games: int) -> np.ndarray:
    """Return blank states, STATE [num_games], for `deal` to fill.

    Raises:
        ValueError: this is not a number of games, 0 or more that fit into memory.
    """
    number = check_fits("num_games", check_number("num_games", num_games, 0), STATE.itemsize)
    # As plain bytes: NumPy copies records field by field.
    return BLANK.view(f"V{STATE.itemsize}").repeat(number).view(STATE)
