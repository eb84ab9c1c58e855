// Data that lies in a page: deflated JSON in base64; rows of values as what changes from one to the next.

import { make } from "./dom.js";

/**
 * Draw the data of an element of the page, or say that it cannot be done.
 * @param {string} id of the element with the data
 * @param {HTMLElement} root where it is drawn
 * @param {function(HTMLElement, *): void} draw
 */
export async function drawData(id, root, draw) {
  try {
    draw(root, await readData(id));
  } catch (error) {
    const why = "DecompressionStream" in globalThis ? String(error) : "this browser is too old: it cannot inflate data";
    root.prepend(make("p", { class: "notice", role: "alert" }, `The page cannot be shown: ${why}.`));
    throw error;
  }
}

async function readData(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text());
}

/**
 * Restore a row of values from its changes; what does not change is shared.
 * @param {Array} changes see packing.py for their forms
 * @returns {Array}
 */
export function fromChanges(changes) {
  const values = [];
  for (const change of changes) values.push(applied(values.at(-1), change));
  return values;
}

function applied(old, change) {
  if (Array.isArray(change)) return change.length === 2 ? [...old.slice(0, change[0]), ...change[1]] : change[0];
  const value = { ...old };
  for (const [key, what] of Object.entries(change)) {
    if (what === 0) delete value[key];
    else value[key] = applied(value[key], what);
  }
  return value;
}
