"""A real browser plays whole games by clicking, and looks at what the pages show."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from sleuth_env.holmes.cards import CARDS

from .clicking import Visitor
from .conftest import Make

pytestmark = pytest.mark.browser

DESK = (1280, 800)
PHONE = (360, 740)
DASH = "\N{EN DASH}"
SIGNS = {"h": "●", "m": "○", "-": "·"}
NAMES = {card["title"]: card["name"] for card in CARDS["titles"]}
NewVisitor = Callable[..., Visitor]


def kind_of(table: dict[str, Any], action: str) -> str:
    """Return what is alike in actions: the moment, and the first word."""
    return f"{table['facts']['phase']} {action.split()[0]}"


def any_action(rng: random.Random, table: dict[str, Any]) -> str:
    """Return a legal action, all kinds equally likely: there are many questions, and few of the others."""
    kinds = sorted({kind_of(table, action) for action in table["legal"]})
    kind = rng.choice(kinds)
    return rng.choice([action for action in table["legal"] if kind_of(table, action) == kind])


def careful_action(rng: random.Random, table: dict[str, Any]) -> str:
    """Return a legal action that does not end the game for its player."""
    if "pass" in table["legal"]:
        return "pass"
    calm = [action for action in table["legal"] if action not in table["doubts"] and not action.startswith("final")]
    return rng.choice(calm or table["legal"])


def check_page(person: Visitor) -> None:
    """Compare the table on the page with the message that it was drawn from."""
    table = person.table
    facts = table["facts"]
    said = person.read()
    assert said["log"] == [line.strip() for line in table["log"]]
    places = table["board"]["places"]
    signs = {
        (item, place): sign
        for item, row in table["board"]["items"].items()
        for place, sign in zip(places, row, strict=True)
    }
    assert {(item, place): sign for item, place, sign, _ in said["sheet"]} == signs
    assert len(said["sheet"]) == len(signs)
    assert len(said["players"]) == len(table["players"])
    for player, text in zip(table["players"], said["players"], strict=True):
        assert player["label"] in text
        assert player["name"] in text
    assert said["width"] <= said["room"]
    if table["legal"]:
        assert said["prompt"].lower() == table["prompt"].lower()
        assert "Enter" not in table["prompt"]
    check = {"sleuth": check_sleuth, "holmes": check_holmes}[table["game"]]
    check(facts, said)


def check_sleuth(facts: dict[str, Any], said: dict[str, Any]) -> None:
    """Compare what only a table of Sleuth has."""
    assert all(text == SIGNS[sign] for _, _, sign, text in said["sheet"])
    assert len(said["gems"]) == len(facts["hand"])
    for gem, text in zip(facts["hand"], said["gems"], strict=True):
        assert gem.replace("-", " ") in text
    spoken = [[spoken_card(card) for card in seat["search_cards"]] for seat in facts["seats"].values()]
    assert [[text.lstrip("RBGY") for text in cards] for cards in said["search"]] == spoken
    answers = {
        f"{label} {name}": str(number)
        for label, seat in facts["seats"].items()
        for name, number in seat["answers"].items()
    }
    assert dict(said["answers"]) == answers


def spoken_card(card: str) -> str:
    """Return what a search card is called on the page."""
    return "free choice" if card == "free" else card.replace("free-", "free + ").replace("-", " ")


def check_holmes(facts: dict[str, Any], said: dict[str, Any]) -> None:
    """Compare what only a table of I Say, Holmes! has."""
    assert [held for held, _ in said["held"]] == [f"{title} {copies}" for title, copies in facts["hand"].items()]
    assert all(NAMES[held.split()[0]] in text for held, text in said["held"])
    assert said["current"] == facts["current"]
    assert said["location"] == facts["location"]
    for item, place, _, text in said["sheet"]:
        if place == "you":
            assert text == str(facts["hand"].get(item, SIGNS["-"]))
        else:
            bounds = facts["holders"][place]
            least, most = bounds["least"].get(item, 0), bounds["most"].get(item, 0)
            assert text == (SIGNS["-"] if most == 0 else str(most) if least == most else f"{least}{DASH}{most}")


def play(person: Visitor, rng: random.Random, choose: Callable[..., str] = any_action, most: int = 80) -> None:
    """Play by clicking until the game is over; what is new is explored first, and the page is compared each time."""
    seen: set[str] = set()
    for _ in range(most):
        check_page(person)
        if person.table["ended"]:
            return
        table = person.table
        if any(kind_of(table, action) not in seen for action in table["legal"]):
            seen |= {kind_of(table, action) for action in table["legal"]}
            assert person.explored() == dict.fromkeys(table["legal"], 1)
        person.act(choose(rng, table))
    raise AssertionError("the game did not end")


@pytest.mark.parametrize(
    ("size", "scheme", "players", "options"),
    [
        (DESK, "light", 4, {}),
        (PHONE, "dark", 3, {"missing": 2, "double_interrogation": True}),
        (PHONE, "light", 7, {"winners": 2}),
        (DESK, "dark", 5, {"super_sleuth": True, "accuse": "own_turn"}),
    ],
)
def test_a_game_of_sleuth_is_played_to_its_end_by_clicking(
    visitor: NewVisitor, make_table: Make, size: tuple[int, int], scheme: str, players: int, options: dict[str, Any]
) -> None:
    person = visitor(size, scheme)
    [link] = make_table("sleuth", ["sheet", "person", *["sheet"] * (players - 2)], 11, max_turns=40, **options)
    person.sit_down(link)
    play(person, random.Random(players))
    check_end(person)


@pytest.mark.parametrize(
    ("size", "scheme", "players", "options"),
    [
        (DESK, "light", 4, {"cases": 2}),
        (PHONE, "dark", 3, {"cases": 1, "fast_play": True}),
        (PHONE, "light", 8, {"cases": 1}),
        (DESK, "dark", 5, {"cases": 2, "must_arrest": True}),
    ],
)
def test_a_game_of_holmes_is_played_to_its_end_by_clicking(
    visitor: NewVisitor, make_table: Make, size: tuple[int, int], scheme: str, players: int, options: dict[str, Any]
) -> None:
    person = visitor(size, scheme)
    [link] = make_table("holmes", ["random", "person", *["random"] * (players - 2)], 7, max_turns=70, **options)
    person.sit_down(link)
    play(person, random.Random(players))
    check_end(person)


def check_end(person: Visitor) -> None:
    """Look at the end of a game: what is told, and everybody's hand."""
    ended = person.table["ended"]
    text = person.page.inner_text(".region-ending")
    for line in ended["lines"]:
        assert " ".join(line.split()) in " ".join(text.split())
    assert person.page.locator(".ending-lines > *").evaluate_all(
        "all => all.every((part) => part.scrollWidth <= part.clientWidth)"
    )
    hands = person.page.locator(".region-ending .thing-list")
    for player in person.table["players"]:
        of = f"Hand of {player['name']} ({player['label']})"
        title = "Your hand" if player["label"] == "you" else of
        hand = hands.filter(has=person.page.get_by_role("heading", name=title, exact=True))
        shown = hand.locator("[data-gem], [data-title]").evaluate_all(
            "all => all.map((card) => card.dataset.gem ?? card.dataset.title)"
        )
        assert shown == list(dict.fromkeys(ended["deal"]["hands"][player["name"]]))
    assert person.page.get_attribute("#replay", "href") == ended["replay"]
    assert not person.page.locator("#table [data-action], #table [data-leads]").count()
    assert not person.violations()


def test_after_the_end_the_same_cards_or_others_are_dealt(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    # Who begins is to decide before the game is over.
    [link] = make_table("sleuth", ["person", "random", "random"], 3, max_turns=1, first_player="seat_0")
    person.sit_down(link)
    first = person.table["facts"]["hand"]
    play(person, random.Random(1), careful_action)
    assert person.page.inner_text("#seed") == "3"
    for button, same in (("#again", True), ("#again-other", False)):
        before = len(person.tables)
        person.page.click(button)
        person.wait_for_turn(before)
        assert (person.table["facts"]["hand"] == first) is same
        assert person.page.locator("#after").is_hidden()
        play(person, random.Random(1), careful_action)


def test_a_doubtful_action_is_done_only_when_it_is_confirmed(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 3, first_player="seat_0")
    person.sit_down(link)
    doubtful = next(name for name in person.table["doubts"] if name.startswith("accuse"))
    person.click_on_the_way(doubtful)
    person.page.click(f'[data-action="{doubtful}"]')
    assert person.page.inner_text("#doubt-why") == person.table["doubts"][doubtful]
    assert not person.violations()
    person.page.keyboard.press("Escape")
    person.page.click(f'[data-action="{doubtful}"]')
    person.page.click("#doubt-no")
    person.page.wait_for_timeout(200)
    assert len(person.tables) == 1
    person.act(doubtful)
    assert person.table["facts"]["seats"]["you"]["standing"] != "in"


def test_odds_are_shown_when_they_are_asked_for(visitor: NewVisitor, make_table: Make) -> None:
    for game, bot, item in (("sleuth", "sheet", "red-diamond-solitaire"), ("holmes", "counter", "moriarty")):
        person = visitor()
        [link] = make_table(game, ["person", bot, bot, bot], 5)
        person.sit_down(link)
        assert not person.page.locator(".sheet-chance").count()
        person.page.click("#odds")
        person.page.wait_for_selector(".sheet-chance")
        assert person.page.locator(f'[data-item="{item}"].sheet-chance').count() == len(person.table["board"]["places"])
        assert not person.violations()
        person.act(careful_action(random.Random(2), person.table))
        person.page.wait_for_selector(".sheet-chance")
        person.page.click("#odds")
        assert not person.page.locator(".sheet-chance").count()


def test_pencil_marks_are_made_by_mouse_and_keyboard_and_kept(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 5)
    person.sit_down(link)
    first = person.page.locator('[data-item="blue-diamond-solitaire"][data-place="+1"] button')
    first.click()
    assert first.locator(".pencil").inner_text() == "✓"
    assert "you marked yes" in (first.get_attribute("aria-label") or "")
    person.page.keyboard.press("ArrowDown")
    person.page.keyboard.press("ArrowRight")
    person.page.keyboard.press("Enter")
    person.page.keyboard.press("Space")
    second = person.page.locator('[data-item="blue-diamond-pair"][data-place="+2"] button')
    assert second.locator(".pencil").inner_text() == "✗"
    person.page.reload()
    person.page.wait_for_selector("[data-item]")
    assert first.locator(".pencil").inner_text() == "✓"
    assert second.locator(".pencil").inner_text() == "✗"
    person.page.click("#erase")
    assert not person.page.locator(".pencil").count()


def test_a_lost_connection_comes_back_by_itself(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 5)
    routes: list[Any] = []

    def pass_on(route: Any) -> None:
        route.connect_to_server()
        routes.append(route)

    person.page.route_web_socket("**/socket", pass_on)
    person.sit_down(link)
    shown = person.read()
    routes[0].close()
    person.page.wait_for_function("() => document.getElementById('notice').textContent.includes('connection is lost')")
    assert not person.violations()
    person.page.wait_for_selector("#table[data-connected]")
    person.wait_for_turn(1)
    assert len(routes) == 2
    assert person.read() == shown
    person.act(careful_action(random.Random(2), person.table))
    check_page(person)


def test_a_connection_that_is_refused_is_tried_again_by_hand_only(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 5)
    tries: list[Any] = []

    def refuse(route: Any) -> None:
        tries.append(route)
        if len(tries) > 2:
            route.connect_to_server()
            return
        route.send('{"type":"closed","why":"too many listen to this seat"}')
        route.close(code=1013)

    person.page.route_web_socket("**/socket", refuse)
    person.visit(link)
    for number in (1, 2):
        person.page.wait_for_selector("#retry:not([hidden])")
        assert person.page.inner_text("#notice") == "Closed: too many listen to this seat"
        assert not person.violations()
        person.page.wait_for_timeout(1200)
        assert len(tries) == number
        person.page.click("#retry-now")
    person.wait_for_turn()
    assert person.page.inner_text("#notice") == ""
    assert person.page.locator("#retry").is_hidden()


@pytest.mark.parametrize("code", [1011, 1012])
def test_a_connection_that_is_closed_at_once_is_tried_ever_more_seldom(
    visitor: NewVisitor, make_table: Make, code: int
) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 5)
    tries: list[Any] = []

    def close(route: Any) -> None:
        tries.append(route)
        # A server that is restarted says so, too.
        if code == 1012:
            route.send('{"type":"closed","why":"the server is being restarted"}')
        route.close(code=code)

    person.page.route_web_socket("**/socket", close)
    person.visit(link)
    person.page.wait_for_function("() => document.getElementById('notice').textContent.includes('again in 2 s')")
    assert len(tries) == 3
    assert person.page.locator("#retry").is_hidden()


def test_the_focus_stays_where_it_was_when_the_table_is_drawn_again(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 5, first_player="seat_0")
    person.sit_down(link)
    person.page.focus('[data-leads="ask +2"]')
    person.page.keyboard.press("Enter")
    assert person.page.evaluate("() => document.activeElement.dataset.leads") == "ask +2"
    assert person.page.get_attribute('[data-leads="ask +2"]', "aria-pressed") == "true"


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize(("game", "bot"), [("sleuth", "sheet"), ("holmes", "counter")])
def test_what_has_just_happened_stands_beside_what_is_asked(
    visitor: NewVisitor, make_table: Make, size: tuple[int, int], game: str, bot: str
) -> None:
    person = visitor(size)
    [link] = make_table(game, ["person", bot, bot, bot], 5)
    person.sit_down(link)
    rng = random.Random(3)
    told = max(0, len(person.table["log"]) - 4)
    for _ in range(6):
        lines = [line.strip() for line in person.table["log"][told:]][-4:]
        shown = person.page.locator("[data-just-now] li")
        assert shown.all_text_contents() == lines
        for selector in ("[data-prompt]", *(["[data-just-now]"] if lines else [])):
            box = person.page.locator(selector).bounding_box()
            assert box is not None
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= size[1]
        # The log is read out; what repeats it is not.
        assert not person.page.locator("[aria-live] [data-just-now], [role=status] [data-just-now]").count()
        assert not person.violations()
        before = len(person.table["log"])
        person.act(careful_action(rng, person.table))
        told = before if len(person.table["log"]) > before else told


def test_it_is_shown_which_card_pays_for_a_question(visitor: NewVisitor, make_table: Make) -> None:
    person = visitor()
    [link] = make_table("sleuth", ["person", "sheet", "sheet"], 5, first_player="seat_0")
    person.sit_down(link)
    person.page.click('[data-leads="ask +1"]')
    button = person.page.locator('[data-action^="ask +1"]').first
    card = (button.get_attribute("data-action") or "").split()[-1]
    paid = f"paid with {spoken_card(card)}"
    assert button.get_attribute("title") == f"Asks at once, {paid}"
    words = button.locator(".hover-words")
    assert words.is_hidden()
    button.hover()
    assert words.inner_text() == paid
    assert not person.violations()
    assert "pays with the only card that can" in person.page.inner_text(".question-legend")
    several = person.page.locator('[data-leads^="ask +1 "]').first
    assert "cards can pay" in (several.get_attribute("title") or "")
    while not person.table["facts"]["seats"]["+1"]["answers"]:
        asked = [name for name in person.table["legal"] if name.startswith("ask +1")]
        person.act(asked[0] if asked else careful_action(random.Random(2), person.table))
    while not any(name.startswith("ask +1") for name in person.table["legal"]):
        person.act("pass")
    person.page.click('[data-leads="ask +1"]')
    assert "answered before" in person.page.inner_text(".question-legend")


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_rules_are_opened_at_their_beginning(visitor: NewVisitor, make_table: Make, size: tuple[int, int]) -> None:
    person = visitor(size)
    [link] = make_table("holmes", ["person", "random", "random"], 5)
    person.sit_down(link)
    person.page.click("#rules")
    assert person.page.evaluate("() => document.activeElement.id") == "rules-title"
    assert person.page.evaluate("() => document.getElementById('rules-dialog').scrollTop") == 0
    text = person.page.inner_text("#rules-text")
    # What is said to whoever types has no place here.
    assert not any(word in text for word in ("The sheet shows", "TITLE", "+K", "Enter", "for instance"))
    assert "Pass" in text
    widths = person.page.locator(".forms dd").evaluate_all("all => all.map((text) => text.clientWidth)")
    assert min(widths) > 200
    assert not person.violations()


def test_a_newcomer_makes_a_table_by_mouse_and_plays(visitor: NewVisitor) -> None:
    person = visitor(PHONE)
    person.visit("/")
    person.page.wait_for_selector("#form:not([hidden])")
    assert not person.violations()
    person.page.click("text=Variants and seed")
    assert not person.violations()
    person.page.fill("#seed", "5")
    person.page.check("#option-super_sleuth")
    assert person.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
    person.page.click("#make")
    person.page.wait_for_url("**/table/*")
    person.wait_for_turn()
    assert person.table["options"]["super_sleuth"] is True
    assert [player["who"] for player in person.table["players"]] == ["you", "sheet", "sheet", "sheet"]
    person.page.click("#rules")
    assert "missing" in person.page.inner_text("#rules-text")
    assert not person.violations()


def test_a_wrong_choice_is_explained_on_the_form(visitor: NewVisitor) -> None:
    person = visitor()
    person.visit("/")
    person.page.wait_for_selector("#form:not([hidden])")
    person.page.click("text=Variants and seed")
    person.page.select_option("#players", "5")
    person.page.fill("#option-missing", "2")
    person.page.click("#make")
    person.page.wait_for_function("() => document.getElementById('notice').textContent.includes('missing')")
    person.page.wait_for_timeout(100)
    # The browser itself reports the answer of the server.
    person.faults[:] = [fault for fault in person.faults if "400" not in fault]


def test_two_people_play_at_one_table(visitor: NewVisitor) -> None:
    host = visitor()
    host.visit("/")
    host.page.wait_for_selector("#form:not([hidden])")
    host.page.click("text=I Say, Holmes!")
    host.page.select_option("#players", "3")
    host.page.select_option("#seat-2", "person")
    host.page.click("text=Variants and seed")
    host.page.fill("#option-cases", "1")
    host.page.fill("#option-max_turns", "12")
    host.page.click("#make")
    host.page.wait_for_selector("#made:not([hidden])")
    assert not host.violations()
    address = host.page.get_attribute("#links [data-copy]", "data-copy") or ""
    assert host.page.locator("#links .link-text").first.inner_text() == address
    assert host.page.locator("#links [data-yours]").count() == 1
    guest = visitor(PHONE, "dark")
    guest.visit(address.removeprefix(guest.address))
    host.page.click("#sit-down")
    links = [host.page.url, address]
    # The links are there at the table, and again on the page on which it was made.
    host.page.wait_for_selector("#links:not([hidden])")
    for where in ("#links", "#kept", "#links"):
        found = host.page.locator(f"{where} [data-copy]").evaluate_all("all => all.map((one) => one.dataset.copy)")
        assert sorted(found) == sorted(links)
        assert not host.violations()
        if where == "#links":
            host.visit("/")
            host.page.wait_for_selector("#kept:not([hidden])")
        else:
            host.page.click("#kept a")
            host.page.wait_for_selector("#links:not([hidden])")
    host.visit(links[0].removeprefix(host.address))
    guest.page.wait_for_selector("[data-prompt]")
    assert guest.page.locator("#links").is_hidden()
    rng = random.Random(4)
    for _ in range(120):
        for person in (host, guest):
            person.page.wait_for_timeout(60)
            if person.tables and person.table["decision"] is not None:
                before = len(person.tables)
                person.click_to(any_action(rng, person.table))
                person.page.wait_for_timeout(60)
                while len(person.tables) == before:
                    person.page.wait_for_timeout(20)
        if all(person.tables and person.table["ended"] for person in (host, guest)):
            break
    assert host.table["ended"]
    assert guest.table["ended"]
    for person in (host, guest):
        check_page(person)
        check_end(person)
        # Nobody may deal cards that somebody knows.
        assert person.page.locator("#after button").all_text_contents() == ["New game"]
    asked: list[Any] = []

    def note(route: Any) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(json={})

    guest.page.route("**/again", note)
    with guest.page.expect_response("**/again"):
        guest.page.click("#again-other")
    assert asked == [{"seed": "new"}]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_nothing_on_the_way_to_an_action_is_hard_to_use(
    visitor: NewVisitor, make_table: Make, size: tuple[int, int], scheme: str
) -> None:
    person = visitor(size, scheme)
    [link] = make_table("sleuth", ["person", "sheet", "sheet", "sheet"], 5, first_player="seat_0")
    person.sit_down(link)
    for _ in range(12):
        person.act(careful_action(random.Random(2), person.table))
    while not any(name.startswith("ask") for name in person.table["legal"]):
        person.act("pass")
    person.page.click("#odds")
    for leads in ("ask +1", "final", "final +2", "accuse"):
        person.page.click(f'[data-leads="{leads}"]')
        assert not person.violations()
        assert person.read()["width"] <= size[0]
