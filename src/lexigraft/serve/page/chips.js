// The query as the system reads it: its own words, and what the model adds. Each term can be switched off.

import { element } from "./dom.js";
import { count, significant } from "./numbers.js";

const AT_FIRST = 18; // two rows or three; a whole expansion has a hundred terms

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
  if (terms.length === 0) return null;
  const listed = element("p", { class: "small quiet-text" }, terms.map((term) => term.term).join(", "));
  const summary = element("summary", { class: "small" }, `${count(terms.length)} lighter terms are not searched at this cost`);
  return element("details", { class: "unused" }, summary, listed);
}

// `answer.terms` heaviest first; of them those that pruning dropped are only named.
export function chipsOf(answer, side, id, showsAll, handlers) {
  const off = new Set(side.off);
  const searched = answer.terms.filter((term) => term.kept || off.has(term.term));
  const dropped = answer.terms.filter((term) => !term.kept && !off.has(term.term));
  const seen = showsAll ? searched : searched.filter((term, at) => at < AT_FIRST || off.has(term.term));
  const own = seen.filter((term) => term.own);
  const added = seen.filter((term) => !term.own);
  const more = searched.length - seen.length;
  const nodes = [
    group("In your query", own, off, id, handlers.onSwitch),
    group("Added by the model", added, off, id, handlers.onSwitch),
  ];
  if (more > 0 || showsAll && searched.length > AT_FIRST) {
    const text = more > 0 ? `Show ${count(more)} more` : "Show fewer";
    nodes.push(element("button", { type: "button", class: "quiet small", "data-key": `${id}-more-chips`, on: { click: handlers.onMore } }, text));
  }
  nodes.push(unused(dropped));
  if (answer.unknown?.length) {
    nodes.push(element("p", { class: "small quiet-text" }, `No document knows: ${answer.unknown.join(", ")}`));
  }
  return nodes;
}
