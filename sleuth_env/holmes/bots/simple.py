"""The baselines: `random` takes any legal action, `cautious` arrests only who is proved guilty."""

from __future__ import annotations

import numpy as np

from ...bits import members, mixed
from ...kernels import inner, kernel
from ..cards import ALIBI, ARREST_EFFECT, ARREST_IF_GUILTY, MASTERMIND, NUM_TITLES
from ..state import DRAWN, FOG, GIVE, HAND_ON, IMPROMPTU, RESPOND, VERDICT
from .base import Bot, any_between, any_card_but, any_play_but, checking, play_on


@kernel
def _choose_any(rules, legal, seeds, actions):
    for b in range(legal.shape[0]):
        actions[b] = any_between(legal[b], 0, rules[0]["num_actions"], mixed(seeds[b]))


@inner
def titles_with(rules, effect):
    """Return the mask of the titles with an effect (rules: one RULES record)."""
    titles = np.int64(0)
    for title in range(NUM_TITLES):
        if rules["effect"][title] == effect:
            titles |= np.int64(1) << title
    return titles


@inner
def is_proved(rules, v, k):
    """Return whether the sheet proves that the opponent k to the left holds a Villain (v: one VIEW record)."""
    proved = False
    for title in members(rules["villains"]):
        proved = proved or v["least"][k - 1, title] > 0
    return proved


@inner
def _arrest_proved(rules, v, legal):
    """Return the play that arrests somebody who is proved guilty, -1 if there is none."""
    for effect in (ARREST_IF_GUILTY, ARREST_EFFECT):
        for title in members(titles_with(rules, effect)):
            for k in range(1, rules["num_players"]):
                if legal[play_on(rules, title, k)] and is_proved(rules, v, k):
                    return play_on(rules, title, k)
    return -1


@inner
def _play_cautiously(rules, v, legal, bits):
    action = _arrest_proved(rules, v, legal)
    if action < 0:
        action = any_play_but(rules, legal, titles_with(rules, ARREST_EFFECT), bits)
    if action < 0 and legal[rules["draw_at"]]:
        action = int(rules["draw_at"])
    if action < 0 and legal[rules["pass_at"]]:
        action = int(rules["pass_at"])
    return action


@inner
def _answer(rules, v, legal):
    """Answer an Arrest with an Interrupt if there is a Villain to be lost, other cards only with an alibi."""
    alibi = int(rules["plain_index"][ALIBI])
    mastermind = int(rules["plain_index"][MASTERMIND])
    card = v["card"]
    is_arrest = card < 0 or rules["effect"][card] == ARREST_EFFECT or rules["effect"][card] == ARREST_IF_GUILTY
    if is_arrest and v["held"] & rules["villains"] == 0:
        return int(rules["pass_at"])
    if legal[alibi]:
        return alibi
    return mastermind if is_arrest and legal[mastermind] else int(rules["pass_at"])


@inner
def _accuse_proved(rules, v, legal):
    """Return the Arrest of somebody who is proved guilty, -1 if there is none."""
    for k in range(1, rules["num_players"]):
        if legal[rules["arrest_at"] + k - 1] and is_proved(rules, v, k):
            return int(rules["arrest_at"]) + k - 1
    return -1


@inner
def take_care(rules, v, legal, bits):
    """Choose an action where nothing is to be played.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, random bits.
    """
    action = -1
    phase = v["phase"]
    if legal[rules["escape_at"]]:
        action = int(rules["escape_at"])
    elif phase == IMPROMPTU:
        action = _accuse_proved(rules, v, legal)
    elif phase == VERDICT:
        action = any_between(legal, rules["arrest_at"], rules["from_at"], bits)
    elif phase == RESPOND:
        action = _answer(rules, v, legal)
    elif phase in (HAND_ON, FOG, GIVE):
        action = any_card_but(rules, legal, rules["villains"], bits)
    return action


@inner
def choose_cautiously(rules, v, legal, bits):
    """Choose one action as `cautious` does.

    Args:
        rules: one RULES record.
        v: one VIEW record.
        legal: u1 [A].
        bits: u8, random bits.
    """
    action = take_care(rules, v, legal, bits)
    if action < 0 and v["phase"] <= DRAWN:
        action = _play_cautiously(rules, v, legal, bits)
    # What is illegal is done in no case: views from outside may say anything.
    if action < 0 or not legal[action]:
        action = any_between(legal, 0, rules["num_actions"], bits)
    return action


@kernel
def _choose_all(rules, views, legal, seeds, actions):
    """Choose in every game.

    Args:
        rules: RULES [1].
        views: VIEW [B].
        legal: u1 [B, A].
        seeds: u8 [B].
        actions: i8 [B], written.
    """
    for b in range(views.size):
        actions[b] = choose_cautiously(rules[0], views[b], legal[b], mixed(seeds[b]))


class RandomBot(Bot):
    """Take any legal action, all equally likely."""

    name = "random"

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.empty(views.size, np.int64)
        _choose_any(self.rules, legal, seeds, actions)
        return actions


class CautiousBot(Bot):
    """Play at random, but arrest only who is proved guilty, and keep Villains."""

    name = "cautious"

    @checking
    def act(self, views: np.ndarray, legal: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Choose an action in every game, see `Bot.act`."""
        actions = np.empty(views.size, np.int64)
        _choose_all(self.rules, views, legal, seeds, actions)
        return actions
