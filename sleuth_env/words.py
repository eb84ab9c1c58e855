"""What a seat knows as a text and as data, and answers in words: for language models, and for programs.

Everything here is made of a view, which holds nothing that its seat may not know, and of the legal
actions. A game with the part `Worded` says it in its own words; of any other the fields of the view
are listed. `read_answer` is lenient where the notation is strict: it reads what models write around
an action, but it never guesses.
Axis letters: ``A`` actions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .checks import nearest, one_line, shown
from .game import Game, Told, Worded, check_game, check_options, game_of, has_part, load_game, needed

# Letters of an answer: what is longer is none, and would take long to search.
LONGEST_ANSWER = 100_000
LONGEST_QUOTE = 80
NUM_EXAMPLES = 4
# Words of a text that is read as an action typed in short.
MOST_SHORT_WORDS = 6
# Objects in an answer that are read as JSON, from the last one back.
MOST_OBJECTS = 20
KEYS = ("action", "move", "answer", "choice")
# Words in the clause of an action that say that it is not meant.
DENIALS = frozenset(
    (
        *("not", "never", "no", "nor", "without", "avoid", "refuse", "wrong", "but", "except", "cannot", "cant"),
        *("dont", "doesnt", "didnt", "isnt", "wont", "shouldnt", "wouldnt", "couldnt"),
    )
)

# Where a clause of an answer ends and another one begins.
_CLAUSES = re.compile(r"[.!?;,\n]|\b(?:so|then|therefore|thus|hence|instead)\b|\bbut(?=\s+i\b)", re.I)
_TAGS = re.compile(rf"<({'|'.join(KEYS)})>(.*?)</\1>", re.I | re.S)
_BOXES = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
_FENCES = re.compile(r"```[\w-]*\n?(.*?)```", re.S)
_MARKERS = re.compile(
    r"(?:\b(?:final answer|answer|action|move|choice)(?: is)?\s*[:=]|\bi(?:'ll| will)? (?:choose|play|take|pick)\b:?)"
    r"\s*(.*)$",
    re.I | re.M,
)


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
    return "\n".join([*telling.rules(options), "Actions:", *forms])


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
    marks = np.asarray(legal)
    if marks.shape != (game.num_actions(options),) or marks.dtype.kind not in "biuf":
        raise ValueError(f"legal must be one mark for each of {game.num_actions(options)} actions, got {shown(legal)}")
    return [game.action_name(action, options) for action in np.flatnonzero(marks).tolist()]


def legal_lines(game: Game, names: Sequence[str]) -> list[str]:
    """Return actions by their names, those that are alike in one line.

    Of words in braces any one may be chosen, and so may of what a capital word stands for.
    """
    if not names:
        return ["You have no legal action."]
    nouns = needed(game, Worded).wording.NOUNS if has_part(game, Worded) else {}
    lines = [" ".join(_slot(choices, nouns) for choices in pattern) for pattern in grouped(names)]
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

    Case, punctuation and what models write around an action do not matter: JSON with a key such as
    ``action``, tags such as ``<answer>``, a fenced block, ``Action: ...``, ``I choose ...``, an action
    at the end of the last line. Where it may be left out, a part of an action may be missing. What
    can mean several actions means none.

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
        AnswerError: it means no legal action, or several.
        ValueError: no game has such options, or legal are not marks of its actions.
    """
    game = game_for(options, game)
    reader = _Reader(game, options, legal_names(game, options, legal), _record(view))
    if not isinstance(text, str):
        raise reader.error(f"an answer must be a text, got {shown(text)}")
    name = reader.read(text[-LONGEST_ANSWER:])
    return game.parse_action(name, options)


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
        self._plain = {_plain(name): name for name in legal}

    def read(self, text: str) -> str:
        """Return the name of the action that an answer means."""
        for found in (_in_json(text), _last(_TAGS, text), _last(_BOXES, text)):
            if found is not None:
                return self._meant(found, certain=True)
        weaker = [_last(_FENCES, text), _last(_MARKERS, text), _last_line(text)]
        tries = [found for found in weaker if found is not None]
        for found in tries[:-1]:
            try:
                return self._meant(found, certain=True)
            except AnswerError:
                # What looked like an answer was something else: the next one is looked at.
                continue
        return self._meant(tries[-1] if tries else "", certain=False)

    def _meant(self, said: str, certain: bool) -> str:
        """Return the name of the action that a part of an answer means.

        Args:
            said: the part.
            certain: whether it is marked as the answer; what is only the last line must end in an action.
        """
        plain = _plain(said)
        if plain in self._plain:
            return self._plain[plain]
        found = [name for words, name in self._plain.items() if f" {words} " in f" {plain} "]
        # Of names within one another the longer one was said.
        found = [name for name in found if not any(name != other and f" {name} " in f" {other} " for other in found)]
        if len(found) > 1:
            raise self.error(f"{_quoted(said)} names several actions: {', '.join(found[:NUM_EXAMPLES])}")
        if found and self._is_said(said, plain, _plain(found[0])):
            return found[0]
        short = self._short(plain)
        if len(short) == 1:
            return short[0]
        if short:
            raise self.error(f"{_quoted(said)} can mean several actions: {', '.join(short[:NUM_EXAMPLES])}")
        raise self.error(self._why(said, plain))

    def _is_said(self, said: str, plain: str, words: str) -> bool:
        """Return whether the only action in a text is meant: it ends the text, and nothing before it denies it."""
        _, _, after = f" {plain} ".partition(f" {words} ")
        denied = DENIALS.intersection(_clause_before(said, words).split())
        return not after.strip() and not denied and not said.rstrip("*_`\"' \n").endswith("?")

    def _short(self, plain: str) -> list[str]:
        """Return what a short text can mean as it is typed at the table."""
        if self.telling is None or not plain or len(plain.split()) > MOST_SHORT_WORDS:
            return []
        return self.telling.meant(plain, self.legal)

    def _why(self, said: str, plain: str) -> str:
        """Return why a part of an answer means no legal action."""
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
        return max((name for name in names if f" {_plain(name)} " in f" {plain} "), key=len, default="")

    def error(self, why: str) -> AnswerError:
        """Return the error that says what is wrong, with what would be right."""
        last = _plain(why.partition(" is ")[0])
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


def _plain(text: str) -> str:
    """Return a text in small letters, without punctuation but for the signs of the notation.

    >>> _plain('"Ask +2: Blue_Opal, with FREE."')
    'ask +2 blue-opal with free'
    """
    text = re.sub("[_\u2010-\u2015\u2212]", "-", text.lower()).replace("'", "").replace("\u2019", "")
    words = (word.strip("-") for word in re.sub(r"[^\w+-]", " ", text).split())
    return " ".join(word for word in words if word)


def _clause_before(text: str, words: str) -> str:
    """Return what stands before an action, which ends a text, in the same clause.

    >>> _clause_before("I cannot prove it, so I will pass.", "pass")
    'i will'
    """
    clause = ""
    for piece in reversed(_CLAUSES.split(text)):
        clause = f"{_plain(piece)} {clause}".strip()
        if f" {words} " in f" {clause} ":
            break
    return f" {clause} ".rpartition(f" {words} ")[0].strip()


def _quoted(text: str) -> str:
    line = one_line(text)
    return repr(line if len(line) <= LONGEST_QUOTE else f"...{line[-LONGEST_QUOTE:]}")


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the last group of the last place where a pattern fits; None where there is no such place."""
    found = None
    for match in pattern.finditer(text):
        found = match[match.re.groups]
    return found


def _last_line(text: str) -> str | None:
    return next((line for line in reversed(text.splitlines()) if line.strip("`*_ \t")), None)


def _in_json(text: str) -> str | None:
    """Return what the last JSON object of a text that names an action names; None where there is none."""
    return next(_actions_in(text), None)


def _actions_in(text: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    starts = [match.start() for match in re.finditer(r"\{", text)][-MOST_OBJECTS:]
    for start in reversed(starts):
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield from (found[key] for key in KEYS if isinstance(found, dict) and isinstance(found.get(key), str))


# --- how long a text is ---


def most_tokens(text: str) -> int:
    """Return a number of tokens that a text has at most in the tokenizers of today's language models.

    Each digit and sign counts one, and so do the end of a line and a space before a digit; each word
    counts one for every four letters begun, with the space before it. See docs/language_models.md, "How long it is".

    >>> most_tokens("ask +2 blue-opal with free")
    8
    """
    pieces = re.findall(r"[^\W\d_]+|\S|\n| (?=\d)", text)
    return sum(-(-len(piece) // 4) for piece in pieces)
