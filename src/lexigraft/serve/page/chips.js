// The query as the system reads it: its own words, and what the model adds. Each term can be switched off.

import { element } from "./dom.js";
import { count, plural, significant } from "./numbers.js";

function chip(term, isOff, id, onSwitch) {
  const title = `weight ${significant(term.weight, 3)}, in ${count(term.postings ?? 0)} documents`;
  const weight = element("span", { class: "chip-weight" }, significant(term.weight, 2));
  const attributes = {
    type: "button", class: "chip", title, "aria-pressed": String(!isOff), "data-key": `${id}-chip-${term.term}`,
    on: { click: () => onSwitch(term.term, !isOff) },
  };
  return element("button", attributes, element("span", { class: "chip-term" }, term.term), weight);
}

function group(name, terms, off, id, onSwitch) {
  if (terms.length === 0) return null;
  const chips = terms.map((term) => element("li", {}, chip(term, off.has(term.term), id, onSwitch)));
  return element("div", { class: "chip-group" }, element("h3", { class: "small" }, name), element("ul", { class: "chips" }, chips));
}

function unused(terms) {
  const listed = element("p", { class: "small quiet-text" }, terms.map((term) => term.term).join(", "));
  const summary = element("summary", { class: "small" }, `${plural(terms.length, "lighter term")} not used`);
  return element("details", { class: "unused" }, summary, listed);
}

// `answer.terms` heaviest first; of them those that pruning dropped are only named. `shown` of them are, of `atFirst`.
export function chipsOf(answer, side, id, shown, atFirst, handlers) {
  const off = new Set(side.off);
  const searched = answer.terms.filter((term) => term.kept || off.has(term.term));
  const dropped = answer.terms.filter((term) => !term.kept && !off.has(term.term));
  const seen = searched.filter((term, at) => at < shown || off.has(term.term));
  const own = seen.filter((term) => term.own);
  const added = seen.filter((term) => !term.own);
  const more = searched.length - seen.length;
  const groups = [
    group("In your query", own, off, id, handlers.onSwitch),
    group("Added by the model", added, off, id, handlers.onSwitch),
  ].filter(Boolean);
  const rest = [];
  if (more > 0 || shown > atFirst && searched.length > atFirst) {
    const text = more > 0 ? `Show ${count(more)} more` : "Show fewer";
    rest.push(element("button", { type: "button", class: "quiet small", "data-key": `${id}-more-chips`, on: { click: handlers.onMore } }, text));
  }
  if (dropped.length) rest.push(unused(dropped));
  const nodes = [
    groups.length ? element("div", { class: "chip-groups" }, groups) : null,
    rest.length ? element("div", { class: "chip-rest" }, rest) : null,
  ];
  return [...nodes, ...(answer.notices ?? []).map((line) => element("p", { class: "small quiet-text notice" }, line))];
}
