"""The sentences of an answer in words, and whether one of them puts forward what it names.

Ways to deny something have no end, so they are not listed. What is listed are the ways to put something
forward: around an action may be markup, a label, a phrase such as "I choose" and a reason, and nothing
else. Everything here is about English alone; the actions of a game are known in `words`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# How plainly an action is said; of two that differ, a plainer one is not taken back by a fainter one.
NOT_SAID, BARE, LABELLED, FENCED, TAGGED, IN_JSON = range(6)
KEYS = ("action", "move", "answer", "choice")
# Objects in an answer that are read as JSON, from the last one back.
MOST_OBJECTS = 20
MOST_FRAME_WORDS = 30

# A part of an answer that is marked is one word of the sentence around it: its number between these two.
_OPEN = "\ue000"
_CLOSE = "\ue001"
# Stands before what cannot be read alone: one of several in a list.
_ONE_OF_SEVERAL = "\ue002"
_PRIVATE = re.compile(f"[{_OPEN}-{_ONE_OF_SEVERAL}]")
_UNIT = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_WORD = re.compile(
    rf"{_OPEN}\d+{_CLOSE}|[\w+](?:[\w+'\u2019\u2010-\u2013\u2212-]*[\w+])?",
)
_THOUGHTS = "|".join(("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis"))
_THOUGHT_BEGINS = re.compile(rf"<({_THOUGHTS})>", re.I)
_THOUGHT_ENDS = re.compile(rf"</({_THOUGHTS})>", re.I)
_QUOTED = re.compile(r'\s*"([^"]*)"\s*')
_MARKS = re.compile(rf"<({'|'.join(KEYS)})>|\\boxed\{{|```|\{{", re.I)
_BOX = re.compile(r"\\boxed\{\s*(?:\\text\{)?([^{}]*)\}\}?")
_LOOSE_TAGS = re.compile(rf"</?(?:{'|'.join(KEYS)})>|\\[\[\]()]", re.I)

# Marks that change no meaning; others, such as a stroke through a word, a cross or "!=", may.
_MARKUP_BEFORE = re.compile(r"(?:[\s*_`\"'\u2018-\u201d\u00ab\u00bb.,:;=${}()\[\]#\u2013\u2014-]|->|=>|\u2192)*")
_MARKUP_AFTER = re.compile(r"[\s*_`\"'\u2018-\u201d\u00ab\u00bb.,:;!${}()\[\]\u2013\u2014\u2026-]*")
_EMPTY_BOX = re.compile(r"\[\s*\]")
_ENDS = re.compile(r"(?<![.!?\u2026])[.!?\u2026]+[\"'\u201d\u2019)\]*_`]*(?:\s+|$)")
_ABBREVIATIONS = re.compile(r"(?:(?<![\w+])[^\W\d_]|\b(?:vs|etc|cf|approx))\.[)\]*_`]*\s*$", re.I)
_LIST_MARK = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+\u2022]|\d{1,2}[.)])\s+)?")
_RULER = re.compile(r"\s*[-*_]{3,}\s*$")
_HEADING = re.compile(r"\s*#+\s|\s*(\*\*|__)[^*_]+\1\s*$")
_LABEL_LINE = re.compile(
    rf"[\s*_#`]*(?:(?:my|the)\s+)?(?:(?:final|best|chosen)\s+)*(?:{'|'.join(KEYS)}|decision)(?:\s+is)?[\s*_`]*[:=]",
    re.I,
)


class Unit(NamedTuple):
    """A marked part of an answer.

    Args:
        plainness: FENCED, TAGGED or IN_JSON.
        said: the texts in it that say an action; all must say the same.
        raw: all of it.
    """

    plainness: int
    said: tuple[str, ...]
    raw: str


class Word(NamedTuple):
    """A word of a sentence, without case, and where it is."""

    plain: str
    start: int
    end: int


def plain_text(text: str) -> str:
    """Return a text in small letters, without punctuation but for the signs of the notation.

    >>> plain_text('"Ask +2: Blue_Opal, with FREE."')
    'ask +2 blue-opal with free'
    """
    text = re.sub("[_\u2010-\u2015\u2212]", "-", text.lower()).replace("'", "").replace("\u2019", "")
    words = (word.strip("-") for word in re.sub(r"[^\w+-]", " ", text).split())
    return " ".join(word for word in words if word)


def words_of(sentence: str) -> list[Word]:
    """Return the words of a sentence.

    >>> [word.plain for word in words_of("I'll **pass**.")]
    ['ill', 'pass']
    """
    found = (Word(_plain_word(match[0]), match.start(), match.end()) for match in _WORD.finditer(sentence))
    return [word for word in found if word.plain]


def _plain_word(word: str) -> str:
    return word if word[0] == _OPEN else plain_text(word)


# --- the parts of an answer ---


def without_thoughts(text: str) -> str | None:
    """Return an answer without reasoning in tags before it and quotes around it; None where the reasoning does not end.

    >>> without_thoughts("<think>I might pass.</think>exchange")
    'exchange'
    """
    ends = list(_THOUGHT_ENDS.finditer(text))
    rest = text[ends[-1].end() :] if ends else text
    if _THOUGHT_BEGINS.search(rest):
        return None
    quoted = _QUOTED.fullmatch(rest)
    return rest if quoted is None else quoted[1]


def with_units(text: str) -> tuple[str, list[Unit]]:
    """Return an answer in which each marked part is one word, and these parts."""
    text = _PRIVATE.sub("\ufffd", text)
    braces = [match.start() for match in re.finditer(r"\{", text)][-MOST_OBJECTS:]
    parsed = set(braces)
    units: list[Unit] = []
    pieces: list[str] = []
    place = 0
    searched = 0
    # Tags that are not closed again need not be looked for once more.
    unclosed: set[str] = set()
    lower = text.lower()
    # A few letters, such as capital I with a dot, are longer when small.
    lower = lower if len(lower) == len(text) else text
    while (mark := _MARKS.search(text, searched)) is not None:
        found = _unit_at(text, lower, mark, parsed, unclosed)
        if found is None:
            searched = mark.end()
            continue
        unit, searched = found
        pieces += [text[place : mark.start()], f"{_OPEN}{len(units)}{_CLOSE}"]
        units.append(unit)
        place = searched
    return _LOOSE_TAGS.sub(" ", "".join([*pieces, text[place:]])), units


def _unit_at(
    text: str, lower: str, mark: re.Match[str], parsed: set[int], unclosed: set[str]
) -> tuple[Unit, int] | None:
    """Return the unit that begins at a mark, and where it ends; None where there is none."""
    start = mark.start()
    if mark[0] == "{":
        return _json_at(text, start) if start in parsed else None
    if mark[0] == "```":
        end = text.find("```", mark.end())
        stop = len(text) if end < 0 else end
        inside = re.sub(r"^(?:[\w-]*\n|(?:json|text)\s)", "", text[mark.end() : stop])
        stop = min(stop + 3, len(text))
        return Unit(FENCED, (inside,), text[start:stop]), stop
    if mark[1] is None:
        box = _BOX.match(text, start)
        return (Unit(TAGGED, (box[1],), box[0]), box.end()) if box is not None else None
    close = f"</{mark[1].lower()}>"
    end = -1 if close in unclosed else lower.find(close, mark.end())
    if end < 0:
        unclosed.add(close)
        return None
    stop = end + len(close)
    return Unit(TAGGED, (text[mark.end() : end],), text[start:stop]), stop


def unit_in(word: str) -> int | None:
    """Return the number of the marked part that a word stands for; None where it is a word."""
    match = _UNIT.fullmatch(word)
    return None if match is None else int(match[1])


def with_raw(sentence: str, units: list[Unit]) -> str:
    """Return a sentence as it was written."""
    return _UNIT.sub(lambda match: units[int(match[1])].raw, sentence).replace(_ONE_OF_SEVERAL, "")


class _Pairs(list[tuple[str, Any]]):
    """A JSON object: a key may be there twice."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)


def _json_at(text: str, start: int) -> tuple[Unit, int] | None:
    try:
        found, end = _DECODER.raw_decode(text, start)
        said = tuple(_said_in(found))
    except (ValueError, RecursionError):
        return None
    return (Unit(IN_JSON, said, text[start:end]), end) if said else None


def _said_in(found: Any) -> Iterator[str]:
    """Iterate over the actions of a JSON value; those of the outermost object that has any."""
    if isinstance(found, _Pairs):
        said = [value for key in KEYS for name, value in found if name == key and isinstance(value, str)]
        yield from said
        if not said:
            for _, value in found:
                yield from _said_in(value)


def sentences(text: str) -> list[str]:
    """Return the sentences of an answer.

    A line that does not end a sentence goes on in the next one, unless that begins with a label or, after an
    empty line, is a marked part: "I will never", and "accuse ..." in the next line, are one sentence.

    >>> sentences("Nothing is proved. I will never\\npass\\nAction: exchange")
    ['Nothing is proved.', 'I will never\\npass', 'Action: exchange']
    """
    chunks: list[str] = []
    before = ""
    listed = False
    gap = False
    for line in text.splitlines():
        mark = _LIST_MARK.match(line)
        content = line[mark.end() :] if mark else line
        if not content.strip() or _RULER.match(line):
            gap = True
            continue
        item = bool(mark and mark[0].strip(" \t>"))
        if item and listed:
            content = f"{_ONE_OF_SEVERAL}{content}"
        alone = _LABEL_LINE.match(content) or (gap and (_UNIT.match(content) or (listed and not item)))
        unfinished = before.rstrip("*_`\"' \t")[-1:] in tuple(":,;-=\u2013\u2014(") or _HEADING.match(before)
        if not chunks or (not unfinished and (alone or before.rstrip().endswith(_CLOSE))):
            chunks.append(content)
        else:
            chunks[-1] += f"\n{content}"
        listed = item or (listed and not gap)
        before = line
        gap = False
    return [sentence for chunk in chunks for sentence in _split(chunk)]


def _split(chunk: str) -> Iterator[str]:
    place = 0
    for end in _ENDS.finditer(chunk):
        # After three dots a sentence may go on.
        dots = end[0].rstrip("\"'\u201d\u2019)]*_` \t\n")
        last_word = chunk[max(place, end.start() - 8) : end.end()]
        if "\u2026" not in dots and not dots.startswith("..") and not _ABBREVIATIONS.search(last_word):
            yield chunk[place : end.end()].strip()
            place = end.end()
    if chunk[place:].strip():
        yield chunk[place:].strip()


# --- putting forward ---

_NOUN = r"(?:action|move|answer|choice|decision|play|response|reply|pick|output|turn)"
_KIND = r"(?:final|chosen|best|selected|recommended|legal|only|single|optimal|safest) "
_OPENER = (
    r"(?:so|therefore|thus|hence|consequently|accordingly|now|then|finally|ok|okay|well|hmm|right|alright|all right|yes"
    r"|sure|good|great|and|instead|overall|please|kindly|in conclusion|in the end|on balance|as a result|for now"
    r"|this time|(?:on |for )?(?:my|this) turn|given (?:all )?(?:this|that)|all things considered"
    r"|for (?:this|that|these) reasons?|because of (?:this|that)|after (?:some |careful )?(?:thought|consideration)"
    r"|on reflection|on second thoughts?|let me (?:think|see)(?: about (?:it|this))?) "
)
_LABEL = (
    rf"(?:here is |heres |this is )?(?:(?:my|the) )?(?:{_KIND})*{_NOUN} (?:(?:for )?this turn )?"
    r"(?:(?:is|will be) )?(?:(?:now|therefore|thus) )?(?:to )?"
)
_SURELY = r"(?:(?:now|hereby|therefore|thus|so|simply|just|rather|finally|instead|hence|definitely|certainly) )*"
_CHOOSE = (
    r"(?:choose|play|take|pick|select|go with|go for|opt for|opt|make|answer|decide|decide on|settle on|do) "
    rf"(?:(?:to|with) )?(?:(?:the|this) (?:{_KIND})*{_NOUN} |the )?"
)
_SUBJECT = (
    rf"(?:but )?i {_SURELY}(?:(?:will|shall|would|would like to|would rather|want to|wish to|must|have to"
    rf"|prefer to|decided? (?:to|on)|have (?:decided|chosen)(?: to| on)?|am going to) )?{_SURELY}(?:{_CHOOSE})?"
    rf"|(?:but )?(?:ill|id|id like to|id rather|im going to|ive (?:decided|chosen)(?: to| on)?) {_SURELY}(?:{_CHOOSE})?"
    rf"|(?:i am|im) {_SURELY}(?:choosing|playing|taking|picking|selecting|going with|going for) (?:to )?"
    rf"|(?:let me|let us|lets) {_SURELY}(?:{_CHOOSE})?"
    r"|(?:it is|its) (?:time|best|safest) to "
)
_PUT = rf"(?:i (?:think|believe|conclude)(?: that)? )?(?:{_LABEL}|{_SUBJECT})"
_FRAME = re.compile(rf"(?:{_OPENER})*(?:{_LABEL})?(?:{_OPENER})*(?:{_PUT})?")
_LABELLED = re.compile(rf"(?:{_OPENER})*(?:{_LABEL}|.*\b(?:{_CHOOSE}))")
_ORDER = re.compile(r"(?:^| )(?:then|finally) ")
_CONDITIONAL = re.compile(r"(?:^| )then .*(?:would|id) ")

# A reason before an action: "nothing is proved, so I pass", "as nothing is proved, I pass".
_SO = re.compile(
    r"(.*)(?:[,;]\s*(?:and\s+)?|\s[\u2013\u2014-]+\s|\band\s+)((?:so|therefore|thus|hence)\b.*)", re.I | re.S
)
_AS = r"as (?:it|this|that|there|nobody|nothing|none|no)"
_SINCE = re.compile(r"(.*),(.*)", re.S)
_SINCE_WORDS = re.compile(rf"(?:{_OPENER})*(?:because|since|given that|{_AS}) .+ ")
# Words of a reason with which nothing is put forward after all, or not now.
_NOT_NOW = frozenset(
    (
        *("if", "unless", "until", "when", "whenever", "wait", "later", "next", "would", "could", "might", "should"),
        *("wouldnt", "couldnt", "shouldnt", "id", "suppose", "supposing", "imagine", "assume", "assuming", "pretend"),
    )
)
_TAKEN_BACK = _NOT_NOW | frozenset(
    (
        *("but", "however", "though", "although", "nevertheless", "instead", "rather", "actually", "except", "once"),
        *("wrong", "mistake", "foolish", "stupid", "false", "illegal", "premature", "early", "joke", "joking"),
        *("kidding", "cancel", "forget", "ignore", "retract", "disregard", "mistaken", "error", "sorry", "scratch"),
    )
)
_VERB = (
    r"(?:(?:will |should )?"
    r"(?:tell|show|give|narrow|help|keep|save|split|reveal|rule|eliminate|reduce|cover|win|halve)s?"
    r"|(?:is|will be) (?:the |my )?(?:best|safest|surest|cheapest|proved|certain|safe))"
)
_AIM = (
    r"(?:find|find out|learn|see|know|check|test|narrow|get|gain|rule out|exclude|confirm|refresh|renew|win|close|keep"
    r"|save|force|split|reveal|catch)"
)
_REASON = (
    rf"(?:(?:because|since|{_AS}|(?:in order )?to {_AIM}|(?:which|that|this|it) {_VERB}|reason|reasoning|explanation)"
    r" .*)"
)
_A_REASON = re.compile(rf"\b{_REASON}")
_TAIL = re.compile(
    rf"(?:(?:please|thanks|thank you|now|this turn|for now|at once|immediately|right now|right away|on this turn|it is"
    rf"|as my (?:{_KIND})*{_NOUN}|is (?:my|the) (?:{_KIND})*{_NOUN}) )*(?:{_REASON})?"
)
_HARMLESS = re.compile(
    rf"(?:{_REASON}|(?:that is|thats|this is) (?:all|my (?:{_KIND})*{_NOUN}) |thanks |thank you |done |over |cheers "
    r"|good luck (?:(?:to )?(?:all|everyone|everybody) )?|(?:it is )?your turn |i hope (?:this|that|it) helps "
    r"|lets see (?:what happens )?|end of (?:turn|answer) )?"
)
_WHETHER = re.compile(r"\b(find out|see|know|check|test|learn) if\b")


def put_forward(before: str, earlier: str) -> int:
    """Return how plainly what stands before an action in its sentence puts it forward: NOT_SAID, BARE or LABELLED.

    >>> put_forward("I will ", ""), put_forward("My action: ", ""), put_forward("Nobody should ", "")
    (1, 2, 0)

    Args:
        before: the beginning of the sentence.
        earlier: the sentences before it: what follows a "first" with "then" is not for now.
    """
    reasoned = _SO.fullmatch(before)
    if reasoned is not None and not _NOT_NOW.intersection(_spaced(reasoned[1]).split()):
        return _frame(reasoned[2], "first")
    since = _SINCE.fullmatch(before)
    if since is not None and _SINCE_WORDS.fullmatch(_spaced(since[1])) and _spaced(since[2]):
        return NOT_SAID if _NOT_NOW.intersection(_spaced(since[1]).split()) else _frame(since[2], "first")
    return _frame(before, earlier)


def _frame(before: str, earlier: str) -> int:
    words = _spaced(before)
    if len(words.split()) > MOST_FRAME_WORDS or not _FRAME.fullmatch(words):
        return NOT_SAID
    if not _only(before, _MARKUP_BEFORE) or _EMPTY_BOX.search(before) or _CONDITIONAL.search(words):
        return NOT_SAID
    if _ORDER.search(words) and {"first", "firstly"}.intersection(plain_text(earlier).split()):
        return NOT_SAID
    return LABELLED if _LABELLED.match(words) else BARE


def has_pairs(sentence: str) -> bool:
    """Return whether no quote or bracket of a sentence is opened, or closed, in another one: it may be what others say.

    >>> has_pairs('"pass"'), has_pairs('pass"')
    (True, False)
    """
    pairs = (("(", ")"), ("[", "]"), ("\u201c", "\u201d"))
    return sentence.count('"') % 2 == 0 and all(sentence.count(one) == sentence.count(other) for one, other in pairs)


def may_follow(after: str) -> bool:
    """Return whether what stands after an action in its sentence leaves it as it is.

    >>> may_follow(", because it tells most."), may_follow(" is wrong"), may_follow("?")
    (True, False, False)
    """
    return _leaves(after, _TAIL)


def is_harmless(sentence: str) -> bool:
    """Return whether a sentence after an action leaves it as it is: a reason or a courtesy.

    >>> is_harmless("That tells most."), is_harmless("That is wrong.")
    (True, False)
    """
    return _leaves(sentence, _HARMLESS)


def _leaves(text: str, pattern: re.Pattern[str]) -> bool:
    words = _spaced(text)
    reason = _A_REASON.search(words)
    # The words of a reason may be anything, with any marks; the rest may not.
    marks = text if reason is None else text[: words_of(text)[len(words[: reason.start()].split())].start]
    if "?" in text or not pattern.fullmatch(words) or not _only(marks, _MARKUP_AFTER):
        return False
    return not _TAKEN_BACK.intersection(_WHETHER.sub("", words).split())


def _spaced(text: str) -> str:
    """Return the words of a text, a space after each."""
    return "".join(f"{word.plain} " for word in words_of(text))


def _only(text: str, markup: re.Pattern[str]) -> bool:
    """Return whether there is nothing between the words of a text but such marks."""
    place = 0
    for word in [*words_of(text), Word("", len(text), len(text))]:
        if not markup.fullmatch(text, place, word.start):
            return False
        place = word.end
    return True
