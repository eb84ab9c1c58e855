"""The rules of I Say, Holmes! as kernels on records: what is legal, and what an action does.

A game is one STATE record, a batch is an array of them, a single game is a batch of one. Seats in a
state are absolute; in an action they are relative: ``+k`` is the k-th seat to the actor's left. How a
case begins and ends stands in `cases`, the course of a turn in `turns`, how cards move in `moves`, and
what may be chosen in `choices`. Source: docs/holmes.md. Axis letters: ``B`` games, ``P`` seats, ``A``
actions, ``T`` titles.
"""

from __future__ import annotations

from ..bits import lowest, members, popcount
from ..kernels import inner, kernel
from .cards import NUM_AIMED, NUM_PLAIN, NUM_SAY_TYPES
from .cases import close_by_escape
from .choices import (
    choosable,
    counters,
    may_draw,
    may_escape,
    not_tried,
    playable,
    receiver,
    sources,
    targets,
    token_sources,
)
from .moves import left_of
from .results import pay
from .sheet import read_notes
from .state import (
    ARREST,
    DISCARD,
    DRAWN,
    ESCAPE,
    FINISHED,
    HAND_ON,
    IMPROMPTU,
    MAX_NOTES,
    NOTES_AT_ONCE,
    RESPOND,
    SECOND,
    SETTLE,
    SOURCE,
    TOKEN,
    TURN,
    VERDICT,
)
from .turns import (
    accuse,
    choose,
    choose_source,
    choose_token,
    counter,
    decline,
    draw_on_turn,
    go_on,
    keep,
    play,
    uncountered,
)

# --- what is legal ---


@inner
def _is_choice(phase):
    return HAND_ON <= phase <= DISCARD


@inner
def _may_pass(rules, s):
    phase = s["phase"]
    if phase == DRAWN:
        return (rules["says"] >> int(s["drawn"])) & 1 == 1
    return phase in (SECOND, RESPOND, VERDICT, ESCAPE)


@inner
def _may_escape(rules, s):
    return s["phase"] == ESCAPE or (s["phase"] == TURN and may_escape(rules, s, s["actor"]))


@inner
def _distance(rules, s, seat):
    """Return how many places a seat lies to the actor's left."""
    distance = int(seat) - int(s["actor"])
    return distance + int(rules["num_players"]) if distance < 0 else distance


@inner
def _mark_plays(rules, s, row):
    titles = playable(rules, s)
    for title in members(titles & rules["plain"]):
        row[rules["plain_index"][title]] = 1
    for title in members(titles & rules["aimed"]):
        at = int(rules["aimed_at"]) + int(rules["aimed_index"][title])
        for seat in members(targets(rules, s, title)):
            row[at + (_distance(rules, s, seat) - 1) * NUM_AIMED] = 1


@inner
def _mark_tokens(rules, s, row):
    for kind in range(NUM_SAY_TYPES):
        for k in members(token_sources(rules, s, kind)):
            row[int(rules["token_at"]) + k * NUM_SAY_TYPES + kind] = 1


@inner
def _mark_seats(rules, s, row):
    """Mark the arrests and sources of Telegrams that may be named."""
    phase = s["phase"]
    if phase == IMPROMPTU:
        for seat in members(not_tried(rules, s, s["actor"])):
            row[int(rules["arrest_at"]) + _distance(rules, s, seat) - 1] = 1
    elif phase == VERDICT:
        row[int(rules["arrest_at"]) + _distance(rules, s, s["target"]) - 1] = 1
    elif phase == SOURCE:
        for seat in members(sources(rules, s)):
            row[int(rules["from_at"]) + _distance(rules, s, seat)] = 1


@inner
def mark_legal(rules, s, row):
    """Mark what the actor of one game may do, see `legal` (row: u1 [A])."""
    row[:] = 0
    phase = s["phase"]
    if phase <= DRAWN:
        _mark_plays(rules, s, row)
    elif _is_choice(phase):
        for title in members(choosable(rules, s)):
            row[int(rules["choose_at"]) + title] = 1
    elif phase == RESPOND:
        for title in members(counters(rules, s)):
            row[rules["plain_index"][title]] = 1
    elif phase == TOKEN:
        _mark_tokens(rules, s, row)
    else:
        _mark_seats(rules, s, row)
    row[rules["draw_at"]] = may_draw(rules, s)
    row[rules["escape_at"]] = _may_escape(rules, s)
    row[rules["pass_at"]] = _may_pass(rules, s)


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


@inner
def _is_legal(rules, s, action):
    """Return whether an action is legal, block by block."""
    phase = s["phase"]
    if action < 0 or action >= rules["num_actions"] or phase == FINISHED:
        return False
    if action < NUM_PLAIN:
        titles = counters(rules, s) if phase == RESPOND else playable(rules, s)
        return (titles >> int(rules["plain_title"][action])) & 1 == 1
    if action < rules["choose_at"]:
        at = action - int(rules["aimed_at"])
        title = int(rules["aimed_title"][at % NUM_AIMED])
        seat = left_of(rules, s["actor"], at // NUM_AIMED + 1)
        return (playable(rules, s) >> title) & 1 == 1 and (targets(rules, s, title) >> seat) & 1 == 1
    if action < rules["arrest_at"]:
        return _is_choice(phase) and (choosable(rules, s) >> (action - int(rules["choose_at"]))) & 1 == 1
    if action < rules["from_at"]:
        seat = left_of(rules, s["actor"], action - int(rules["arrest_at"]) + 1)
        if phase == VERDICT:
            return seat == s["target"]
        return phase == IMPROMPTU and (not_tried(rules, s, s["actor"]) >> seat) & 1 == 1
    if action < rules["token_at"]:
        seat = left_of(rules, s["actor"], action - int(rules["from_at"]))
        return phase == SOURCE and (sources(rules, s) >> seat) & 1 == 1
    if action < rules["draw_at"]:
        at = action - int(rules["token_at"])
        found = token_sources(rules, s, at % NUM_SAY_TYPES) if phase == TOKEN else 0
        return (found >> (at // NUM_SAY_TYPES)) & 1 == 1
    if action == rules["draw_at"]:
        return may_draw(rules, s)
    return _may_escape(rules, s) if action == rules["escape_at"] else _may_pass(rules, s)


# --- what an action does ---


@inner
def _pass(rules, s):
    phase = s["phase"]
    if phase == ESCAPE:
        decline(s)
    elif phase == DRAWN:
        keep(rules, s)
    elif phase == RESPOND:
        uncountered(s)
    else:
        if phase == SECOND:
            s["more"] = 0
        s["phase"] = SETTLE


@inner
def _name(rules, s, action):
    """Name somebody to be arrested, from whom a Telegram token is taken, or an I Say token."""
    actor = s["actor"]
    if action < rules["from_at"]:
        if s["phase"] == VERDICT:
            s["phase"] = ARREST
        else:
            accuse(rules, s, left_of(rules, actor, action - int(rules["arrest_at"]) + 1))
    elif action < rules["token_at"]:
        choose_source(rules, s, left_of(rules, actor, action - int(rules["from_at"])))
    else:
        at = action - int(rules["token_at"])
        k = at // NUM_SAY_TYPES
        source = left_of(rules, actor, k) if k > 0 else -1
        choose_token(rules, s, int(receiver(rules, s)), at % NUM_SAY_TYPES, source)


@inner
def _act(rules, s, action):
    if action < rules["choose_at"]:
        if action < NUM_PLAIN:
            title = rules["plain_title"][action]
            target = -1
        else:
            at = action - rules["aimed_at"]
            title = rules["aimed_title"][at % NUM_AIMED]
            target = left_of(rules, s["actor"], at // NUM_AIMED + 1)
        if s["phase"] == RESPOND:
            counter(rules, s, int(title))
        else:
            play(rules, s, int(title), target)
    elif action < rules["arrest_at"]:
        choose(rules, s, action - int(rules["choose_at"]))
    elif action < rules["draw_at"]:
        _name(rules, s, action)
    elif action == rules["draw_at"]:
        draw_on_turn(rules, s)
    elif action == rules["escape_at"]:
        close_by_escape(rules, s, int(s["actor"]))
    else:
        _pass(rules, s)


# --- decisions that are none ---


@inner
def _single_play(rules, s):
    """Return the only way in which the drawn card may be played, -1 if it may be kept or there are others."""
    title = int(s["drawn"])
    if _may_pass(rules, s):
        return -1
    seats = targets(rules, s, title) if (rules["aimed"] >> title) & 1 else 0
    is_plain = (rules["plain"] >> title) & 1
    if is_plain + popcount(seats) > 1:
        return -1
    if is_plain:
        return int(rules["plain_index"][title])
    k = _distance(rules, s, lowest(seats))
    return int(rules["aimed_at"]) + (k - 1) * NUM_AIMED + int(rules["aimed_index"][title])


@inner
def _single_token(rules, s):
    """Return the only I Say token that may be chosen, -1 if there are others."""
    action = -1
    for kind in range(NUM_SAY_TYPES):
        found = token_sources(rules, s, kind)
        if found != 0:
            if action >= 0 or popcount(found) > 1:
                return -1
            action = int(rules["token_at"]) + lowest(found) * NUM_SAY_TYPES + kind
    return action


@inner
def _single(rules, s):
    """Return the only legal action, -1 if there are others; in RESPOND, VERDICT and ESCAPE there always are."""
    phase = s["phase"]
    if phase == SECOND:
        return int(rules["pass_at"]) if playable(rules, s) == 0 else -1
    if _is_choice(phase):
        titles = choosable(rules, s)
        return int(rules["choose_at"]) + lowest(titles) if titles & (titles - 1) == 0 else -1
    if phase == DRAWN:
        return _single_play(rules, s)
    if phase == TOKEN:
        return _single_token(rules, s)
    if phase == IMPROMPTU:
        seats = not_tried(rules, s, s["actor"])
        return int(rules["arrest_at"]) + _distance(rules, s, lowest(seats)) - 1 if seats & (seats - 1) == 0 else -1
    if phase == SOURCE:
        seats = sources(rules, s)
        return int(rules["from_at"]) + _distance(rules, s, lowest(seats)) if seats & (seats - 1) == 0 else -1
    return -1


@inner
def _carry_out(rules, s, action):
    """Take an action and do all that follows, until somebody has to decide."""
    is_over = False
    while not is_over:
        if action >= 0:
            _act(rules, s, action)
            action = -1
        else:
            go_on(rules, s)
        # At the beginning of a turn a player is always asked.
        if s["phase"] > TURN:
            action = _single(rules, s)
        is_over = s["phase"] >= 0 and action < 0
        if is_over or s["num_notes"] > MAX_NOTES - NOTES_AT_ONCE:
            read_notes(rules, s)


@inner
def take(rules, s, action, rewards):
    """Take an action in one game and return whether it was legal, see `step` (rewards: f8 [P])."""
    rewards[:] = 0.0
    if not _is_legal(rules, s, action):
        return False
    before = s["case_number"]
    _carry_out(rules, s, action)
    if s["phase"] == FINISHED or s["case_number"] != before:
        pay(rules, s, rewards)
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
        rewards: f8 [B, P], written: what each seat gets by this step (see `results.pay`): at the end
            of the game, or where a case is closed; zeros otherwise and for an illegal action.
    """
    for b in range(states.size):
        taken[b] = take(rules[0], states[b], actions[b], rewards[b])
