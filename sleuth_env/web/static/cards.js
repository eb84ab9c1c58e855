// Pictures of cards, all drawn here. A gem has a colour, a shape for its kind, as many stones as its type says, and
// its letters, so that the colour is never the only sign.

import { make, makeSvg } from "./dom.js";

export const COLOURS = ["red", "blue", "green", "yellow"];
export const KINDS = ["diamond", "pearl", "opal"];
export const TYPES = ["solitaire", "pair", "cluster"];

// Where the stones of a type lie in a picture of 40 x 40: middle and size.
const PLACES_OF_STONES = {
  solitaire: [[20, 20, 15]],
  pair: [
    [12, 16, 11],
    [28, 25, 11],
  ],
  cluster: [
    [20, 11.5, 9.5],
    [10.5, 28, 9.5],
    [29.5, 28, 9.5],
  ],
};

/**
 * Take the words of a name such as blue-opal-pair apart.
 * @param {string} name of a gem, a question or a search card
 * @returns {{colour: ?string, kind: ?string, type: ?string, free: boolean}}
 */
export function elementsOf(name) {
  const words = name.split("-");
  const one = (list) => words.find((word) => list.includes(word)) ?? null;
  return { colour: one(COLOURS), kind: one(KINDS), type: one(TYPES), free: words[0] === "free" };
}

/**
 * Say a name with spaces, as a person reads it.
 * @param {string} name
 * @returns {string}
 */
export function spoken(name) {
  if (name === "free") return "free choice";
  return name.startsWith("free-") ? `free + ${name.slice(5)}` : name.replaceAll("-", " ");
}

/**
 * Draw a gem, or what a question asks for: what it leaves open is grey, or a square.
 * @param {string} name such as blue-opal-pair, or blue, or opal-pair
 * @param {string} size small, medium or large
 * @returns {SVGElement} hidden from screen readers: say the name beside it
 */
export function gemPicture(name, size = "small") {
  const { colour, kind, type } = elementsOf(name);
  const stones = PLACES_OF_STONES[type ?? "solitaire"];
  const letter = colour ? colour[0].toUpperCase() : "";
  return makeSvg(
    "svg",
    { viewBox: "0 0 40 40", class: `gem gem-${size} gem-${colour ?? "any"}`, "aria-hidden": "true", focusable: "false" },
    stones.map(([x, y, r]) => stone(kind, x, y, r)),
    letter ? stones.slice(0, 1).map(([x, y, r]) => stoneLetter(letter, x, y, r)) : [],
  );
}

function stone(kind, x, y, r) {
  const at = (points) => points.map(([dx, dy]) => `${round(x + dx * r)},${round(y + dy * r)}`).join(" ");
  if (kind === "pearl") {
    return makeSvg(
      "g",
      {},
      makeSvg("circle", { cx: x, cy: y, r: round(r * 0.95), class: "gem-body" }),
      makeSvg("circle", { cx: round(x - r * 0.38), cy: round(y - r * 0.42), r: round(r * 0.2), class: "gem-shine" }),
    );
  }
  if (kind === "diamond") {
    const table = [[-0.55, -0.35], [0, -1], [0.55, -0.35]];
    return makeSvg(
      "g",
      {},
      makeSvg("polygon", { points: at([[0, -1], [0.95, 0], [0, 1], [-0.95, 0]]), class: "gem-body" }),
      makeSvg("polyline", { points: at(table), class: "gem-edge" }),
    );
  }
  if (kind === "opal") {
    const six = [[-0.5, -0.9], [0.5, -0.9], [1, 0], [0.5, 0.9], [-0.5, 0.9], [-1, 0]];
    return makeSvg(
      "g",
      {},
      makeSvg("polygon", { points: at(six), class: "gem-body" }),
      makeSvg("polyline", { points: at([[-0.72, -0.2], [-0.36, -0.68], [0.3, -0.68]]), class: "gem-edge" }),
    );
  }
  const side = round(r * 1.6);
  return makeSvg("rect", { x: round(x - side / 2), y: round(y - side / 2), width: side, height: side, rx: 3, class: "gem-body gem-square" });
}

function stoneLetter(letter, x, y, r) {
  return makeSvg("text", { x, y: round(y + r * 0.38), class: "gem-letter", "font-size": round(r * 1.05) }, letter);
}

function round(number) {
  return Math.round(number * 100) / 100;
}

/**
 * Draw a gem card: the picture and its words.
 * @param {string} name
 * @param {?string} note a small line below
 * @returns {HTMLElement}
 */
export function gemCard(name, note = null) {
  return make(
    "span",
    { class: "gem-card", "data-gem": name },
    gemPicture(name, "large"),
    make("span", { class: "gem-words" }, spoken(name)),
    note ? make("span", { class: "gem-note" }, note) : null,
  );
}

/**
 * Draw a search card as a small slip: what it may ask for, in a picture and in words.
 * @param {string} name such as blue-opal, free-blue or free
 * @returns {HTMLElement}
 */
export function searchCard(name) {
  const { colour, kind, type, free } = elementsOf(name);
  const asks = [colour, kind, type].filter(Boolean).join("-");
  return make(
    "span",
    { class: `search-card${free ? " search-free" : ""}`, "data-search-card": name },
    asks ? gemPicture(asks) : null,
    make("span", {}, spoken(name)),
  );
}
