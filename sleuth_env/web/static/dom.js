// Building pages out of elements: text is always text, so nothing that a server says can be markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/**
 * Make an element of a page.
 * @param {string} tag
 * @param {Object} attributes "on..." are listeners; null, undefined and false are left out, true is an empty text
 * @param {...(Node|string|Array|null)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Make an element of a picture.
 * @param {string} tag
 * @param {Object} attributes
 * @param {...(Node|string|Array|null)} children
 * @returns {SVGElement}
 */
export function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

/**
 * Make text that only screen readers read.
 * @param {string} text
 * @returns {HTMLElement}
 */
export function unseen(text) {
  return make("span", { class: "unseen" }, text);
}

/**
 * Make text that only eyes read, because what is beside it says the same better.
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function unspoken(...children) {
  return make("span", { "aria-hidden": "true" }, ...children);
}

/**
 * Read why something was refused out of the answer of a server, JSON or not.
 * @param {string} text
 * @returns {string}
 */
export function reasonIn(text) {
  try {
    return String(JSON.parse(text).error ?? text);
  } catch {
    return text.slice(0, 300);
  }
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      if (value) element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
