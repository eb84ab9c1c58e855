"""What a seat knows as a text and as data, and answers in words: for language models, and for programs.

Everything here is made of a view, which holds nothing that its seat may not know, and of the legal
actions. A game with the part `Worded` says it in its own words; of any other the fields of the view
are listed. `read_answer` is lenient where the notation is strict: it reads what models write around
an action, but it never guesses: see `statements`, which knows the ways to put something forward.
Axis letters: ``A`` actions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from .checks import nearest, one_line, shown
from .doors import shape_of
from .game import Game, Told, Worded, check_game, check_options, game_of, has_part, load_game, needed
from .statements import (
    BARE,
    LABELLED,
    MOST_FRAME_WORDS,
    NOT_SAID,
    Unit,
    Word,
    has_pairs,
    is_harmless,
    may_follow,
    plain_text,
    put_forward,
    sentences,
    unit_in,
    with_raw,
    with_units,
    without_thoughts,
    words_of,
)

# Letters of an answer: what is longer is none, and would take long to search.
LONGEST_ANSWER = 100_000
LONGEST_QUOTE = 80
NUM_EXAMPLES = 4
# Words of a text that is read as an action typed in short.
MOST_SHORT_WORDS = 6
# Marked parts within one another, such as JSON in a fenced block in a tag.
MOST_NESTED = 4


class AnswerError(ValueError):
    """An answer in words means no legal action; the message says what was understood and what would be right."""


# --- what a seat knows ---


def text_observation(view: Any, options: Any, legal: Any = None, game: Game | None = None) -> str:
    """Return all that a seat knows, and its legal actions, as a text.

    >>> from sleuth_env import sleuth_v0, text_observation
    >>> env = sleuth_v0.env(num_players=3)
    >>> env.reset(seed=7)
    >>> agent = env.agent_selection
    >>> mask = env.observe(agent)["action_mask"]
    >>> text = text_observation(env.unwrapped.view(agent)[0], env.unwrapped.options, mask)
    >>> print(text.splitlines()[-1])
    accuse GEM

    Args:
        view: one VIEW record, or an array of one.
        options: of the game.
        legal: the legal actions of the seat ([A], not 0 where legal); None: they are left out.
        game: the game module; default: the game of this package whose options these are.

    Raises:
        ValueError: no game has such options, or the view is not one of this game.
    """
    game = game_for(options, game)
    facts = known_facts(game, options, _record(view))
    names = None if legal is None else legal_names(game, options, legal)
    return text_of(game, options, _record(view), facts, names)


def text_of(game: Game, options: Any, view: Any, facts: dict[str, Any], legal: Sequence[str] | None) -> str:
    """Return a text of what is known already, see `text_observation`.

    Args:
        game: the game module.
        options: of the game.
        view: one VIEW record.
        facts: see `known_facts`.
        legal: the names of the legal actions; None: they are left out.
    """
    if has_part(game, Worded):
        lines = needed(game, Worded).wording.words(options, view, facts)
    else:
        lines = [f"{name}: {value}" for name, value in facts.items()]
    return "\n".join(lines if legal is None else [*lines, *legal_lines(game, legal)])


def rules_text(options: Any, game: Game | None = None) -> str:
    """Return the rules of a game in brief, with the forms of its actions: what a model is told once.

    Args:
        options: of the game.
        game: see `text_observation`.
    """
    game = game_for(options, game)
    if not has_part(game, Told):
        return f"The game is {game.NAME}; options: {options}."
    telling = needed(game, Told).telling
    forms = (f"{form}: {meaning}" for form, meaning in telling.FORMS.items())
    return "\n".join([*telling.rules(options, typed=True), "Actions:", *forms])


def game_for(options: Any, game: Game | None = None) -> Game:
    """Return the game whose options these are, after a check of both.

    Raises:
        ValueError: the options are those of no game, or of another one.
    """
    if game is None:
        name = game_of(options)
        if not name:
            raise ValueError(f"options must be those of a game, such as Options(num_players=4), got {shown(options)}")
        game = load_game(name)
    check_game(game)
    check_options(game, options)
    return game


def known_facts(game: Game, options: Any, view: np.void) -> dict[str, Any]:
    """Return all that a seat knows (one VIEW record) as plain data, ready for JSON."""
    if has_part(game, Worded):
        return needed(game, Worded).wording.facts(options, view)
    return {name: view[name].tolist() for name in view.dtype.names or ()}


def _record(view: Any) -> Any:
    """Return a view without the axis of an array of one; the game checks what it is."""
    return view[0] if isinstance(view, np.ndarray) and view.shape == (1,) else view


# --- legal actions ---


def legal_names(game: Game, options: Any, legal: Any) -> list[str]:
    """Return the names of the legal actions ([A], not 0 where legal), in their order.

    Raises:
        ValueError: this is not a mark for each action.
    """
    marks = np.asarray(legal if shape_of(legal) else ())
    if marks.shape != (game.num_actions(options),) or marks.dtype.kind not in "biuf":
        raise ValueError(f"legal must be one mark for each of {game.num_actions(options)} actions, got {shown(legal)}")
    return [game.action_name(action, options) for action in np.flatnonzero(marks).tolist()]


def legal_lines(game: Game, names: Sequence[str]) -> list[str]:
    """Return actions by their names, those that are alike in one line.

    Of words in braces any one may be chosen, and so may of what a capital word stands for.
    """
    if not names:
        return ["You have no legal action."]
    nouns = dict(needed(game, Worded).wording.NOUNS) if has_part(game, Worded) else {}
    patterns = grouped(names)
    slots = Counter(choices for pattern in patterns for choices in pattern if len(choices) > 1)
    others = next((choices for choices, times in slots.items() if times > 1 and choices[0][0] == "+"), ())
    if others:
        nouns["PLAYER"] = others, f"one of {' '.join(others)}"
    lines = [" ".join(_slot(choices, nouns) for choices in pattern) for pattern in patterns]
    used = [
        f"{noun}: {meaning}." for noun, (_, meaning) in nouns.items() if any(noun in line.split() for line in lines)
    ]
    return ["Legal actions, one of the words in each {...}:", *used, *lines]


def grouped(names: Sequence[str]) -> list[list[tuple[str, ...]]]:
    """Return names in patterns: a choice of words for each place, of which every combination is a name.

    >>> grouped(["ask +1 red", "ask +1 blue", "ask +2 red", "ask +2 blue", "pass"])
    [[('ask',), ('+1', '+2'), ('red', 'blue')], [('pass',)]]
    """
    patterns: list[tuple[tuple[str, ...], ...]] = [tuple((word,) for word in name.split()) for name in names]
    for place in range(max(map(len, patterns), default=0)):
        alike: dict[Any, tuple[str, ...]] = {}
        for pattern in patterns:
            # Patterns that are too short for this place stay as they are.
            here = pattern[place : place + 1]
            key = (pattern[:place], len(here), pattern[place + 1 :])
            alike[key] = alike.get(key, ()) + (here[0] if here else ())
        patterns = [(*before, *([words] if has else []), *after) for (before, has, after), words in alike.items()]
    return [list(pattern) for pattern in patterns]


def _slot(choices: tuple[str, ...], nouns: Mapping[str, tuple[Sequence[str], str]]) -> str:
    if len(choices) == 1:
        return choices[0]
    noun = next((noun for noun, (words, _) in nouns.items() if set(words) == set(choices)), None)
    return noun or f"{{{' '.join(choices)}}}"


# --- answers in words ---


def read_answer(text: Any, options: Any, legal: Any, view: Any = None, game: Game | None = None) -> int:
    """Return the number of the action that an answer in words means.

    The last sentence decides, but for reasons and courtesies after it. It must name one legal action
    and put it forward: the action is alone but for markup, or has nothing around it but a label
    (``Action:``, ``The best move is``), a phrase such as ``I choose`` or ``let me``, a reason before it
    that ends in ``, so``, or a reason after it (``because ...``, ``to find out ...``). In the same way
    it may be in JSON with a key such as ``action``, in tags such as ``<answer>``, in ``\\boxed{}`` or in a
    fenced block. Sentences before, and what is in ``<think>`` tags, may name anything. Case does not
    matter. Where it may be left out, a part of an action may be missing. What denies an action, doubts
    it, asks about it, speaks of others or of later, or can mean several actions, means none.

    >>> from sleuth_env import Options, read_answer, sleuth
    >>> options = Options(num_players=3)
    >>> legal = [name in ("exchange", "pass") for name in sleuth.notation.action_names(options)]
    >>> action = read_answer('I am not sure. {"action": "Exchange."}', options, legal)
    >>> sleuth.action_name(action, options)
    'exchange'

    Args:
        text: the answer.
        options: of the game.
        legal: the legal actions ([A], not 0 where legal).
        view: what the seat knows (one VIEW record), for better messages.
        game: the game module; default: the game of this package whose options these are.

    Raises:
        AnswerError: it means no legal action, or several, or does not put forward the one that it names.
        ValueError: no game has such options, or legal are not marks of its actions.
    """
    game = game_for(options, game)
    reader = _Reader(game, options, legal_names(game, options, legal), _record(view))
    if not isinstance(text, str):
        raise reader.error(f"an answer must be a text, got {shown(text)}")
    try:
        name = reader.read(text.strip()[-LONGEST_ANSWER:])
    except _UnclearError as unclear:
        raise reader.error(unclear.why if unclear.unknown is None else reader.reason(unclear.unknown)) from None
    return game.parse_action(name, options)


class _UnclearError(Exception):
    """A part of an answer means no legal action; what to say of it takes long to find, and is not always needed.

    Args:
        why: it does not.
        unknown: the part, where it is still to be found out why.
    """

    def __init__(self, why: str = "", unknown: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.unknown = unknown


class _Named(NamedTuple):
    """Where a sentence names a legal action, or has the marked part of such a number."""

    start: int
    end: int
    name: str
    unit: int | None


class _Reader:
    """Read answers to one question.

    Args:
        game: the game module.
        options: of the game.
        legal: the names of the legal actions.
        view: what the seat knows, or None.
    """

    def __init__(self, game: Game, options: Any, legal: Sequence[str], view: Any) -> None:
        self.game = game
        self.options = options
        self.legal = legal
        self.view = view
        self.telling = needed(game, Told).telling if has_part(game, Told) else None
        self._names = {tuple(plain_text(name).split()): name for name in legal}
        # The lengths of names by their first word, the longest first: of names in one another it was said.
        self._lengths: dict[str, list[int]] = {}
        for words in sorted(self._names, key=len, reverse=True):
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))

    def read(self, text: str, depth: int = 0) -> str:
        """Return the name of the action that an answer means, or a marked part of one."""
        spoken = without_thoughts(text)
        if spoken is None:
            raise _UnclearError("the answer does not go on after its reasoning")
        whole, units = with_units(spoken)
        said = sentences(whole)
        if not said or depth == MOST_NESTED:
            raise _UnclearError(unknown=spoken)
        last = len(said) - 1
        while last > 0 and is_harmless(said[last]) and not self._named(said[last]):
            last -= 1
        earlier = [self._said_before(said, number, units, depth) for number in range(last)]
        try:
            plainness, name = self._put(said[last], " ".join(said[:last]), units, depth)
        except _UnclearError:
            before = max(earlier, default=(NOT_SAID, ""), key=lambda found: found[0])[1]
            if before and not self._named(said[last]) and not self._known(plain_text(said[last])):
                line = _quoted(with_raw(said[last], units))
                raise _UnclearError(f"{line} after it does not say plainly that {before} is meant") from None
            raise
        others = [other for plainer, other in earlier if plainer > plainness and other != name]
        if others:
            raise _UnclearError(f"{_quoted(spoken)} names several actions: {others[-1]}, {name}")
        return name

    def _said_before(self, said: list[str], number: int, units: list[Unit], depth: int) -> tuple[int, str]:
        """Return how plainly an earlier sentence puts an action forward, and which; NOT_SAID where it does not."""
        if not self._named(said[number]):
            return NOT_SAID, ""
        try:
            return self._put(said[number], "", units, depth)
        except _UnclearError:
            return NOT_SAID, ""

    def _put(self, sentence: str, earlier: str, units: list[Unit], depth: int) -> tuple[int, str]:
        """Return how plainly a sentence puts an action forward, and which.

        Args:
            sentence: one of the answer.
            earlier: those before it.
            units: the marked parts of the answer.
            depth: how many marked parts the answer is in.

        Raises:
            _UnclearError: it puts none forward.
        """
        raw = with_raw(sentence, units)
        named = self._named(sentence)
        if not named:
            return BARE, self._in_short(sentence, earlier, raw)
        # Names that share words, as in "choose arrest +1", are readings of one place: one of them must fit.
        if any(one.end <= other.start for one in named for other in named):
            several = dict.fromkeys(one.name if one.unit is None else one_line(units[one.unit].raw) for one in named)
            raise _UnclearError(f"{_quoted(raw)} names several actions: {', '.join(list(several)[:NUM_EXAMPLES])}")
        fitting = []
        for one in named:
            plainness = put_forward(sentence[: one.start], earlier)
            if plainness and may_follow(sentence[one.end :]) and has_pairs(sentence):
                fitting.append((plainness, one))
        if len(fitting) == 1:
            plainness, one = fitting[0]
            if one.unit is None:
                return plainness, one.name
            return units[one.unit].plainness, self._in_unit(units[one.unit], depth)
        if named[0].unit is not None:
            raise _UnclearError(
                f"{_quoted(raw)} does not say plainly that {one_line(units[named[0].unit].raw)} is meant"
            )
        return LABELLED, self._in_short(sentence, earlier, raw)

    def _named(self, sentence: str) -> list[_Named]:
        """Return where a sentence names legal actions or has marked parts; of names within one another the longer."""
        words = words_of(sentence)
        found: list[_Named] = []
        for place, word in enumerate(words):
            unit = unit_in(word.plain)
            name, length = ("", 1) if unit is not None else self._name_at(words, place)
            end = words[place + length - 1].end
            if (name or unit is not None) and (not found or end > found[-1].end):
                found.append(_Named(word.start, end, name, unit))
        return found

    def _name_at(self, words: Sequence[Word], place: int) -> tuple[str, int]:
        """Return the longest name of a legal action that begins at a word, and its length; "" and 1 without one."""
        for length in self._lengths.get(words[place].plain, ()):
            said = tuple(word.plain for word in words[place : place + length])
            if said in self._names:
                return self._names[said], len(said)
        return "", 1

    def _in_unit(self, unit: Unit, depth: int) -> str:
        """Return the name of the action that a marked part of an answer means; all that it says must be one action."""
        names = [self.read(unit.said[0], depth + 1)]
        for said in unit.said[1:]:
            with suppress(_UnclearError):
                names.append(self.read(said, depth + 1))
        if len(set(names)) > 1:
            raise _UnclearError(f"{_quoted(unit.raw)} names several actions: {', '.join(dict.fromkeys(names))}")
        return names[0]

    def _in_short(self, sentence: str, earlier: str, raw: str) -> str:
        """Return the name of the action that a sentence puts forward as it is typed at the table."""
        words = words_of(sentence)
        for first in range(min(len(words), MOST_FRAME_WORDS)):
            if not put_forward(sentence[: words[first].start], earlier):
                continue
            for last in range(min(len(words), first + MOST_SHORT_WORDS) - 1, first - 1, -1):
                short = self._short(" ".join(word.plain for word in words[first : last + 1]))
                if short and may_follow(sentence[words[last].end :]) and has_pairs(sentence):
                    if len(short) == 1:
                        return short[0]
                    raise _UnclearError(f"{_quoted(raw)} can mean several actions: {', '.join(short[:NUM_EXAMPLES])}")
        raise _UnclearError(unknown=raw)

    def _short(self, plain: str) -> list[str]:
        """Return what a short text can mean as it is typed at the table."""
        if self.telling is None or not plain or len(plain.split()) > MOST_SHORT_WORDS:
            return []
        return self.telling.meant(plain, self.legal)

    def reason(self, said: str) -> str:
        """Return why a part of an answer means no legal action."""
        plain = plain_text(said)
        if not plain:
            return "the answer is empty"
        hint = ""
        if self.telling is not None and self.view is not None:
            hint = self.telling.hint(self.options, self.view, plain)
        known = self._known(plain)
        if known in self.legal:
            what = f"{_quoted(said)} does not say plainly that {known} is meant"
        elif known:
            what = f"{known} is an action, but it is not legal now"
        else:
            what = f"{_quoted(said)} is not an action"
        return f"{what}. {hint}".rstrip(". ")

    def _known(self, plain: str) -> str:
        """Return the longest name of an action, legal or not, that a text has in it."""
        names = (self.game.action_name(action, self.options) for action in range(self.game.num_actions(self.options)))
        return max((name for name in names if f" {plain_text(name)} " in f" {plain} "), key=len, default="")

    def error(self, why: str) -> AnswerError:
        """Return the error that says what is wrong, with what would be right."""
        last = plain_text(why.partition(" is ")[0])
        near = nearest(last, self.legal, NUM_EXAMPLES) or self._some()
        return AnswerError(
            f"{why}. Answer with one legal action alone, exactly as it is written, for instance: {'; '.join(near)}"
            if self.legal
            else f"{why}. You have no legal action"
        )

    def _some(self) -> list[str]:
        """Return legal actions from all parts of the list: neighbours are much alike."""
        places = np.linspace(0, len(self.legal) - 1, min(NUM_EXAMPLES, len(self.legal))).astype(int)
        return [self.legal[place] for place in places]


def _quoted(text: str) -> str:
    line = one_line(text)
    return repr(line if len(line) <= LONGEST_QUOTE else f"...{line[-LONGEST_QUOTE:]}")


# --- how long a text is ---


def most_tokens(text: str) -> int:
    """Return a number of tokens that a text hardly exceeds in the tokenizers of today's language models.

    Each digit and sign counts one, and so do the end of a line and a space before a digit; each word
    counts one for every four letters begun, with the space before it. See docs/language_models.md, "How long it is".

    >>> most_tokens("ask +2 blue-opal with free")
    8
    """
    pieces = re.findall(r"[^\W\d_]+|\S|\n| (?=\d)", text)
    return sum(-(-len(piece) // 4) for piece in pieces)
