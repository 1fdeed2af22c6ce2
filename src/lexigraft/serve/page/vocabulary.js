// The vocabulary as a list: how many documents have a term, how wacky it is, and where it leads.

import { announce, showTrouble } from "./announce.js";
import { ask, newestOnly } from "./api.js";
import { element, option, replaceKeepingFocus } from "./dom.js";
import { count, plural, significant } from "./numbers.js";
import { systemOf } from "./systems.js";
import { termNodes } from "./vocabulary_term.js";

const SIZE = 50;
const COLUMNS = [["term", "Term"], ["postings", "Postings"], ["wackiness", "Wackiness"]];
const LISTED = ["starts", "sort", "descending", "page", "sides"];

export function createVocabularyView(place, store, offered, onRefused) {
  const systems = offered.systems.filter((system) => system.kind === "terms");
  const select = element("select", { id: "vocabulary-system" }, systems.map((system) => option(system.name, system.name)));
  const starts = element("input", { id: "vocabulary-starts", type: "search", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const status = element("p", { class: "small quiet-text" });
  const head = element("thead");
  const body = element("tbody");
  const table = element("table", { class: "vocabulary-table" }, element("caption", { class: "unseen" }, "Terms"), head, body);
  const pages = element("nav", { class: "pages", "aria-label": "Pages of terms" });
  const detail = element("section", { class: "term-detail", "aria-label": "A term" });
  const controls = element("div", { class: "vocabulary-controls" },
    element("div", {}, element("label", { for: select.id, class: "small" }, "System"), select),
    element("div", {}, element("label", { for: starts.id, class: "small" }, "Begins with"), starts));
  const listing = element("div", { class: "vocabulary-list" }, status, table, pages);
  place.append(controls, element("div", { class: "vocabulary-columns" }, listing, detail));
  const askList = newestOnly((signal, question) => ask("vocabulary", question, signal));
  const askTerm = newestOnly((signal, question) => ask("vocabulary/term", question, signal));

  select.addEventListener("change", () => {
    const [, ...others] = store.state.sides;
    store.set({ sides: [{ system: select.value, qk: "", dk: "", off: [] }, ...others], page: 1 });
  });
  starts.addEventListener("input", () => store.set({ starts: starts.value, page: 1 }, "growing"));
  starts.addEventListener("change", () => store.settle());

  const systemName = (state) => {
    const system = systemOf(offered.systems, state.sides[0]);
    return (systems.includes(system) ? system : systems[0])?.name;
  };

  async function list(state) {
    const question = {
      system: systemName(state), starts: state.starts, sort: state.sort, descending: state.descending, page: state.page, size: SIZE,
    };
    const answer = await askList(question);
    if (answer) paint(state, answer);
  }

  let listed = null; // the newest answer

  function paint(state, answer) {
    listed = answer;
    paintRows(store.state); // the chosen term may have changed since this was asked
    const columns = COLUMNS.filter(([name]) => answer.scored || name !== "wackiness");
    replaceKeepingFocus(head, [element("tr", {}, columns.map(([name, title]) => headCell(store, state, name, title)))]);
    replaceKeepingFocus(pages, pageNodes(store, answer));
    status.textContent = `${plural(answer.n_terms, "term")}${answer.pages > 1 ? `, page ${count(answer.page)} of ${count(answer.pages)}` : ""}`;
    announce(status.textContent);
    if (!answer.scored) status.append(". Scores of wackiness: start the server with --wackiness.");
  }

  function paintRows(state) {
    replaceKeepingFocus(body, listed.terms.map((term) => row(store, state, term, listed.scored)));
  }

  async function open(state) {
    if (state.term === "") {
      askTerm.cancel();
      detail.replaceChildren(element("p", { class: "small quiet-text" }, "Choose a term to see its neighbours and its heaviest documents."));
      return;
    }
    let nodes;
    try {
      const answer = await askTerm({ system: systemName(state), term: state.term });
      if (!answer) return;
      nodes = termNodes(store, answer);
      announce(`${answer.term}: ${plural(answer.postings, "posting")}`);
    } catch (error) {
      if (error.status !== 404) throw error;
      nodes = [element("p", { class: "small" }, error.message)]; // belongs here, and stays while the list changes
    }
    replaceKeepingFocus(detail, nodes);
    if (detail.getBoundingClientRect().bottom < 0) detail.scrollIntoView({ block: "start" }); // on a phone it stands above the list
  }

  async function guarded(work, state) {
    try {
      showTrouble("");
      await work(state);
    } catch (error) {
      if (store.state.view !== "vocabulary") return;
      showTrouble(error.message);
      onRefused(error);
    }
  }

  function update(state, former) {
    if (systems.length === 0) {
      place.replaceChildren(element("p", {}, "No system here has terms."));
      return;
    }
    if (starts.value !== state.starts) starts.value = state.starts;
    select.value = systemName(state);
    const isNew = !former || former.view !== "vocabulary";
    if (isNew || LISTED.some((name) => state[name] !== former[name])) guarded(list, state);
    else if (listed && state.term !== former.term) paintRows(state);
    if (isNew || state.term !== former.term || state.sides !== former.sides) guarded(open, state);
  }
  return { update };
}

function headCell(store, state, name, title) {
  const isSorted = state.sort === name;
  const direction = state.descending ? "descending" : "ascending";
  const button = element("button", { type: "button", class: "sort", "data-key": `sort-${name}` }, title,
    element("span", { "aria-hidden": "true", class: "arrow" }, isSorted ? (state.descending ? " ↓" : " ↑") : ""));
  button.addEventListener("click", () => store.set({ sort: name, descending: isSorted ? !state.descending : name !== "term", page: 1 }));
  return element("th", { scope: "col", "aria-sort": isSorted ? direction : "none" }, button);
}

function row(store, state, term, isScored) {
  const isOpen = state.term === term.term;
  const button = element("button", {
    type: "button", class: "term-button", "aria-pressed": String(isOpen), "data-key": `term-${term.term}`,
    on: { click: () => store.set({ term: isOpen ? "" : term.term }) },
  }, term.term);
  const wackiness = term.wackiness === null || term.wackiness === undefined ? "–" : significant(term.wackiness, 2);
  return element("tr", {}, element("th", { scope: "row" }, button),
    element("td", { class: "number" }, count(term.postings)), isScored ? element("td", { class: "number" }, wackiness) : null);
}

function pageNodes(store, answer) {
  if (answer.pages <= 1) return [];
  const to = (page, text) => element("button", {
    type: "button", "data-key": `page-${text}`, disabled: page < 1 || page > answer.pages, on: { click: () => store.set({ page }) },
  }, text);
  return [to(Math.min(answer.page - 1, answer.pages), "Back"), to(answer.page + 1, "Next")];
}
