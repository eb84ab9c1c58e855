// Pencil marks of one's own on the sheet, kept in this browser only.

const CYCLE = ["", "✓", "✗", "?"];

/** The pencil marks of one game at one table. */
export class Marks {
  /**
   * @param {string} key what they are kept under; marks of another deal must not come up
   * @param {?Storage} storage where, or null: they last as long as the page
   */
  constructor(key, storage) {
    this.key = key;
    this.storage = storage;
    this.marks = readMarks(key, storage);
  }

  /**
   * @param {string} item
   * @param {string} place
   * @returns {string} the mark in a cell, "" for none
   */
  get(item, place) {
    return this.marks[`${item} ${place}`] ?? "";
  }

  /**
   * Put the next mark into a cell.
   * @param {string} item
   * @param {string} place
   * @returns {string} the new mark
   */
  cycle(item, place) {
    const next = CYCLE[(CYCLE.indexOf(this.get(item, place)) + 1) % CYCLE.length];
    if (next) this.marks[`${item} ${place}`] = next;
    else delete this.marks[`${item} ${place}`];
    try {
      this.storage?.setItem(this.key, JSON.stringify(this.marks));
    } catch {
      // A full or forbidden store: the marks last as long as the page.
    }
    return next;
  }

  /** Rub all marks out. */
  clear() {
    this.marks = {};
    try {
      this.storage?.removeItem(this.key);
    } catch {
      // See above.
    }
  }
}

function readMarks(key, storage) {
  try {
    const kept = JSON.parse(storage?.getItem(key) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}
