// One term of the vocabulary: its numbers, the terms it comes with, and the documents that have most of it.

import { bar, byId, element } from "./dom.js";
import { count, score, significant } from "./numbers.js";

const MOST_NEIGHBOURS = 12;

function facts(answer) {
  const said = [["Postings", count(answer.postings)]];
  if (Number.isFinite(answer.wackiness)) said.push(["Wackiness", significant(answer.wackiness, 2)]);
  return element("dl", { class: "facts" }, said.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function neighbours(store, answer) {
  if (!answer.neighbours?.length) return null;
  const nearest = answer.neighbours.slice(0, MOST_NEIGHBOURS);
  const most = Math.max(...nearest.map((neighbour) => neighbour.score));
  const items = nearest.map((neighbour) => element("li", {},
    element("button", { type: "button", class: "term-button", "data-key": `neighbour-${neighbour.term}`, on: { click: () => store.set({ term: neighbour.term }) } }, neighbour.term),
    bar(most > 0 ? neighbour.score / most : 0),
    element("span", { class: "number" }, significant(neighbour.score, 2))));
  return element("div", {}, element("h3", { class: "small" }, "Neighbours"), element("ul", { class: "bars" }, items));
}

function documents(answer) {
  if (!answer.documents?.length) return null;
  const items = answer.documents.map((document) => element("li", {},
    element("span", {}, document.title || document.doc_id), " ", element("span", { class: "number quiet-text" }, score(document.weight))));
  return element("div", {}, element("h3", { class: "small" }, "Heaviest documents"), element("ol", { class: "plain" }, items));
}

function search(store, term) {
  store.set({ view: "search", q: term, open: "", k: 10 });
  byId("query").focus(); // the button is out of sight
}

export function termNodes(store, answer) {
  const button = element("button", {
    type: "button", "data-key": "search-term", on: { click: () => search(store, answer.term) },
  }, `Search for ${answer.term}`);
  return [element("h2", {}, answer.term), facts(answer), neighbours(store, answer), documents(answer), button];
}
