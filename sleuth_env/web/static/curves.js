// Curves over a row of numbers: a picture with a legend, in which one place is marked and read off.

import { make, makeSvg } from "./dom.js";

// On a phone a wide picture would be too small to be read.
const WIDE = 640;
const NARROW = 360;
const HEIGHT = 220;
const MARGIN = { left: 44, right: 10, top: 10, bottom: 34 };
// The greatest width of a letter of the scale.
const LETTER = 7.6;
const TICKS = 5;
// The colour is not the only sign of a line.
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "12 4", "4 4", "1 5", "14 3 3 3"];
export const COLOURS = 8;

/**
 * Draw curves into an element, which is added to.
 * @param {HTMLElement} root
 * @param {Object} about
 * @param {string} about.title
 * @param {{label: string, values: number[], words: ?function(number): string}} about.x ascending numbers
 * @param {Array<{label: string, values: Array<?number>}>} about.lines one value for each x, null where there is none
 * @param {number} about.least at the bottom
 * @param {number} about.most at the top
 * @param {function(number): string} about.words says a value
 * @param {?Array<{label: string, value: number}>} about.levels lines from left to right
 * @param {?boolean} about.joined whether lines go on where they have no value
 * @param {?function(number): void} about.pick called with the index of the place that was clicked
 * @returns {{mark: function(number): void}} marks the place with an index
 */
export function drawCurves(root, about) {
  const { x, lines } = about;
  const width = root.clientWidth < WIDE * 0.75 ? NARROW : WIDE;
  const edge = { ...MARGIN, left: leftEdge(about) };
  const span = x.values.at(-1) - x.values[0] || 1;
  const across = (value) => edge.left + ((value - x.values[0]) / span) * (width - edge.left - edge.right);
  const up = (value) => HEIGHT - edge.bottom - ((value - about.least) / (about.most - about.least || 1)) * (HEIGHT - edge.top - edge.bottom);
  const cursor = makeSvg("line", { class: "curve-cursor", y1: edge.top, y2: HEIGHT - edge.bottom });
  const dots = lines.map((_, k) => makeSvg("circle", { r: 4, class: `curve-dot curve-${k % COLOURS}` }));
  const picture = makeSvg(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, class: "curves", role: "img", "aria-label": about.title },
    grid(about, width, across, up, edge),
    (about.levels ?? []).map(({ value }) => makeSvg("line", { class: "curve-level", x1: edge.left, x2: width - edge.right, y1: up(value), y2: up(value) })),
    lines.map(({ values }, k) => curve(x.values, values, k, across, up, about.joined)),
    cursor,
    dots,
  );
  const said = lines.map(() => make("b", {}));
  const place = make("p", { class: "muted curve-place" });
  const legend = lines.map(({ label }, k) => make("li", {}, sample(k), " ", label, " ", said[k]));
  const levels = (about.levels ?? []).map(({ label }) => make("li", { class: "muted" }, label));
  root.append(make("h2", {}, about.title), picture, place, make("ul", { class: "curve-legend" }, legend, levels));

  const mark = (at) => {
    const here = across(x.values[at]);
    cursor.setAttribute("x1", here);
    cursor.setAttribute("x2", here);
    place.textContent = `${x.label} ${x.words ? x.words(x.values[at]) : x.values[at]}`;
    lines.forEach(({ values }, k) => {
      const value = values[at];
      const known = value !== null && value !== undefined;
      said[k].textContent = known ? about.words(value) : "–";
      dots[k].style.display = known ? "" : "none";
      if (known) {
        dots[k].setAttribute("cx", here);
        dots[k].setAttribute("cy", up(value));
      }
    });
  };
  const nearest = (event) => {
    const box = picture.getBoundingClientRect();
    const wanted = ((event.clientX - box.left) / box.width) * width;
    const distance = (at) => Math.abs(across(x.values[at]) - wanted);
    return x.values.reduce((best, _, at) => (distance(at) < distance(best) ? at : best), 0);
  };
  if (about.pick) picture.addEventListener("click", (event) => about.pick(nearest(event)));
  else picture.addEventListener("pointermove", (event) => mark(nearest(event)));
  mark(x.values.length - 1);
  return { mark };
}

/** The values that are written at the left. */
function scale({ least, most }) {
  return Array.from({ length: TICKS }, (_, k) => least + ((most - least) * k) / (TICKS - 1));
}

/** Leave room for the longest of them. */
function leftEdge(about) {
  const longest = Math.max(...scale(about).map((value) => about.words(value).length));
  return Math.max(MARGIN.left, Math.ceil(longest * LETTER) + 8);
}

function curve(places, values, k, across, up, joined) {
  let pen = "M";
  let path = "";
  let drawn = 0;
  values.forEach((value, at) => {
    if (value === null || value === undefined) {
      if (!joined) pen = "M";
      return;
    }
    path += `${pen}${across(places[at]).toFixed(1)} ${up(value).toFixed(1)}`;
    pen = "L";
    drawn += 1;
  });
  // A single point would not be seen.
  if (drawn === 1) path += "h0.1";
  return makeSvg("path", { d: path, class: `curve-line curve-${k % COLOURS}`, "stroke-dasharray": DASHES[k % DASHES.length] });
}

function sample(k) {
  const line = makeSvg("line", { x1: 1, x2: 31, y1: 6, y2: 6, class: `curve-line curve-${k % COLOURS}`, "stroke-dasharray": DASHES[k % DASHES.length] });
  return makeSvg("svg", { viewBox: "0 0 32 12", class: "curve-sample", "aria-hidden": "true" }, line);
}

function grid(about, width, across, up, edge) {
  const { x } = about;
  const rows = scale(about);
  const spread = Math.min(TICKS, x.values.length) - 1;
  const columns = Array.from({ length: spread + 1 }, (_, k) => x.values[spread ? Math.round((k * (x.values.length - 1)) / spread) : 0]);
  const text = (value) => (x.words ? x.words(value) : String(value));
  return [
    ...rows.flatMap((value) => [
      makeSvg("line", { class: "curve-grid", x1: edge.left, x2: width - edge.right, y1: up(value), y2: up(value) }),
      makeSvg("text", { class: "curve-text", x: edge.left - 5, y: up(value) + 4, "text-anchor": "end" }, about.words(value)),
    ]),
    ...columns.map((value) => makeSvg("text", { class: "curve-text", x: across(value), y: HEIGHT - edge.bottom + 15, "text-anchor": "middle" }, text(value))),
    makeSvg("text", { class: "curve-text", x: (edge.left + width - edge.right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, x.label),
  ];
}
