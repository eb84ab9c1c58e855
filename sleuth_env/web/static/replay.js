// A game that is over, or as far as it got, step by step: the page of `replay_page.py`.

import { gemCard } from "./cards.js";
import { drawCurves } from "./curves.js";
import { drawData, fromChanges } from "./data.js";
import { make, unseen } from "./dom.js";
import { storyCard } from "./holmes.js";
import { thingList } from "./seats.js";
import { percent } from "./sheet.js";
import { drawTable } from "./table.js";

const CARD = { sleuth: gemCard, holmes: storyCard };
const EVERYBODY = -1;
const MOST_BARS = 10;
// A smaller share is listed among the rest.
const LEAST_BAR = 0.005;
const PLAYING_MS = 1200;
// Elements that make something of a key themselves.
const TAKES_KEYS = "input, select, textarea, button, summary, a, [contenteditable]";

/** A replay on its page: which step is shown, and from whose viewpoint. */
class Replay {
  constructor(root, data) {
    const ofSeat = (_, seat) => fromChanges(data.frames.map((ofStep) => ofStep[seat]));
    this.data = { ...data, deals: fromChanges(data.deals), frames: data.frames[0].map(ofSeat) };
    this.last = data.steps.length - 1;
    this.names = this.data.frames.map((_, seat) => `player_${seat}`);
    this.step = 0;
    this.seat = EVERYBODY;
    this.odds = true;
    this.timer = null;
    this.parts = this.build(root);
    document.addEventListener("keydown", (event) => this.press(event));
    this.show();
  }

  // --- what does not change ---

  build(root) {
    const parts = {
      first: this.button("|◀", "First step (Home)", () => this.go(0)),
      back: this.button("◀", "Step back (left arrow)", () => this.go(this.step - 1)),
      play: this.button("▶ Play", "Play the steps one after the other (space)", () => this.play(this.timer === null)),
      forward: this.button("▶", "Step forward (right arrow)", () => this.go(this.step + 1)),
      end: this.button("▶|", "Last step (End)", () => this.go(this.last)),
      slider: make("input", { type: "range", min: 0, max: this.last, value: 0, "aria-label": "Step", "data-slider": true }),
      where: make("output", { class: "replay-where", "data-where": true, "aria-live": "off" }),
      seats: make("select", { id: "viewpoint" }, this.viewpoints()),
      odds: make("input", { type: "checkbox", id: "odds", checked: true }),
      told: make("pre", { class: "replay-told", "data-step-text": true, "aria-live": "polite", tabindex: "0", role: "region", "aria-label": "What happened" }),
      ending: make("pre", { class: "replay-told", "data-ending": true }),
      decisions: make("section", { class: "region", "aria-label": "Decisions" }),
      curve: make("section", { class: "region", "aria-label": "Chances over the game" }),
      table: make("div", { id: "table" }),
      deal: make("section", { class: "region", "data-deal": true, "aria-label": "All hands" }),
    };
    parts.slider.addEventListener("input", () => this.go(Number(parts.slider.value)));
    parts.seats.addEventListener("change", () => this.look(Number(parts.seats.value)));
    parts.odds.addEventListener("change", () => {
      this.odds = parts.odds.checked;
      this.show();
    });
    const steps = make("div", { class: "choices", role: "group", "aria-label": "Steps" }, parts.first, parts.back, parts.play, parts.forward, parts.end);
    const choice = make("div", { class: "replay-choice" }, make("label", { for: "viewpoint" }, "Seen by"), parts.seats, make("label", { class: "check" }, parts.odds, "odds"));
    root.append(
      make("p", { class: "muted" }, this.about()),
      make("div", { class: "region replay-bar" }, steps, parts.slider, parts.where, choice),
      make(
        "div",
        { class: "replay-head" },
        make("div", { class: "column" }, make("section", { class: "region replay-step", "aria-label": "The step" }, parts.told, parts.ending), parts.decisions),
        make("div", { class: "column" }, parts.curve),
      ),
      parts.deal,
      parts.table,
    );
    this.curves = drawCurves(parts.curve, this.curveAbout());
    return parts;
  }

  button(text, label, act) {
    const button = make("button", { type: "button", class: "button", "aria-label": label, title: label }, text);
    button.addEventListener("click", act);
    return button;
  }

  viewpoints() {
    const seats = this.names.map((name, seat) => make("option", { value: seat }, this.called(seat)));
    return [make("option", { value: EVERYBODY }, "everybody: all hands"), ...seats];
  }

  called(seat) {
    const who = this.data.players[seat];
    return who ? `${this.names[seat]}: ${who}` : this.names[seat];
  }

  about() {
    const options = Object.entries(this.data.options).map(([name, value]) => `${name} ${value}`);
    const policy = this.data.policy ? ` Bars: the policy ${this.data.policy}.` : "";
    return [
      make("details", {}, make("summary", {}, `${this.names.length} players, ${this.last} steps. Keys: arrows, Home, End, space.${policy}`), options.join(", ")),
    ];
  }

  curveAbout() {
    return {
      title: `Over the game: ${this.data.chance}`,
      x: { label: "step", values: this.data.steps.map((_, step) => step) },
      lines: this.data.chances.map((values, seat) => ({ label: this.called(seat), values })),
      least: 0,
      most: 1,
      words: (value) => `${percent(value)} %`,
      pick: (step) => this.go(step),
    };
  }

  // --- moving ---

  go(step) {
    this.step = Math.min(Math.max(step, 0), this.last);
    if (this.step === this.last) this.play(false);
    this.show();
  }

  look(seat) {
    this.seat = seat;
    this.show();
  }

  play(on) {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    if (on) {
      if (this.step === this.last) this.go(0);
      this.timer = setInterval(() => this.go(this.step + 1), PLAYING_MS);
    }
    this.parts.play.textContent = on ? "❚❚ Pause" : "▶ Play";
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // On a button the arrows still step; space is the button's own.
    const taken = event.target.closest?.(TAKES_KEYS);
    if (taken && !(taken.matches("button, summary, a") && event.key !== " ")) return;
    const to = { ArrowRight: this.step + 1, ArrowLeft: this.step - 1, Home: 0, End: this.last }[event.key];
    if (to === undefined && event.key !== " ") return;
    event.preventDefault();
    if (to === undefined) this.play(this.timer === null);
    else this.go(to);
  }

  // --- what is shown of a step ---

  show() {
    const { data, parts, step, seat } = this;
    const everybody = seat === EVERYBODY;
    document.documentElement.dataset.step = step;
    document.documentElement.dataset.viewpoint = everybody ? "everybody" : this.names[seat];
    parts.slider.value = step;
    parts.slider.setAttribute("aria-valuetext", `step ${step} of ${this.last}`);
    parts.where.textContent = `step ${step} of ${this.last}`;
    parts.first.disabled = parts.back.disabled = step === 0;
    parts.forward.disabled = parts.end.disabled = step === this.last;
    const told = everybody ? data.revealed[step] : data.private[seat][step];
    parts.told.textContent = told || "The cards have been dealt.";
    parts.ending.textContent = step === this.last ? (everybody ? data.ending_revealed : data.ending) : "";
    parts.ending.hidden = step !== this.last;
    parts.deal.hidden = !everybody;
    parts.table.hidden = everybody;
    if (everybody) parts.deal.replaceChildren(...this.allHands(data.deals[step]));
    else this.showTable(data.frames[seat][step]);
    fill(parts.decisions, everybody ? this.allDecisions() : this.ownDecisions(data.frames[seat][step]));
    this.curves.mark(step);
  }

  showTable(frame) {
    const ended = this.step === this.last && this.data.endings ? { lines: this.data.endings[this.seat], deal: this.data.deals.at(-1) } : null;
    const odds = this.odds ? frame.odds : null;
    drawTable(this.parts.table, { ...frame, ended }, { choose: null, odds, questions: this.odds ? frame.questions : null, marks: null });
    // The step is read aloud; its lines in the log need not be.
    this.parts.table.querySelector("[role=log]")?.setAttribute("aria-live", "off");
    if (this.odds && frame.why) this.parts.table.querySelector(".region-sheet")?.prepend(make("p", { class: "notice" }, `No odds: ${frame.why}.`));
  }

  allHands(deal) {
    const card = CARD[this.data.game];
    const cards = (names) => [...counts(names)].map(([name, number]) => card(name, number > 1 ? `×${number}` : null));
    const hands = Object.entries(deal.hands).map(([player, names]) => thingList(`Hand of ${this.called(this.names.indexOf(player))}`, cards(names), "no cards"));
    const missing = deal.missing ? thingList("Missing", cards(deal.missing)) : null;
    const table = deal.table ? thingList("Open on the table", cards(deal.table)) : null;
    return [make("h2", {}, "All hands"), missing, ...hands, table].filter(Boolean);
  }

  // --- decisions ---

  ownDecisions(frame) {
    const within = frame.within.map((decision) => this.decision("In this step", decision));
    const next = frame.decision === null ? null : this.decision("Next", frame);
    return within.length || next ? [make("h2", {}, `Decisions of ${this.called(this.seat)}`), ...within, next] : [];
  }

  allDecisions() {
    const deciding = this.data.frames.findIndex((frames) => frames[this.step].decision !== null);
    if (deciding < 0) return [];
    return [make("h2", {}, `Decision of ${this.called(deciding)}`), this.decision("Next", this.data.frames[deciding][this.step])];
  }

  decision(when, { prompt, did, policy }) {
    const head = make("p", {}, `${when} (${prompt}): `, did === null ? make("i", {}, "the text ends here") : make("b", { "data-did": did }, did));
    if (!policy) return head;
    const ranked = Object.entries(policy).sort(([, one], [, other]) => other - one);
    const first = ranked.filter(([name, share], at) => name === did || (at < MOST_BARS && (at === 0 || share >= LEAST_BAR)));
    const rest = ranked.filter((entry) => !first.includes(entry));
    const more = rest.length ? make("details", {}, make("summary", {}, `${rest.length} more legal actions`), this.bars(rest, did)) : null;
    return make("div", {}, head, this.bars(first, did), more);
  }

  bars(entries, did) {
    const bar = ([name, share]) => {
      const row = make(
        "li",
        { class: name === did ? "bar bar-did" : "bar", "data-policy": name },
        make("span", { class: "bar-name" }, name, name === did ? unseen(", what was done") : null),
        make("span", { class: "bar-share" }, `${percent(share)} %`),
      );
      row.style.setProperty("--share", share);
      return row;
    };
    return make("ul", { class: "bars", "aria-label": "What the policy would do" }, entries.map(bar));
  }
}

function fill(section, children) {
  section.replaceChildren(...children.filter(Boolean));
  section.hidden = !section.childElementCount;
}

function counts(names) {
  const found = new Map();
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
  return found;
}

drawData("replay-data", document.getElementById("replay"), (root, data) => new Replay(root, data));
