// The page on which a table is made: a game, its players and options, then the links of the people.

import { make, reasonIn } from "./dom.js";
import { keepTable, keptTables, linkItems } from "./links.js";

const PERSON_SEAT = "person";
const YOU_SEAT = "you";
const DEFAULT_PLAYERS = 4;
const field = (id) => document.getElementById(id);

const form = { games: [], game: null, seats: [] };

async function begin() {
  try {
    const answer = await fetch("/games");
    form.games = (await answer.json()).games;
  } catch {
    field("form").hidden = false;
    return say("The server does not answer. Load the page again.");
  }
  field("games").replaceChildren(...form.games.map((game, number) => gameChoice(game, number)));
  field("form").hidden = false;
  chooseGame(form.games[0]);
}

function gameChoice(game, number) {
  const radio = make("input", { type: "radio", name: "game", value: game.name, class: "unseen", onchange: () => chooseGame(game) });
  radio.checked = number === 0;
  return make(
    "label",
    { class: "game-option" },
    radio,
    make("b", {}, game.title),
    make("span", { class: "field-help" }, `${game.players[0]} to ${game.players.at(-1)} players`),
  );
}

function chooseGame(game) {
  form.game = game;
  const [goal, ...rules] = game.rules ?? [];
  field("goal").textContent = goal ?? "";
  field("rules").replaceChildren(...rules.map((text) => make("p", {}, text)));
  const count = game.players.includes(DEFAULT_PLAYERS) ? DEFAULT_PLAYERS : game.players[0];
  const choices = game.players.map((number) => make("option", { value: number }, String(number)));
  field("players").replaceChildren(...choices);
  field("players").value = String(count);
  field("options").replaceChildren(...game.options.map((option) => optionField(option)));
  form.seats = [];
  choosePlayers();
}

/** Fit the seats to the number of players: seats that were there keep who sits in them. */
function choosePlayers() {
  const count = Number(field("players").value);
  const names = botsFor(count);
  const bot = form.game.default_bot ?? names.at(-1);
  form.seats = Array.from({ length: count }, (_, seat) => {
    const kept = form.seats[seat] ?? (seat === 0 ? YOU_SEAT : bot);
    return [YOU_SEAT, PERSON_SEAT, ...names].includes(kept) ? kept : bot;
  });
  if (!form.seats.includes(YOU_SEAT)) form.seats[0] = YOU_SEAT;
  drawSeats();
}

/** Bots play with any number of players, a policy with the number that its name ends in. */
function botsFor(count) {
  const fits = (policy) => (policy.match(/(\d+)p$/)?.[1] ?? String(count)) === String(count);
  return [...form.game.bots, ...(form.game.policies ?? []).filter(fits)];
}

function drawSeats() {
  const bots = botsFor(form.seats.length);
  const words = (who) => ({ [YOU_SEAT]: "you", [PERSON_SEAT]: "another person" })[who] ?? who;
  const seats = form.seats.map((who, seat) => {
    const options = [YOU_SEAT, PERSON_SEAT].map((name) => make("option", { value: name }, words(name)));
    const group = make("optgroup", { label: "bots" }, bots.map((name) => make("option", { value: name }, name)));
    const select = make("select", { id: `seat-${seat}`, onchange: (event) => sit(seat, event.target.value) }, options, group);
    select.value = who;
    return make("li", { class: who === YOU_SEAT ? "seat seat-you" : "seat" }, make("label", { for: `seat-${seat}` }, `Seat ${seat}`), select);
  });
  field("seats").replaceChildren(...seats);
}

/** Put somebody into a seat; there is one of you. */
function sit(seat, who) {
  const before = form.seats.indexOf(YOU_SEAT);
  const swapped = form.seats[seat];
  form.seats[seat] = who;
  if (who === YOU_SEAT && before !== seat) form.seats[before] = swapped;
  if (!form.seats.includes(YOU_SEAT)) form.seats[(seat + 1) % form.seats.length] = YOU_SEAT;
  drawSeats();
  field(`seat-${seat}`).focus();
}

// --- options ---

function optionField(option) {
  const id = `option-${option.name}`;
  const label = option.name.replaceAll("_", " ");
  const help = make("span", { class: "field-help", id: `${id}-help` }, [option.help, valuesToSay(option)].filter(Boolean).join("; "));
  const about = { id, "data-option": option.name, "aria-describedby": `${id}-help` };
  if (typeof option.default === "boolean") {
    const box = make("input", { type: "checkbox", ...about });
    box.checked = option.default;
    return make("div", { class: "check" }, box, make("div", {}, make("label", { for: id }, label), make("br"), help));
  }
  const control = option.choices
    ? make("select", about, option.choices.map((choice) => make("option", { value: String(choice) }, String(choice).replaceAll("_", " "))))
    : make("input", { type: "number", min: option.least, max: option.most, required: true, ...about });
  control.value = String(option.default);
  return make("div", { class: "field" }, make("label", { for: id }, label), control, help);
}

/** What a control does not show by itself: the values of a number, and what depends on other options. */
function valuesToSay(option) {
  return typeof option.default === "number" ? option.values : option.values?.split("; ")[1];
}

/** Return the options that differ from what they are by themselves. */
function chosenOptions() {
  const chosen = {};
  for (const option of form.game.options) {
    const control = field(`option-${option.name}`);
    const value = valueOf(option, control);
    if (value !== option.default) chosen[option.name] = value;
  }
  return chosen;
}

function valueOf(option, control) {
  if (typeof option.default === "boolean") return control.checked;
  if (typeof option.default === "number") return Number(control.value);
  return control.value;
}

// --- the table ---

async function submit(event) {
  event.preventDefault();
  say("");
  const seed = field("seed").value.trim();
  const asked = {
    game: form.game.name,
    players: form.seats.length,
    options: chosenOptions(),
    seats: form.seats.map((who) => (who === YOU_SEAT ? PERSON_SEAT : who)),
    // As a text: a number here does not hold all its digits.
    seed: seed || null,
  };
  field("make").disabled = true;
  try {
    const answer = await fetch("/tables", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
    if (!answer.ok) return say(reasonIn(await answer.text()));
    show((await answer.json()).seats);
  } catch {
    say("The server does not answer.");
  } finally {
    field("make").disabled = false;
  }
}

function say(text) {
  field("notice").textContent = text;
}

function show(seats) {
  const yours = seats.find(({ seat }) => form.seats[seat] === YOU_SEAT) ?? seats[0];
  if (seats.length === 1) return location.assign(yours.link);
  const table = { game: form.game.title, yours: yours.link, seats };
  keepTable(table);
  const sitDown = make("a", { class: "button button-main button-large", href: yours.link, id: "sit-down" }, "Sit down at the table");
  field("links").replaceChildren(...linkItems(table), make("li", {}, sitDown));
  field("form").hidden = true;
  field("kept").hidden = true;
  field("made").hidden = false;
  field("made").focus();
}

/** Whoever comes back to this page finds the links of the tables that were made before. */
function showKept() {
  const tables = keptTables().map((table, number) =>
    make(
      "details",
      { open: number === 0 },
      make("summary", {}, `${table.game}, ${table.seats.length} people`),
      make("ul", { class: "links" }, linkItems(table), make("li", {}, make("a", { class: "button", href: table.yours }, "Back to the table"))),
    ),
  );
  field("kept-tables").replaceChildren(...tables);
  field("kept").hidden = !tables.length;
}

field("form").addEventListener("submit", submit);
field("players").addEventListener("change", choosePlayers);
showKept();
begin();
