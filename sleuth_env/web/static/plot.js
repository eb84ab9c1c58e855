// Learning curves: the page of `curves_page.py`.

import { drawCurves } from "./curves.js";
import { drawData } from "./data.js";
import { make } from "./dom.js";

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const STEP = 0.25;

function drawPanel(root, axis, { title, places, lines, levels }) {
  const region = make("section", { class: "region", "data-panel": title });
  root.append(region);
  const heights = [...levels.map(({ value }) => value), ...lines.flatMap(({ values }) => values.filter((value) => value !== null))];
  drawCurves(region, {
    title,
    x: { label: axis, values: places, words: (value) => COMPACT.format(value) },
    lines,
    levels,
    joined: true,
    least: 0,
    // Up to the next quarter above everything.
    most: Math.max(STEP, Math.ceil(Math.max(...heights) / STEP) * STEP),
    words: (value) => `${(100 * value).toFixed(1).replace(/\.0$/, "")} %`,
    pick: null,
  });
}

drawData("plot-data", document.getElementById("panels"), (root, { axis, panels }) => {
  for (const panel of panels) drawPanel(root, axis, panel);
});
