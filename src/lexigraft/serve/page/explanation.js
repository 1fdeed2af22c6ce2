// Why a document was found: its terms as bars, the words they come from, and those words marked in its text.

import { newestOnly, post } from "./api.js";
import { bar, element } from "./dom.js";
import { addedWords, originOf, originsOf, partsBar } from "./origins.js";
import { pieces, words } from "./marked_text.js";
import { count, percent, score, significant } from "./numbers.js";

const AT_FIRST = 12;

const quoted = (found) => found.slice(0, 4).map((word) => `“${word}”`).join(", ");

export function createExplanation() {
  const node = element("div", { class: "explanation" });
  const question = newestOnly((signal, body) => post("explain", body, signal));
  let asked = "";

  // The former explanation stays until the new one is there: nothing jumps while a dial is moved.
  async function show(body) {
    const key = JSON.stringify(body);
    if (key === asked) return;
    if (asked === "" || JSON.parse(asked).doc_id !== body.doc_id) node.replaceChildren(element("p", { class: "small quiet-text" }, "Asking why"));
    asked = key;
    try {
      const answer = await question(body);
      if (answer) node.replaceChildren(...explained(answer, answer.query_text ?? body.query)); // its words are of the text as it was read
    } catch (error) {
      asked = "";
      node.replaceChildren(element("p", { class: "small" }, error.message));
    }
  }

  function clear() {
    asked = "";
    node.replaceChildren();
  }
  return { node, show, clear };
}

function explained(answer, query) {
  const text = answer.text ? markedText(answer) : null;
  const parts = [
    element("h4", { class: "small" }, heading(answer)),
    ...originsOf(answer),
    ...(answer.whole && answer.contributions.length === 0 ? [] : termTable(answer, query, text)),
    answer.whole ? element("p", { class: "small whole" }, answer.whole.said) : null,
    ...addedWords(answer),
    missing("Of your query, but not in this document", answer.only_query),
    missing("Heavy in this document, but not asked for", answer.only_document),
  ];
  if (text) {
    parts.push(element("h4", { class: "small" }, "Its text, with the words these terms come from"), text.node);
  }
  return parts.filter(Boolean);
}

// Of a hybrid, the terms are those of one of its two parts; `whole` says what that one adds.
function heading(answer) {
  if (answer.whole) return `Score ${score(answer.score)}`;
  return `Score ${score(answer.score)}, from ${count(answer.contributions.length)} ${answer.contributions.length === 1 ? "term" : "terms"}`;
}

function missing(name, terms) {
  if (!terms?.length) return null;
  const said = terms.slice(0, 10).map((term) => (typeof term === "string" ? term : term.term)).join(", ");
  return element("p", { class: "small quiet-text" }, `${name}: ${said}${terms.length > 10 ? " …" : ""}`);
}

// Longest bar for the largest score; a term is a button that shows its own words alone.
function termTable(answer, query, text) {
  const most = Math.max(...answer.contributions.map((term) => term.score));
  const rows = answer.contributions.map((term, at) => termRow(term, at, most, query, answer.text, text));
  const head = element("thead", {}, element("tr", {},
    element("th", { scope: "col" }, "Term"), element("th", { scope: "col" }, "Adds"),
    element("th", { scope: "col", class: "number wide-only" }, "Query × document"), element("th", { scope: "col", class: "from" }, "From")));
  const body = element("tbody", {}, rows.slice(0, AT_FIRST));
  const nodes = [element("table", { class: "terms" }, element("caption", { class: "unseen" }, "What each term adds to the score"), head, body)];
  if (rows.length > AT_FIRST) {
    const more = element("button", { type: "button", class: "quiet small" }, `Show ${rows.length - AT_FIRST} more terms`);
    more.addEventListener("click", () => {
      body.append(...rows.slice(AT_FIRST));
      more.remove();
      rows[AT_FIRST].querySelector("button")?.focus();
    });
    nodes.push(more);
  }
  return nodes;
}

function termRow(term, at, most, query, documentText, text) {
  const fromQuery = words(query, term.query_words ?? []);
  const fromDocument = documentText ? words(documentText, term.document_words ?? []) : [];
  const from = [fromQuery.length ? `query: ${quoted(fromQuery)}` : "", fromDocument.length ? `text: ${quoted(fromDocument)}` : ""].filter(Boolean);
  const name = fromDocument.length && text
    ? element("button", { type: "button", class: "term-button", "aria-pressed": "false", title: "Mark only the words of this term" }, term.term)
    : element("span", {}, term.term);
  if (name.tagName === "BUTTON") name.addEventListener("click", () => text.only(at, name));
  return element("tr", {},
    element("th", { scope: "row" }, name, term.own_query ? null : element("span", { class: "tag" }, "added")),
    element("td", {}, element("div", { class: "adds" }, (term.origin ? partsBar : bar)(most > 0 ? term.score / most : 0, term.origin),
      element("span", { class: "number" }, score(term.score)), element("span", { class: "number quiet-text" }, percent(term.share)))),
    element("td", { class: "number wide-only" }, `${significant(term.query_weight, 3)} × ${significant(term.document_weight, 3)}`),
    element("td", { class: "from" }, from.join("; ") || (term.origin ? null : "–"), term.origin ? originOf(term.origin) : null));
}

function markedText(answer) {
  const spans = answer.contributions.flatMap((term, at) => (term.document_words ?? []).map((word) => ({ span: word, name: at })));
  const marks = [];
  const nodes = pieces(answer.text, spans).map((piece) => {
    if (piece.names.length === 0) return piece.text;
    const node = element("mark", { title: piece.names.map((at) => answer.contributions[at].term).join(", ") }, piece.text);
    marks.push({ node, names: piece.names });
    return node;
  });
  const node = element("div", { class: "text", tabindex: 0, role: "region", "aria-label": `Text of ${answer.title || answer.doc_id}` }, nodes);
  let chosen = null;
  function only(at, button) {
    const wasChosen = chosen === button;
    chosen?.setAttribute("aria-pressed", "false");
    chosen = wasChosen ? null : button;
    chosen?.setAttribute("aria-pressed", "true");
    for (const mark of marks) mark.node.classList.toggle("faint", chosen !== null && !mark.names.includes(at));
    if (chosen) marks.find((mark) => mark.names.includes(at))?.node.scrollIntoView({ block: "nearest" });
  }
  return { node, only };
}
