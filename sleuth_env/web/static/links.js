// The links of the tables that were made in this tab: whoever made one has them as long as the tab is open.

import { make } from "./dom.js";

const KEY = "tables";
const MOST_TABLES = 8;

/**
 * @typedef {Object} MadeTable
 * @property {string} game its title
 * @property {string} yours the link of whoever made the table
 * @property {Array<{seat: number, link: string}>} seats those of all people
 */

/**
 * Keep the links of a table.
 * @param {MadeTable} table
 */
export function keepTable(table) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify([table, ...keptTables()].slice(0, MOST_TABLES)));
  } catch {
    // A full or forbidden store: the links are on the page that has been made, and nowhere else.
  }
}

/**
 * Return the tables that were made in this tab.
 * @returns {MadeTable[]} the last one first
 */
export function keptTables() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/**
 * List the links of a table, each with a button that copies it; one's own is the last.
 * @param {MadeTable} table
 * @returns {HTMLElement[]}
 */
export function linkItems({ yours, seats }) {
  const others = seats.filter(({ link }) => link !== yours);
  const own = seats.filter(({ link }) => link === yours);
  return [...others, ...own].map((seat) => linkItem(seat, seat.link === yours));
}

function linkItem({ seat, link }, isYours) {
  const address = new URL(link, location.href).href;
  const whose = isYours ? `Seat ${seat}, yours` : `Seat ${seat}`;
  const label = isYours ? "Copy your own link" : `Copy the link of seat ${seat}`;
  const copy = make("button", { type: "button", class: "button", "data-copy": address, "aria-label": label }, "Copy");
  copy.addEventListener("click", () => copyLink(copy, address));
  return make("li", { "data-yours": isYours }, make("b", {}, whose), make("code", { class: "link-text" }, address), copy);
}

async function copyLink(button, address) {
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
  } catch {
    // Not every browser lets a page write there: the link is marked to be copied by hand.
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Marked: copy it";
  }
}
