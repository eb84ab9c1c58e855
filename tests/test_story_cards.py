"""What the pages say of the cards of I Say, Holmes! is what the data of the game say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import sleuth_env
from sleuth_env.holmes.cards import CARDS

STATIC = Path(sleuth_env.__file__).parent / "web" / "static"
TEXT = (STATIC / "story_cards.js").read_text(encoding="utf-8")


def cards_of_the_page() -> dict[str, dict[str, Any]]:
    """Return what the module of the pages says of each title."""
    lines = re.findall(r'^  ("[a-z-]+"): \{ (.*) \},$', TEXT, re.M)
    return {
        json.loads(title): json.loads("{" + re.sub(r"(\w+): (?=[\"\d])", r'"\1": ', rest) + "}")
        for title, rest in lines
    }


def test_every_card_of_the_page_is_as_in_the_data() -> None:
    said = cards_of_the_page()
    assert list(said) == [card["title"] for card in CARDS["titles"]]
    for card in CARDS["titles"]:
        about = said[card["title"]]
        assert (about["name"], about["kind"], about["value"]) == (card["name"], card["category"], card["value"])
        assert about["follows"].split() == list(card["follows"] or ())


def test_only_cards_that_do_nothing_say_nothing_of_what_they_do() -> None:
    silent = {title for title, about in cards_of_the_page().items() if not about["effect"]}
    locations = {card["title"] for card in CARDS["titles"] if card["category"] in ("city", "country")}
    assert silent == (locations - {"scotland-yard", "fleet-street"}) | {"hansom-cab", "train"}


def test_every_book_of_the_page_is_as_in_the_data() -> None:
    books = dict(re.findall(r'^  "([a-z-]+)": "(.*)",$', TEXT, re.M))
    assert books == {book["book"]: book["name"] for book in CARDS["books"]}
