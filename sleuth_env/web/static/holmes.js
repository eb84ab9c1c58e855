// A table of I Say, Holmes!.

import { make, makeSvg, unseen } from "./dom.js";
import { actionButton, leadButton, stepGroup } from "./moves.js";
import { counted, endingLines, handTitle, playerPanel, regionHead, seatWords, statusLines, thingList } from "./seats.js";
import { SIGNS, sheetLegend, sheetTable } from "./sheet.js";
import { BOOK_NAMES, STORY_CARDS } from "./story_cards.js";

// The kinds of cards in the order of the sheet: what each is called, and its letter.
const KINDS_OF_STORY = {
  villain: ["Villains", "V"],
  interrupt: ["Interrupts", "!"],
  action: ["Actions", "A"],
  information: ["Information", "i"],
  "i-say": ["I Say", "S"],
  travel: ["Travel", "T"],
  city: ["City", "C"],
  country: ["Country", "L"],
  start: ["Start", "*"],
};

/**
 * Draw a table of I Say, Holmes!.
 * @param {HTMLElement} root the element of the table
 * @param {Object} table a table message
 * @param {Object} tools choose, odds, questions, marks, picks and pick, see `drawTable`
 * @returns {Object<string, Node[]>} the contents of the regions
 */
export function drawHolmes(root, table, tools) {
  const { facts, options } = table;
  const cases = options.cases ? ` of ${options.cases}` : "";
  const where = `Case ${facts.case_number}${cases} · turn ${facts.turn_number} of ${options.max_turns}`;
  const turn = table.players.find((player) => player.label === facts.turn);
  const waiting = facts.turn === "you" ? "Your turn goes on: wait for the others" : `Wait: it is the turn of ${seatWords(turn)}`;
  return {
    status: [...statusLines(table, where, waiting, tools.news), currentCard(facts)],
    players: [regionHead("Players"), make("ol", { class: "players players-small" }, table.players.map((player) => holmesPlayer(player, table)))],
    actions: tools.choose && table.legal.length ? holmesActions(table, tools) : [],
    hand: storyHand(table, tools),
    ending: endingLines(table, (deal) => dealtStory(deal, table)),
    sheet: holmesSheet(table, tools),
    notes: [...supplies(facts), ...lastCase(facts, table)],
  };
}

// --- cards ---

/**
 * Draw a card of the story.
 * @param {string} title
 * @param {?string} note a small line, such as the number of copies
 * @param {boolean} large whether it also says what the card does
 * @returns {HTMLElement}
 */
export function storyCard(title, note = null, large = false) {
  const { name, kind, value, effect } = STORY_CARDS[title];
  return make(
    "span",
    { class: `story story-${kind}${large ? " story-large" : ""}`, "data-title": title },
    make("span", { class: "story-top" }, kindBadge(kind), make("span", { class: "story-kind" }, kind), make("span", { class: "story-value" }, unseen("value "), String(value))),
    make("span", { class: "story-name" }, name),
    effect ? make("span", { class: "story-effect" }, effect) : null,
    note ? make("span", { class: "story-note" }, note) : null,
  );
}

/** A small shield with the letter of the kind, so that the colour is not the only sign of it. */
function kindBadge(kind) {
  return makeSvg(
    "svg",
    { viewBox: "0 0 20 20", class: "kind-badge", "aria-hidden": "true", focusable: "false" },
    makeSvg("path", { d: "M2 2h16v9q0 5-8 8q-8-3-8-8z", class: "kind-body" }),
    makeSvg("text", { x: 10, y: 13.5, class: "kind-letter", "font-size": 11 }, KINDS_OF_STORY[kind][1]),
  );
}

function nameOf(title) {
  return STORY_CARDS[title].name;
}

function currentCard(facts) {
  const similar = facts.location;
  const other = similar === "city" ? "country" : "city";
  const follow = STORY_CARDS[facts.current].follows
    .split(" ")
    .filter(Boolean)
    .map((word) => ({ "similar-location": `any ${similar} card`, "dissimilar-location": `any ${other} card`, "any-travel": "any travel card", "i-say": "I Say cards" })[word] ?? nameOf(word));
  return make(
    "div",
    { class: "current" },
    make("div", { "data-current": facts.current }, make("h3", {}, "Current card"), storyCard(facts.current)),
    make(
      "div",
      { class: "current-about" },
      make("h3", {}, "May be followed by"),
      make("p", {}, follow.join(", ")),
      make("h3", {}, "Location"),
      make("p", { "data-location": facts.location }, facts.location),
      make("h3", {}, "Draw pile"),
      make("p", {}, counted(facts.draw_pile, "card")),
    ),
  );
}

// --- the players ---

function holmesPlayer(player, table) {
  const seat = table.facts.seats[player.label];
  const tokens = [
    ...seat.books.map((book) => token("book", BOOK_NAMES[book])),
    ...seat.villain_tokens.map((villain) => token("villain", nameOf(villain))),
    ...seat.say_tokens.map((say) => token("say", say)),
    ...(seat.telegrams ? [token("telegram", counted(seat.telegrams, "telegram"))] : []),
  ];
  const standing = [counted(seat.cards, "card"), seat.closed ? `${counted(seat.closed, "case")} closed` : ""].filter(Boolean).join(", ");
  const shown = seat.shown_to_you;
  const seen = seat.was_shown;
  const whole = (look) => (look.whole ? "the whole hand" : "");
  return playerPanel(
    player,
    { turn: table.facts.turn === player.label && !table.ended, standing },
    tokens.length ? make("ul", { class: "things tokens", "aria-label": "Tokens" }, tokens.map((one) => make("li", {}, one))) : null,
    shown ? make("p", { class: "shown" }, lookWords(`turn ${shown.turn_number}, showed you`, whole(shown), shown.cards)) : null,
    whole(seen) || Object.keys(seen.cards).length ? make("p", { class: "shown" }, lookWords("last saw of yours", whole(seen), seen.cards)) : null,
  );
}

function token(kind, words) {
  return make("span", { class: `token token-${kind}` }, words);
}

function lookWords(begin, whole, cards) {
  const names = copiesOf(cards).map(([title, copies]) => (copies > 1 ? `${nameOf(title)} ×${copies}` : nameOf(title)));
  return `${[begin, whole].filter(Boolean).join(" ")}: ${names.join(", ") || "nothing"}`;
}

function copiesOf(cards) {
  return Object.entries(cards);
}

// --- the hand and what can be done ---

/** Which legal actions begin with a card of a title. */
function actionsOfTitle(table, title) {
  return table.legal.filter((name) => name === `play ${title}` || name.startsWith(`play ${title} on `) || name === `choose ${title}`);
}

function storyHand(table, tools) {
  const { facts } = table;
  const active = tools.choose && table.legal.length && facts.drawn === null;
  const cards = copiesOf(facts.hand).map(([title, copies]) => {
    const note = copies > 1 ? `×${copies}` : null;
    return make("li", { "data-held": `${title} ${copies}` }, active ? playable(table, tools, title, note) : storyCard(title, note));
  });
  const count = facts.seats.you.cards;
  const list = cards.length ? make("ul", { class: "things story-hand", "data-hand": true }, cards) : make("p", { class: "muted", "data-hand": true }, "no cards");
  return [regionHead("Your hand", count), list];
}

function playable(table, tools, title, note) {
  const actions = actionsOfTitle(table, title);
  const card = storyCard(title, note);
  if (!actions.length) return card;
  if (actions.length === 1 && !actions[0].includes(" on ")) return actionButton(tools, actions[0], { class: "card-button" }, card);
  return leadButton(tools, `play ${title}`, tools.picks.title === title, { title }, { class: "card-button" }, card);
}

function holmesActions(table, tools) {
  const { facts } = table;
  const picked = tools.picks.title;
  const inHand = new Set((facts.drawn ? [facts.drawn] : Object.keys(facts.hand)).flatMap((title) => actionsOfTitle(table, title)));
  const tokens = tokenTypes(table);
  const rest = table.legal.filter((name) => !inHand.has(name) && !name.startsWith("token "));
  const drawn = facts.drawn ? stepGroup("The card that you have drawn", "drawn", playable(table, tools, facts.drawn, null)) : null;
  const parts = [
    drawn,
    picked ? aiming(table, tools, picked) : null,
    tokens.size ? tokenStep(table, tools, tokens) : null,
    rest.length ? make("div", { class: "choices", role: "group", "aria-label": "What you can do" }, rest.map((name) => plainMove(table, tools, name))) : null,
  ];
  const hint = inHand.size && !picked && !facts.drawn ? make("p", { class: "muted" }, "Choose a card of your hand.") : null;
  return [make("h2", { class: "unseen" }, "What you can do"), hint, ...parts];
}

function aiming(table, tools, title) {
  const actions = actionsOfTitle(table, title);
  const buttons = actions.map((name) => actionButton(tools, name, { class: "button" }, name.includes(" on ") ? targetWords(table, name) : "nobody"));
  return stepGroup(`On whom do you play ${nameOf(title)}?`, "targets", make("div", { class: "choices" }, buttons));
}

function playerOf(table, label) {
  return label === "+0" ? table.players[0] : table.players.find((player) => player.label === label);
}

function targetWords(table, name) {
  const player = playerOf(table, name.split(" ").at(-1));
  return [seatWords(player), make("span", { class: "muted" }, ` ${counted(table.facts.seats[player.label].cards, "card")}`)];
}

function plainMove(table, tools, name) {
  const [word, label] = name.split(" ");
  const words = { draw: "Draw a card", escape: "Escape", pass: passWords(table.facts.phase) }[name];
  const more = { arrest: () => `Arrest ${seatWords(playerOf(table, label))}`, from: () => `Take the Telegram of ${seatWords(playerOf(table, label))}` }[word];
  return actionButton(tools, name, { class: name === "pass" || name === "draw" ? "button button-main" : "button" }, words ?? more?.() ?? name);
}

function passWords(phase) {
  const meaning = { respond: "do not counter", second: "end my turn", drawn: "keep it", verdict: "do not arrest", escape: "stay" }[phase];
  return meaning ? `Pass: ${meaning}` : "Pass";
}

/** The types of tokens that can be taken or given, and the actions of each. */
function tokenTypes(table) {
  const types = new Map();
  for (const name of table.legal.filter((one) => one.startsWith("token "))) {
    const type = name.split(" ")[1];
    types.set(type, [...(types.get(type) ?? []), name]);
  }
  return types;
}

function tokenStep(table, tools, types) {
  const source = (name) => (name.includes(" from ") ? `from ${seatWords(playerOf(table, name.split(" ").at(-1)))}` : "from the pool");
  const button = ([type, names]) =>
    names.length === 1
      ? actionButton(tools, names[0], { class: "button" }, `${type}, ${source(names[0])}`)
      : leadButton(tools, `token ${type}`, tools.picks.token === type, { token: type }, { class: "button" }, type);
  const names = types.get(tools.picks.token) ?? [];
  return stepGroup(
    "Which I Say token?",
    "tokens",
    make("div", { class: "choices" }, [...types].map(button)),
    names.length > 1 ? make("div", { class: "choices" }, names.map((name) => actionButton(tools, name, { class: "button" }, source(name)))) : null,
  );
}

// --- the sheet, and what nobody holds ---

function holmesSheet(table, { odds, marks }) {
  const { board, facts } = table;
  const titlesOf = (kind) => Object.keys(board.items).filter((title) => STORY_CARDS[title].kind === kind);
  const about = (kind) => ({
    title: KINDS_OF_STORY[kind][0],
    items: titlesOf(kind),
    places: board.places,
    head: (title) => [make("span", { class: "head-words" }, nameOf(title))],
    word: nameOf,
    text: (title, place, sign) => (place === "you" ? ownCopies(facts, title) : copiesThere(facts.holders[place], title)),
  });
  const kinds = Object.keys(KINDS_OF_STORY).filter((kind) => titlesOf(kind).length);
  const tables = kinds.map((kind) => make("div", { class: `sheet-box sheet-${kind}` }, sheetTable(about(kind), board, odds, marks)));
  return [
    regionHead("Information sheet"),
    make("p", { class: "sheet-summary" }, "How many copies there are, as far as you can know."),
    make("div", { class: "sheets", "data-places": String(board.places.length) }, tables),
    sheetLegend(Boolean(marks), odds, [["0–2", "none to two"], [SIGNS["-"], "none"]]),
  ];
}

function ownCopies(facts, title) {
  return facts.hand[title] ? String(facts.hand[title]) : SIGNS["-"];
}

function copiesThere(bounds, title) {
  const least = bounds.least[title] ?? 0;
  const most = bounds.most[title] ?? 0;
  if (most === 0) return SIGNS["-"];
  return least === most ? String(least) : `${least}–${most}`;
}

function supplies(facts) {
  const say = Object.entries(facts.say_pool).map(([type, number]) => `${type} ${number}`);
  const discards = copiesOf(facts.discards).map(([title, copies]) => make("li", {}, `${nameOf(title)}${copies > 1 ? ` ×${copies}` : ""}`));
  const count = Object.values(facts.discards).reduce((sum, copies) => sum + copies, 0);
  return [
    make("details", { class: "spent" }, make("summary", {}, `Discarded: ${counted(count, "card")}`), make("ul", { class: "plain-list" }, discards)),
    make("p", { class: "muted" }, `I Say tokens in the pool: ${say.join(", ")}. Telegrams: ${facts.telegram_pool}.`),
  ];
}

function lastCase(facts, table) {
  const last = facts.last_case;
  if (!last) return [];
  const who = (label) => seatWords(playerOf(table, label));
  const words = last.accused
    ? `Last case: ${who(last.closer)} arrested ${who(last.accused)}, total ${last.total}, ${last.book ? BOOK_NAMES[last.book] : "no Book"}.`
    : `Last case: ${who(last.closer)} escaped with ${last.escaped.map(nameOf).join(", ")}.`;
  return [make("p", { class: "last-case" }, words)];
}

function dealtStory(deal, table) {
  const hand = (player) => {
    const copies = new Map();
    for (const title of deal.hands[player.name]) copies.set(title, (copies.get(title) ?? 0) + 1);
    return [...copies].map(([title, number]) => storyCard(title, number > 1 ? `×${number}` : null));
  };
  return table.players.map((player) => thingList(handTitle(player), hand(player), "no cards"));
}
