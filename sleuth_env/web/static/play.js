// The page of one seat: it shows what the server says of the table, and says what has been clicked.

import { ACTIONS } from "./actions.js";
import { make, reasonIn } from "./dom.js";
import { keptTables, linkItems } from "./links.js";
import { Marks } from "./marks.js";
import { drawTable } from "./table.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const QUIET = 150;
// Who sits in a seat of a person, as a table message has it.
const PEOPLE = ["you", "person"];
// What is asked for in the place of a seed that the server is to draw.
const OTHER_CARDS = "new";
// The code with which a server that is being restarted closes its connections.
const RESTARTED = 1012;
const byId = (id) => document.getElementById(id);

const page = {
  socket: null,
  wait: FIRST_WAIT,
  closed: null, // why the server has closed the connection
  table: null,
  hello: null,
  odds: null, // { odds, questions, why } of the table that is shown
  wantsOdds: false,
  sent: null, // the decision that has been answered, so that a double click answers it once
  marks: null,
  timer: 0,
};

// --- talking with the server ---

function socketAddress() {
  const address = new URL(`${location.pathname}/socket`, location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}

function connect() {
  const socket = new WebSocket(socketAddress());
  page.socket = socket;
  page.closed = null;
  byId("retry").hidden = true;
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", (event) => {
    delete byId("table").dataset.connected;
    page.sent = null;
    if (page.closed !== null && event.code !== RESTARTED) refusedForGood();
    else lost();
  });
}

/** Leave it to the person to try again: the server has said why it will not go on. */
function refusedForGood() {
  notice(closedWords());
  byId("retry").hidden = false;
}

function closedWords() {
  return `Closed: ${page.closed}`;
}

/** Try again after a while that grows, until the server is there again. */
function lost() {
  notice(`The connection is lost. Trying again in ${Math.ceil(page.wait / 1000)} s; the game goes on where it was.`);
  setTimeout(connect, page.wait);
  page.wait = Math.min(page.wait * 2, LONGEST_WAIT);
}

function send(message) {
  if (page.socket?.readyState !== WebSocket.OPEN) return false;
  page.socket.send(JSON.stringify(message));
  return true;
}

const RECEIVERS = {
  hello(message) {
    page.hello = message;
  },
  table(message) {
    if (knowledgeOf(message) !== knowledgeOf(page.table)) page.odds = null;
    if (message.decision !== page.sent) page.sent = null;
    page.table = message;
    page.marks = new Marks(marksKey(message), keeping());
    // Only a connection on which something has come is a good one.
    page.wait = FIRST_WAIT;
    byId("table").dataset.connected = "true";
    notice("");
    askForOdds();
    draw();
  },
  odds(message) {
    page.odds = message;
    if (!message.odds) notice(`There are no odds: ${message.why ?? "they cannot be counted"}.`);
    draw();
  },
  refused(message) {
    page.sent = null;
    notice(`Not done: ${message.why}`);
    draw();
  },
  closed(message) {
    page.closed = String(message.why);
    notice(closedWords());
  },
};

function receive(message) {
  RECEIVERS[message.type]?.(message);
}

/** What odds depend on: while it stays the same, so do they. */
function knowledgeOf(table) {
  return table && JSON.stringify([table.board, table.log.length, table.facts.hand]);
}

/** Ask for odds where they are wanted, once the table has been quiet for a moment: bots move fast. */
function askForOdds() {
  clearTimeout(page.timer);
  if (!page.wantsOdds || page.odds || page.table.ended) return;
  page.timer = setTimeout(() => send({ type: "odds" }), QUIET);
}

// --- what is shown ---

function draw() {
  const { table } = page;
  if (!table) return;
  document.title = `${table.legal.length ? "● " : ""}${table.title}`;
  byId("title").textContent = table.title;
  // Read out when it changes: what is asked for.
  const asked = table.legal.length ? table.prompt : "";
  if (byId("turn").textContent !== asked) byId("turn").textContent = asked;
  drawTable(byId("table"), table, {
    choose: table.ended ? null : choose,
    odds: page.wantsOdds ? (page.odds?.odds ?? null) : null,
    questions: page.wantsOdds ? (page.odds?.questions ?? null) : null,
    marks: page.marks,
  });
  byId("odds").hidden = Boolean(table.ended);
  showLinks(table);
  drawAfter(table);
}

/** Whoever made the table has the links of the others at hand, open until something has happened. */
function showLinks(table) {
  const made = keptTables().find(({ yours }) => yours === location.pathname);
  const links = byId("links");
  links.hidden = !made || Boolean(table.ended);
  if (links.hidden) return;
  if (!byId("links-list").childElementCount) {
    byId("links-list").replaceChildren(...linkItems(made));
    links.open = !table.log.length;
  }
  const begun = String(table.log.length > 0);
  // Once: whoever opens it later keeps it open.
  if (links.dataset.begun === "false" && begun === "true") links.open = false;
  links.dataset.begun = begun;
}

function notice(text) {
  byId("notice").textContent = text;
}

/** A store that survives the page, where the browser allows one. */
function keeping() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** Marks belong to a seat at a table and to a deal: the hand tells one deal from another. */
function marksKey(table) {
  const deal = table.game === "sleuth" ? table.facts.hand.join() : String(table.facts.case_number);
  return `marks ${location.pathname} ${deal}`;
}

// --- what is clicked ---

async function choose(action) {
  const { decision, doubts } = page.table;
  if (page.sent === decision) return;
  const why = doubts[action];
  if (why && !(await isSure(action, why))) return;
  // The table may have changed while the question stood there.
  if (page.table.decision !== decision) return;
  if (!send({ type: "act", decision, action })) return notice(["Not connected: it was not done.", page.closed === null ? "" : closedWords()].join(" ").trim());
  page.sent = decision;
  // What happens next is told at the top; whoever reads elsewhere while others play is left there.
  document.querySelector(".region-status").scrollIntoView({ block: "nearest" });
}

function isSure(action, why) {
  const dialog = byId("doubt-dialog");
  byId("doubt-title").textContent = `${action}: are you sure?`;
  byId("doubt-why").textContent = why;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

function toggleOdds() {
  page.wantsOdds = !page.wantsOdds;
  byId("odds").setAttribute("aria-pressed", String(page.wantsOdds));
  askForOdds();
  draw();
}

function showRules() {
  const rules = page.hello?.rules ?? [];
  const actions = ACTIONS[page.table?.game] ?? [];
  byId("rules-text").replaceChildren(
    ...rules.map((text) => make("p", {}, text)),
    // The forms that `hello` brings are for whoever types.
    make("h3", {}, "What can be done"),
    make("dl", { class: "forms" }, actions.map(([action, meaning]) => [make("dt", {}, action), make("dd", {}, meaning)])),
  );
  byId("rules-dialog").showModal();
  // Not to the button at its end, to which it would scroll.
  byId("rules-title").focus();
  byId("rules-dialog").scrollTop = 0;
}

// --- after the end ---

function drawAfter(table) {
  const section = byId("after");
  const show = Boolean(table.ended);
  if (section.hidden === !show && show && section.dataset.replay === table.ended.replay) return;
  section.hidden = !show;
  section.dataset.replay = table.ended?.replay ?? "";
  if (!show) return section.replaceChildren();
  section.replaceChildren(
    make("h2", {}, "What now?"),
    make(
      "div",
      { class: "choices" },
      make("a", { class: "button button-main", href: table.ended.replay, id: "replay" }, "Look at the replay"),
      newGames(table),
      make("a", { class: "button", href: `${location.pathname}/text`, id: "text" }, "The game as text"),
    ),
    ...seedLine(table.ended.seed),
  );
}

/** Where several people play, nobody may deal cards that somebody knows. */
function newGames(table) {
  const button = (id, seed, words) => make("button", { type: "button", class: "button", id, onclick: () => again(seed) }, words);
  const people = table.players.filter(({ who }) => PEOPLE.includes(who));
  if (people.length > 1) return [button("again-other", OTHER_CARDS, "New game")];
  return [button("again", null, "New game, the same cards"), button("again-other", OTHER_CARDS, "New game, other cards")];
}

/** A seed has up to 20 digits, more than a number here can hold: it is a text, and stays one. */
function seedLine(seed) {
  if (seed === undefined || seed === null) return [];
  return [make("p", { class: "muted after-seed" }, "Seed of these cards: ", make("span", { id: "seed" }, String(seed)))];
}

/**
 * Ask for a new game at this table.
 * @param {?string} seed null: the same cards
 */
async function again(seed) {
  try {
    const answer = await fetch(`${location.pathname}/again`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ seed }),
    });
    if (!answer.ok) notice(`There is no new game: ${reasonIn(await answer.text())}`);
  } catch {
    notice("The server does not answer.");
  }
}

byId("odds").addEventListener("click", toggleOdds);
byId("rules").addEventListener("click", showRules);
byId("erase").addEventListener("click", () => {
  page.marks?.clear();
  draw();
});
byId("retry-now").addEventListener("click", () => {
  notice("");
  connect();
});
connect();
