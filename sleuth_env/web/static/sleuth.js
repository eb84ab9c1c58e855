// A table of Sleuth.

import { COLOURS, KINDS, TYPES, gemCard, gemPicture, searchCard, spoken } from "./cards.js";
import { make, unseen } from "./dom.js";
import { actionButton, leadButton, stepGroup } from "./moves.js";
import { counted, endingLines, handTitle, playerPanel, regionHead, seatWords, statusLines, thingList } from "./seats.js";
import { SIGNS, SIGN_WORDS, sheetLegend, sheetTable } from "./sheet.js";

const STANDING_WORDS = { in: "", out: "out: accused wrongly", right: "was right", accused: "has accused" };
const ROWS_OF_GEMS = KINDS.flatMap((kind) => TYPES.map((type) => `${kind}-${type}`));
const ASKED_BEST = 5;

/**
 * Draw a table of Sleuth.
 * @param {HTMLElement} root the element of the table
 * @param {Object} table a table message
 * @param {Object} tools choose, odds, questions, marks, picks and pick, see `drawTable`
 * @returns {Object<string, Node[]>} the contents of the regions
 */
export function drawSleuth(root, table, tools) {
  const { facts } = table;
  const where = `Turn ${facts.turn_number} of ${table.options.max_turns} · ${facts.draw_pile} search cards to draw`;
  const turn = table.players.find((player) => player.label === facts.turn);
  const waiting = facts.turn === "you" ? "Your turn goes on: wait for the others" : `Wait: it is the turn of ${seatWords(turn)}`;
  return {
    status: statusLines(table, where, waiting, tools.news),
    players: [regionHead("Players"), make("ol", { class: "players" }, table.players.map((player) => sleuthPlayer(player, table)))],
    actions: tools.choose && table.legal.length ? sleuthActions(table, tools) : [],
    hand: sleuthHand(facts),
    ending: endingLines(table, (deal) => dealtGems(deal, table)),
    sheet: sleuthSheet(table, tools),
    notes: [...answersTable(table), ...bestQuestions(tools.questions), ...spentCards(facts)],
  };
}

function sleuthPlayer(player, table) {
  const seat = table.facts.seats[player.label];
  const place = seat.place ? `place ${seat.place}` : STANDING_WORDS[seat.standing];
  const exchanges = seat.exchanges ? counted(seat.exchanges, "exchange") : "";
  const about = {
    turn: table.facts.turn === player.label && !table.ended,
    out: seat.standing !== "in",
    standing: [place, exchanges].filter(Boolean).join(", "),
  };
  const cards = seat.search_cards.map((card) => make("li", {}, searchCard(card)));
  return playerPanel(
    player,
    about,
    make("ul", { class: "things search-cards", "aria-label": `Search cards of ${seatWords(player)}` }, cards),
    shownGems(seat.shown_to_you, "showed you"),
  );
}

function shownGems(gems, words) {
  if (!gems.length) return null;
  return make("p", { class: "shown" }, `${words}: `, gems.map((gem) => smallGem(gem)));
}

function smallGem(gem) {
  return make("span", { class: "small-gem" }, gemPicture(gem), unseen(`${spoken(gem)} `));
}

// --- the hand ---

function sleuthHand(facts) {
  const shown = (gem) => {
    const whom = Object.entries(facts.seats).filter(([, seat]) => seat.was_shown.includes(gem));
    return whom.length ? `seen by ${whom.map(([label]) => label).join(" ")}` : null;
  };
  const cards = (gems, note = () => null) => gems.map((gem) => gemCard(gem, note(gem)));
  return [
    regionHead("Your hand", facts.hand.length),
    gemList(cards(facts.hand, shown), "hand"),
    thingList("Open on the table", cards(facts.table)),
    thingList("Missing", cards(facts.missing)),
    thingList("Named by you", cards(facts.accused)),
  ];
}

function gemList(cards, kind) {
  return make("ul", { class: "things", [`data-${kind}`]: true }, cards.map((card) => make("li", {}, card)));
}

function dealtGems(deal, table) {
  const hands = table.players.map((player) => thingList(handTitle(player), deal.hands[player.name].map((gem) => gemCard(gem))));
  return [thingList("Missing", deal.missing.map((gem) => gemCard(gem))), ...hands, thingList("On the table", deal.table.map((gem) => gemCard(gem)))];
}

// --- the sheet, and what was answered ---

function sleuthSheet(table, { odds, marks }) {
  const { board } = table;
  const open = Object.values(board.items).filter((signs) => signs[board.places.indexOf("missing")] !== "-").length;
  const about = (colour) => ({
    title: colour,
    items: ROWS_OF_GEMS.map((row) => `${colour}-${row}`),
    places: board.places,
    head: (gem) => [gemPicture(gem), make("span", { class: "head-words" }, unseen(`${colour} `), gem.slice(colour.length + 1).replace("-", " "))],
    word: spoken,
    text: (gem, place, sign) => SIGNS[sign],
  });
  const tables = COLOURS.map((colour) => make("div", { class: `sheet-box sheet-${colour}` }, sheetTable(about(colour), board, odds, marks)));
  return [
    regionHead("Information sheet"),
    make("p", { class: "sheet-summary" }, `${counted(open, "gem")} may be missing.`),
    make("div", { class: "sheets", "data-places": String(board.places.length) }, tables),
    sheetLegend(Boolean(marks), odds, [...Object.entries(SIGNS).map(([sign, glyph]) => [glyph, SIGN_WORDS[sign]]), ["gone", "missing"]]),
  ];
}

function answersTable(table) {
  const { seats } = table.facts;
  const asked = new Set(Object.values(seats).flatMap((seat) => Object.keys(seat.answers)));
  if (!asked.size) return [];
  const cell = (label, question) => {
    const number = seats[label].answers[question];
    if (number === undefined) return make("td", { class: "muted" }, "·");
    const whom = seats[label].askers[question].join(" ");
    return make("td", { "data-answer": `${label} ${question}` }, make("b", {}, String(number)), make("span", { class: "asker" }, unseen("asked by"), ` ${whom}`));
  };
  const rows = questionOrder([...asked]).map((question) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("span", { class: "sheet-head" }, gemPicture(question), make("span", {}, spoken(question)))),
      table.players.map(({ label }) => cell(label, question)),
    ),
  );
  const heads = table.players.map(({ label }) => make("th", { scope: "col" }, label));
  return [
    regionHead("Answers"),
    make("p", { class: "muted" }, "How many gems each player has, and who asked."),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": "Answers", "data-scroll": "answers" },
      make(
        "table",
        { class: "answers" },
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "question"), heads)),
        make("tbody", {}, rows),
      ),
    ),
  ];
}

/** Put questions into the order of the notation: one word, then colour and kind, colour and type, kind and type. */
function questionOrder(questions) {
  const order = [...COLOURS, ...KINDS, ...TYPES, ...pairsOf(COLOURS, KINDS), ...pairsOf(COLOURS, TYPES), ...pairsOf(KINDS, TYPES)];
  return order.filter((question) => questions.includes(question));
}

function pairsOf(first, second) {
  return first.flatMap((one) => second.map((other) => `${one}-${other}`));
}

function bestQuestions(questions) {
  if (!questions?.length) return [];
  const lines = questions.slice(0, ASKED_BEST).map(({ name, information, decides }) =>
    make("li", {}, make("b", {}, name), `: ${information.toFixed(2)} bits`, decides > 0 ? `, settles it in ${Math.round(decides * 100)} %` : ""),
  );
  return [regionHead("Questions that tell most"), make("ol", { class: "best-questions", "data-questions": true }, lines)];
}

function spentCards(facts) {
  if (!facts.discards.length) return [];
  return [
    make(
      "details",
      { class: "spent" },
      make("summary", {}, `Discarded search cards: ${facts.discards.length}`),
      make("ul", { class: "things" }, facts.discards.map((card) => make("li", {}, searchCard(card)))),
    ),
  ];
}

// --- choosing an action ---

function sleuthActions(table, tools) {
  const starts = (word) => table.legal.filter((name) => name.startsWith(`${word} `));
  const asks = starts("ask");
  const finals = starts("final");
  const accusations = starts("accuse");
  const plain = table.legal.filter((name) => !name.includes(" "));
  const mode = tools.picks.mode ?? (asks.length ? "ask" : accusations.length === table.legal.length ? "accuse" : "");
  const lead = (word, names, text) =>
    names.length ? leadButton(tools, word, mode === word, { mode: word }, { class: "button" }, text) : null;
  return [
    make("h2", { class: "unseen" }, "What you can do"),
    make(
      "div",
      { class: "choices", role: "group", "aria-label": "What you can do" },
      lead("ask", asks, "Ask a question"),
      lead("final", finals, "Final question"),
      plain.map((name) => plainButton(table, tools, name)),
      lead("accuse", accusations, accusations.length && table.facts.named.length ? "Name another gem" : "Accuse"),
    ),
    mode === "ask" ? asking(table, tools, asks) : null,
    mode === "final" ? askingLast(table, tools, finals) : null,
    mode === "accuse" ? accusing(table, tools, accusations) : null,
  ];
}

function plainButton(table, tools, name) {
  const offer = table.facts.phase === "offer";
  const words = { exchange: "Exchange cards", pass: offer ? "Pass" : "Pass: end my turn" }[name] ?? name;
  return actionButton(tools, name, { class: name === "pass" ? "button button-main" : "button" }, words);
}

function asking(table, tools, asks) {
  const { target, question } = tools.picks;
  const ways = asks.map((name) => wayOf(name)).filter((way) => way.target === target);
  const cards = ways.filter((way) => way.question === question);
  return [
    targets(table, tools, asks, "ask"),
    target ? questionGrid(table, tools, groupedByQuestion(ways), `ask ${target}`) : null,
    cards.length > 1
      ? stepGroup(
          `Which card do you pay for ${spoken(question)} with?`,
          "cards",
          make("div", { class: "choices" }, cards.map((way) => actionButton(tools, way.name, { class: "button" }, searchCard(way.card)))),
        )
      : null,
  ];
}

function askingLast(table, tools, finals) {
  const { target } = tools.picks;
  const ways = finals.map((name) => wayOf(name)).filter((way) => way.target === target);
  return [
    make("p", { class: "muted" }, "Free, and any question at all; but right after it you must accuse."),
    targets(table, tools, finals, "final"),
    target ? questionGrid(table, tools, groupedByQuestion(ways), `final ${target}`) : null,
  ];
}

/** Take the name of a question that can be asked apart: ask +2 blue-opal with free-blue. */
function wayOf(name) {
  const [, target, question, , card] = name.split(" ");
  return { name, target, question, card: card ?? null };
}

function groupedByQuestion(ways) {
  const groups = new Map();
  for (const way of ways) groups.set(way.question, [...(groups.get(way.question) ?? []), way]);
  return groups;
}

function targets(table, tools, names, mode) {
  const can = new Set(names.map((name) => wayOf(name).target));
  const buttons = table.players
    .filter(({ label }) => can.has(label))
    .map((player) =>
      leadButton(tools, `${mode} ${player.label}`, tools.picks.target === player.label, { mode, target: player.label }, { class: "button" }, seatWords(player)),
    );
  return stepGroup("Whom do you ask?", "targets", make("div", { class: "choices" }, buttons));
}

/** All questions, where one finds them by their words; those that can be asked are buttons. */
function questionGrid(table, tools, groups, leads) {
  const best = new Map((tools.questions ?? []).map(({ name }, rank) => [name, rank]));
  const answers = table.facts.seats[tools.picks.target].answers;
  const square = (question) => {
    const note = answers[question] === undefined ? null : make("span", { class: "known-answer" }, unseen(", answered before: "), String(answers[question]));
    const star = best.has(`ask ${tools.picks.target} ${question}`) && best.get(`ask ${tools.picks.target} ${question}`) < ASKED_BEST;
    const content = [gemPicture(question), make("span", { class: "question-words" }, spoken(question)), star ? make("span", { class: "star" }, "★", unseen("tells much")) : null, note];
    return make("td", {}, questionButton(tools, groups.get(question), leads, question, content));
  };
  const row = (head, questions) => make("tr", {}, head, questions.map(square));
  const first = ["", ...KINDS, ...TYPES];
  const marked = [...best].some(([name, rank]) => rank < ASKED_BEST && name.startsWith(`ask ${tools.picks.target} `));
  return stepGroup(
    "What do you ask for?",
    "questions",
    make(
      "div",
      { class: "question-grids" },
      make(
        "table",
        { class: "questions" },
        make("caption", { class: "unseen" }, "Questions with a colour, or with one word"),
        make("tbody", {}, row(make("td", {}), first.slice(1)), COLOURS.map((colour) => row(null, first.map((word) => (word ? `${colour}-${word}` : colour))))),
      ),
      make(
        "table",
        { class: "questions questions-small" },
        make("caption", { class: "unseen" }, "Questions with a kind and a type"),
        make("tbody", {}, KINDS.map((kind) => row(null, TYPES.map((type) => `${kind}-${type}`)))),
      ),
    ),
    questionLegend(table, tools, groups, marked),
  );
}

function questionButton(tools, ways, leads, question, content) {
  // On a phone there is room for single words only, which then head rows and columns.
  const kind = question.includes("-") ? "question" : "question question-one";
  if (!ways) return make("span", { class: `${kind} question-not` }, content);
  if (ways.length === 1) {
    if (!ways[0].card) return actionButton(tools, ways[0].name, { class: kind }, content);
    const paid = `paid with ${spoken(ways[0].card)}`;
    return actionButton(tools, ways[0].name, { class: kind, title: `Asks at once, ${paid}` }, content, unseen(`, ${paid}`), hoverWords(paid));
  }
  const picks = { ...tools.picks, mode: "ask", question };
  const pay = `${ways.length} cards can pay`;
  const title = `${pay}: you choose one of them next`;
  return leadButton(tools, `${leads} ${question}`, tools.picks.question === question, picks, { class: kind, title }, content, unseen(`, ${pay}`), hoverWords(pay));
}

/** Words beside a button that are there while it is pointed at or has the focus; it says them itself to a reader. */
function hoverWords(words) {
  return make("span", { class: "hover-words", "aria-hidden": "true" }, words);
}

/** Explain what stands on the questions, as far as it does. */
function questionLegend(table, tools, groups, best) {
  const { target } = tools.picks;
  const answers = table.facts.seats[target].answers;
  const ways = [...groups.values()];
  const signs = [
    Object.keys(answers).length ? [make("span", { class: "known-answer" }, "2"), " answered before: so many"] : null,
    best ? [make("b", {}, "★"), " tells much"] : null,
  ];
  const free = ways.every(([{ card }]) => card === null);
  const pay = free ? null : "One click asks, and pays with the only card that can; where several can, you choose.";
  return make("p", { class: "legend question-legend" }, pay ? make("span", {}, pay) : null, signs.filter(Boolean).map((sign) => make("span", {}, sign)));
}

function accusing(table, tools, accusations) {
  const can = new Set(accusations.map((name) => name.split(" ")[1]));
  const { board, facts, options } = table;
  const missing = board.places.indexOf("missing");
  const square = (gem) => {
    const sign = board.items[gem][missing];
    const words = sign === "-" ? "certainly not missing" : sign === "h" ? "certainly missing" : "may be missing";
    const content = [gemPicture(gem, "medium"), make("span", { class: "unseen" }, `${spoken(gem)}, ${words}`), make("span", { "aria-hidden": "true", class: "gem-sign" }, SIGNS[sign])];
    if (!can.has(gem)) return make("td", {}, make("span", { class: "accusation accusation-not" }, content));
    return make("td", {}, actionButton(tools, `accuse ${gem}`, { class: `accusation accusation-${sign === "-" ? "no" : "yes"}` }, content));
  };
  const rows = COLOURS.map((colour) => make("tr", {}, ROWS_OF_GEMS.map((row) => square(`${colour}-${row}`))));
  const heads = (words) => words.map((word) => make("th", { scope: "col" }, word));
  const left = options.missing - facts.named.length;
  return stepGroup(
    options.missing === 1 ? "Which gem is missing?" : `Which gems are missing? ${counted(left, "more gem")} to name`,
    "accuse",
    make("p", { class: "muted" }, "1 solitaire, 2 pair, 3 cluster"),
    facts.named.length ? thingList("Named so far", facts.named.map((gem) => gemCard(gem))) : null,
    make(
      "div",
      { class: "scroll", "data-scroll": "accuse" },
      make(
        "table",
        { class: "accusations" },
        make("caption", { class: "unseen" }, "All gems: a row for each colour"),
        make("thead", {}, make("tr", { class: "wide-heads" }, KINDS.map((kind) => make("th", { scope: "colgroup", colspan: "3" }, kind))), make("tr", {}, heads(KINDS.flatMap(() => ["1", "2", "3"])))),
        make("tbody", {}, rows),
      ),
    ),
  );
}
