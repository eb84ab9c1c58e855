// The information sheet: tables of items and places, which fill in by themselves and take pencil marks.

import { make, unseen, unspoken } from "./dom.js";

export const SIGNS = { h: "●", m: "○", "-": "·" };
export const SIGN_WORDS = { h: "yes", m: "perhaps", "-": "no" };
const MARK_WORDS = { "✓": "yes", "✗": "no", "?": "perhaps" };
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/**
 * Draw one table of the sheet.
 * @param {Object} about
 * @param {string} about.title the caption
 * @param {string[]} about.items the rows
 * @param {string[]} about.places the columns, as the message names them
 * @param {function(string): Node[]} about.head draws the head of a row
 * @param {function(string): string} about.word says an item
 * @param {function(string, string, string): string} about.text what stands in a cell: item, place, sign
 * @param {Object} board what `board` of the message holds
 * @param {?Object} odds what `odds` holds, or null
 * @param {?Object} marks pencil marks, or null where none can be made
 * @returns {HTMLElement}
 */
export function sheetTable(about, board, odds, marks) {
  const { title, items, places } = about;
  const heads = places.map((place) =>
    make("th", { scope: "col", class: place === "draw pile" ? "sheet-place sheet-place-wide" : "sheet-place" }, unseen(placeWords(place)), unspoken(shortPlace(place))),
  );
  const table = make(
    "table",
    { class: `sheet${odds ? " sheet-odds" : ""}`, role: marks ? "grid" : null },
    make("caption", {}, title),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, unseen("card")), heads)),
    make("tbody", {}, items.map((item) => sheetRow(about, item, board, odds, marks))),
  );
  if (marks) rove(table);
  return table;
}

function sheetRow(about, item, board, odds, marks) {
  const signs = board.items[item];
  const known = signs.includes("h");
  return make(
    "tr",
    { class: known ? "sheet-known" : null },
    make("th", { scope: "row" }, make("span", { class: "sheet-head" }, about.head(item))),
    about.places.map((place, k) => sheetCell(about, item, place, signs[k], odds?.items[item]?.[k] ?? null, marks)),
  );
}

function sheetCell(about, item, place, sign, chance, marks) {
  const text = chance === null ? about.text(item, place, sign) : chanceText(chance);
  const words = chance === null ? SIGN_WORDS[sign] : `${percent(chance)} %`;
  const cell = make("td", { "data-item": item, "data-place": place, "data-sign": sign, class: `sign-${SIGN_WORDS[sign]}` });
  if (chance !== null) {
    cell.style.setProperty("--chance", chance);
    cell.classList.add("sheet-chance");
  }
  if (!marks) {
    cell.append(unspoken(text), unseen(text === SIGNS[sign] || chance !== null ? words : `${text}, ${words}`));
    return cell;
  }
  const label = `${about.word(item)}, ${placeWords(place)}: ${text === SIGNS[sign] ? words : `${text}, ${words}`}`;
  const button = make("button", { type: "button", tabindex: "-1", "data-key": `cell ${item} ${place}` }, text);
  cell.append(button);
  showMark(button, label, marks.get(item, place));
  button.addEventListener("click", () => showMark(button, label, marks.cycle(item, place)));
  return cell;
}

function showMark(button, label, mark) {
  button.querySelector(".pencil")?.remove();
  button.setAttribute("aria-label", mark ? `${label}; you marked ${MARK_WORDS[mark] ?? mark}` : label);
  if (mark) button.append(make("span", { class: "pencil" }, mark));
}

/** Let the arrow keys move in a table of which one cell at a time can be reached by Tab. */
function rove(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("button")]);
  if (rows[0]?.[0]) rows[0][0].tabIndex = 0;
  const move = (to, focus) => {
    for (const row of rows) for (const button of row) button.tabIndex = button === to ? 0 : -1;
    if (focus) to.focus();
  };
  table.addEventListener("focusin", (event) => event.target.matches("button") && move(event.target, false));
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const y = rows.findIndex((row) => row.includes(event.target));
    if (!step || y < 0) return;
    const to = rows[y + step[0]]?.[rows[y].indexOf(event.target) + step[1]];
    event.preventDefault();
    if (to) move(to, true);
  });
}

/**
 * Say a chance in whole per cent; what is not quite certain is not rounded to certainty.
 * @param {number} chance
 * @returns {string}
 */
export function percent(chance) {
  if (chance <= 0) return "0";
  if (chance >= 1) return "100";
  const rounded = Math.round(chance * 100);
  return rounded < 1 ? "<1" : rounded > 99 ? ">99" : String(rounded);
}

/** What is certain is shown as without chances: then the numbers stand out. */
function chanceText(chance) {
  return { 0: SIGNS["-"], 1: SIGNS.h }[chance] ?? percent(chance);
}

function shortPlace(place) {
  return { missing: "gone", "draw pile": "pile" }[place] ?? place;
}

function placeWords(place) {
  return place.startsWith("+") ? `player ${place}` : place;
}

/**
 * Explain the signs of a sheet.
 * @param {boolean} pencil whether marks can be made
 * @param {?Object} odds what is shaded, or null
 * @param {Array<[string, string]>} said signs and what they mean
 * @returns {HTMLElement}
 */
export function sheetLegend(pencil, odds, said) {
  const signs = said.map(([sign, words]) => make("span", {}, make("b", {}, sign), ` ${words}`));
  const shaded = odds ? make("span", {}, odds.exact ? "numbers: exact chances in per cent" : "numbers: estimated chances in per cent") : null;
  const hint = pencil ? make("span", {}, "click a square to pencil ✓ ✗ ? into it") : null;
  return make("p", { class: "legend" }, signs, shaded, hint);
}
