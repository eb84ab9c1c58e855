// Buttons that lead to an action, and those that are one.

import { make } from "./dom.js";

/**
 * Make the button of a legal action.
 * @param {Object} tools as `drawTable` hands them on
 * @param {string} action its name
 * @param {Object} attributes more attributes
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function actionButton(tools, action, attributes, ...children) {
  return make(
    "button",
    { type: "button", "data-action": action, "data-key": `action ${action}`, onclick: () => tools.choose(action), ...attributes },
    ...children,
  );
}

/**
 * Make a button that picks something on the way to an action; it can be pressed again.
 * @param {Object} tools as `drawTable` hands them on
 * @param {string} leads how the names of the actions begin to which it leads
 * @param {boolean} pressed whether it has been picked
 * @param {Object} picks what is picked then
 * @param {Object} attributes more attributes
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function leadButton(tools, leads, pressed, picks, attributes, ...children) {
  return make(
    "button",
    {
      type: "button",
      "data-leads": leads,
      "data-key": `leads ${leads}`,
      "aria-pressed": String(pressed),
      onclick: () => tools.pick(picks),
      ...attributes,
    },
    ...children,
  );
}

/**
 * Make a group of controls with a heading.
 * @param {string} title
 * @param {string} kind for the style
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function stepGroup(title, kind, ...children) {
  return make("fieldset", { class: `step step-${kind}` }, make("legend", {}, title), ...children);
}
