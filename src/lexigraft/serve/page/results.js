// The list of results of one system. A result is a heading that is a button: it opens to why it is there.

import { element } from "./dom.js";
import { marked } from "./marked_text.js";
import { score } from "./numbers.js";

const SHOWN_MATCHES = 5;
const SHOWN_FACTS = 4;
const ADDED = { borrowed: "borrowed", vector: "from its vector" }; // terms that the text of a grafted document does not hold
const ARROWS = { up: "↑", down: "↓", new: "+", same: "=" };

function metadataOf(hit) {
  const known = Object.entries(hit.metadata ?? {}).filter(([, value]) => value !== null && value !== "");
  return known.slice(0, SHOWN_FACTS).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(", ") : value}`);
}

function moveOf(move) {
  if (!move) return null;
  const arrow = element("span", { class: "arrow", "aria-hidden": "true" }, ARROWS[move.kind]);
  return element("p", { class: `small moved moved-${move.kind}` }, arrow, ` ${move.text}`);
}

function matchesOf(hit) {
  if (!hit.matches?.length) return null;
  const shown = hit.matches.slice(0, SHOWN_MATCHES).map((match) =>
    element("li", {}, element("span", {}, match.term), ADDED[match.origin] ? element("span", { class: "tag" }, ADDED[match.origin]) : "", " ", element("span", { class: "number" }, score(match.score))));
  const rest = hit.matches.length - shown.length;
  if (rest > 0) shown.push(element("li", {}, `and ${rest} more`));
  return element("ul", { class: "matches small", "aria-label": "Terms that made the score" }, shown);
}

function hitNode(hit, at, given) {
  const isOpen = given.open === hit.doc_id;
  const where = `${given.id}-hit-${at}`;
  const button = element("button", {
    type: "button", class: "hit-open", "aria-expanded": String(isOpen), "aria-controls": `${where}-why`,
    "data-key": `${given.id}-hit-${hit.doc_id}`, "data-doc": hit.doc_id, on: { click: (event) => given.onOpen(isOpen ? "" : hit.doc_id, event.currentTarget) },
  }, hit.title || hit.doc_id);
  const facts = [`score ${score(hit.score)}`, ...(hit.title ? [hit.doc_id] : []), ...metadataOf(hit)];
  const why = element("div", { id: `${where}-why`, class: "why", hidden: !isOpen });
  if (isOpen) why.append(given.explanation);
  return element("li", { class: "hit" },
    element("span", { class: "rank number", "aria-hidden": "true" }, String(at + 1)),
    element("div", { class: "hit-body" },
      element("h3", {}, button),
      moveOf(given.moves?.[at]),
      hit.snippet ? element("p", { class: "snippet" }, marked(hit.snippet.text, hit.snippet.marks)) : null,
      matchesOf(hit),
      element("p", { class: "small quiet-text hit-facts" }, facts.map((fact) => element("span", {}, fact))),
      why));
}

// `first` is the place of the first of `hits` in the ranking.
export function hitNodes(hits, given, first = 0) {
  return hits.map((hit, at) => hitNode(hit, first + at, given));
}

export function goneNodes(gone, name) {
  if (gone.length === 0) return [];
  const items = gone.map((hit) => element("li", {},
    element("span", {}, hit.title || hit.doc_id), " ", element("span", { class: "quiet-text" }, `was ${hit.rank}`)));
  return [element("h3", { class: "small" }, `Gone: with ${name}, not here`), element("ul", { class: "gone-list small" }, items)];
}
