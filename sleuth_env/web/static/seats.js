// What the tables of both games show of their players.

import { make, unseen } from "./dom.js";

// What is told at the end is laid out for a terminal: a line of so many columns is one of a table, and a line that
// begins so goes on with the one before.
const LEAST_COLUMNS = 5;
const GOES_ON = " ".repeat(8);

/**
 * Say who sits in a seat: the name, and the distance to the left, as actions have it.
 * @param {{label: string, name: string}} player
 * @returns {string}
 */
export function seatWords(player) {
  return player.label === "you" ? "you" : `${player.name} (${player.label})`;
}

/**
 * Head the hand of a player.
 * @param {{label: string, name: string}} player
 * @returns {string}
 */
export function handTitle(player) {
  return player.label === "you" ? "Your hand" : `Hand of ${seatWords(player)}`;
}

/**
 * Draw a player: name, what sits there, how things stand, and more.
 * @param {{label: string, name: string, who: string}} player
 * @param {Object} about
 * @param {boolean} about.turn whether it is their turn
 * @param {boolean} about.out whether they are out
 * @param {string} about.standing in words; "" for nothing in particular
 * @param {...Node} children
 * @returns {HTMLElement}
 */
export function playerPanel(player, { turn, out = false, standing = "" }, ...children) {
  const you = player.label === "you";
  const classes = ["player", you ? "player-you" : "", turn ? "player-turn" : "", out ? "player-out" : ""];
  return make(
    "li",
    { class: classes.filter(Boolean).join(" "), "data-player": player.label },
    make(
      "h3",
      {},
      make("span", { class: "seat-badge" }, player.label),
      " ",
      make("span", { class: "player-name" }, player.name),
      make("span", { class: "player-who" }, you ? "" : ` ${player.who}`),
    ),
    standing || turn
      ? make("p", { class: "player-standing" }, turn ? make("span", { class: "turn-flag" }, "▶ has the turn") : null, turn && standing ? " " : null, standing)
      : null,
    ...children,
  );
}

/**
 * Draw a list of small things with a heading before it.
 * @param {string} title
 * @param {Node[]} things
 * @param {string} none said where there are none; "" to leave the list out then
 * @returns {?HTMLElement}
 */
export function thingList(title, things, none = "") {
  if (!things.length && !none) return null;
  const list = things.length ? make("ul", { class: "things" }, things.map((thing) => make("li", {}, thing))) : make("p", { class: "muted" }, none);
  return make("div", { class: "thing-list" }, make("h3", {}, title), list);
}

/**
 * Head the table: what is asked of the viewer, and where the game stands.
 * @param {Object} table a table message
 * @param {string} where the turn, in words
 * @param {string} waiting what is said while the viewer has nothing to decide
 * @param {string[]} news the last lines of the log, as far as they are new
 * @returns {Node[]}
 */
export function statusLines(table, where, waiting, news) {
  const asked = table.legal.length > 0;
  const prompt = asked ? table.prompt : table.ended ? "the game is over" : waiting;
  return [
    make("p", { class: "where" }, where),
    justNow(news),
    make("h2", { class: asked ? "prompt prompt-asked" : "prompt", "data-prompt": true }, prompt[0].toUpperCase() + prompt.slice(1)),
    ...(asked ? table.announcement : []).map((line) => make("p", { class: "announcement" }, line)),
  ];
}

/** Repeat what has just been told, for eyes: the log, which may be far below, is what is read out. */
function justNow(news) {
  if (!news.length) return null;
  return make(
    "div",
    { class: "just-now", "data-just-now": true },
    make("p", { class: "just-now-title", id: "just-now" }, "Just now"),
    make("ul", { "aria-labelledby": "just-now" }, news.map((line) => toldLine(line))),
  );
}

/**
 * Make a line of what was told; what only the viewer was told is marked.
 * @param {string} line as the message has it
 * @returns {HTMLElement}
 */
export function toldLine(line) {
  return make("li", { class: line.startsWith("    ") ? "log-private" : null }, line.trim());
}

/**
 * Show how the game ended: what is told, then all hands.
 * @param {Object} table a table message
 * @param {function(Object): Node[]} drawDeal draws what `deal` holds
 * @returns {Node[]}
 */
export function endingLines(table, drawDeal) {
  if (!table.ended) return [];
  const [first, ...rest] = table.ended.lines;
  return [
    make("h2", {}, "The end"),
    make("p", { class: "ending-first" }, first),
    make("div", { class: "ending-lines" }, endingParts(rest)),
    ...drawDeal(table.ended.deal),
  ];
}

/** Lines in columns become a table, and those that go on with the line before are put to it: so all fits a phone. */
function endingParts(lines) {
  const parts = [];
  for (const line of lines) {
    const cells = line.split(/ {2,}/);
    const last = parts.at(-1);
    if (cells.length >= LEAST_COLUMNS) {
      if (last?.rows) last.rows.push(cells);
      else parts.push({ rows: [cells] });
    } else if (last?.text && line.startsWith(GOES_ON)) {
      last.text += ` ${line.trim()}`;
    } else {
      parts.push({ text: line.trim(), isIndented: line.startsWith(" ") });
    }
  }
  return parts.map(({ rows, text, isIndented }) => (rows ? endingTable(rows) : make("p", { class: isIndented ? "ending-indented" : null }, text)));
}

function endingTable([heads, ...rows]) {
  const head = heads.map((word) => (word ? make("th", { scope: "col" }, word) : make("td", {})));
  const row = ([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), rest.map((word) => make("td", {}, word)));
  return make("table", { class: "ending-table" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows.map(row)));
}

/**
 * Say a number of things.
 * @param {number} number
 * @param {string} one what one is called
 * @returns {string}
 */
export function counted(number, one) {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}

/**
 * Head a region with its name and a number.
 * @param {string} title
 * @param {?number} number
 * @returns {HTMLElement}
 */
export function regionHead(title, number = null) {
  return make("h2", {}, title, number === null ? null : make("span", { class: "count" }, unseen(": "), ` ${number}`));
}
