// A table as one seat sees it: drawn from one message, for a game that is played and for a replay.

import { make } from "./dom.js";
import { drawHolmes } from "./holmes.js";
import { toldLine } from "./seats.js";
import { drawSleuth } from "./sleuth.js";

const DRAW = { sleuth: drawSleuth, holmes: drawHolmes };
// Regions in their order on a narrow screen; a hand of Holmes is played from, and what is asked then comes below it.
const LEFT = {
  sleuth: ["status", "ending", "actions", "hand", "players", "log"],
  holmes: ["status", "ending", "hand", "actions", "players", "log"],
};
const RIGHT = ["sheet", "notes"];
// So many of the last lines of the log stand beside what is asked for, too.
const MOST_NEWS = 4;
// What has been drawn into a root: its regions, and what has been picked on the way to an action.
const drawn = new WeakMap();

/**
 * Draw a table into an element. It may be drawn again at any time: the log is added to, the focus stays.
 * @param {HTMLElement} root its content is replaced
 * @param {Object} table a table message
 * @param {Object} tools
 * @param {?function(string): void} tools.choose called with a legal action that has been clicked; null: nothing can be
 * @param {?Object} tools.odds what `board.odds` gave, or null
 * @param {?Array} tools.questions what `board.questions` gave, or null
 * @param {?Object} tools.marks pencil marks: an object with get(item, place) and cycle(item, place); or null
 */
export function drawTable(root, table, { choose = null, odds = null, questions = null, marks = null } = {}) {
  const before = drawn.get(root);
  const kept = before && before.game === table.game ? before : begin(root, table);
  // What was picked leads to actions of another decision.
  if (kept.decision !== table.decision || kept.legal !== table.legal.join()) kept.picks = {};
  kept.decision = table.decision;
  kept.legal = table.legal.join();
  const act = choose && ((action) => table.legal.includes(action) && choose(action));
  const again = () => drawTable(root, table, { choose, odds, questions, marks });
  const pick = (picks) => {
    kept.picks = picks;
    again();
    [...root.querySelectorAll(".region-actions .step")].at(-1)?.scrollIntoView({ block: "nearest" });
  };
  if (choose) noteNews(kept, table);
  const news = choose && !table.ended ? table.log.slice(newsFrom(kept, table)).slice(-MOST_NEWS) : [];
  root.dataset.game = table.game;
  root.dataset.decision = table.decision ?? "";
  const tools = { choose: act, odds, questions, marks, news, picks: kept.picks, pick };
  const parts = DRAW[table.game](root, table, tools);
  keepingFocus(root, () => {
    for (const [name, region] of Object.entries(kept.regions)) {
      if (name !== "log") fill(region, parts[name] ?? []);
    }
  });
  writeLog(kept.log, table.log);
  if (choose) markNews(kept, table);
}

/** Keep in mind what had been told when the viewer was last to decide. */
function noteNews(kept, table) {
  // A new game begins a new log.
  if (table.log.length < kept.news.length) kept.news = { decision: null, from: 0, length: 0 };
  if (table.decision === null || table.decision === kept.news.decision) return;
  // A decision after which nothing was told, such as a pass, does not make old what was new before it.
  const from = table.log.length > kept.news.length ? kept.news.length : kept.news.from;
  kept.news = { decision: table.decision, from, length: table.log.length };
}

/** Return with which line of the log begins what has happened since the last decision of the viewer. */
function newsFrom(kept, table) {
  const asked = table.decision !== null || table.log.length === kept.news.length;
  return asked ? kept.news.from : kept.news.length;
}

function markNews(kept, table) {
  const from = newsFrom(kept, table);
  [...kept.log.children].forEach((line, number) => line.classList.toggle("log-new", number >= from));
}

function begin(root, table) {
  const regions = Object.fromEntries([...LEFT[table.game], ...RIGHT].map((name) => [name, make("section", { class: `region region-${name}` })]));
  const log = make("ol", { "data-log": true });
  // The box scrolls, so the keyboard must reach it.
  const box = make("div", { class: "log-box", role: "log", "aria-live": "polite", "aria-label": "What has happened", tabindex: "0" }, log);
  regions.log.append(make("h2", {}, "What has happened"), box);
  root.classList.add("table");
  root.replaceChildren(...[LEFT[table.game], RIGHT].map((names) => make("div", { class: "column" }, names.map((name) => regions[name]))));
  const kept = { game: table.game, regions, log, picks: {}, decision: null, legal: "", news: newsAtFirst(table) };
  drawn.set(root, kept);
  return kept;
}

/** A page that has just been opened does not know the last decision: the last lines are new to it. */
function newsAtFirst(table) {
  return { decision: null, from: Math.max(0, table.log.length - MOST_NEWS), length: table.log.length };
}

function fill(region, children) {
  region.replaceChildren(...children.flat(Infinity).filter(Boolean));
  region.hidden = !region.childElementCount;
}

/** Draw something anew and put the focus back to where it was, by the key of the element. */
function keepingFocus(root, draw) {
  const held = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const tops = [...root.querySelectorAll("[data-scroll]")].map((box) => [box.dataset.scroll, box.scrollLeft, box.scrollTop]);
  draw();
  for (const [key, left, top] of tops) {
    root.querySelector(`[data-scroll="${key}"]`)?.scrollTo({ left, top, behavior: "instant" });
  }
  if (held) [...root.querySelectorAll("[data-key]")].find((element) => element.dataset.key === held)?.focus({ preventScroll: true });
}

/** Add what is new to the log; what was there is left alone, so that a screen reader reads the new lines only. */
function writeLog(list, lines) {
  const told = [...list.children];
  let same = 0;
  while (same < told.length && same < lines.length && told[same].dataset.line === lines[same]) same += 1;
  for (const old of told.slice(same)) old.remove();
  const more = lines.slice(same);
  if (!more.length && same === told.length) return;
  list.append(...more.map((line) => logLine(line)));
  const box = list.parentElement;
  box.scrollTop = box.scrollHeight;
}

function logLine(line) {
  const item = toldLine(line);
  item.dataset.line = line;
  return item;
}
