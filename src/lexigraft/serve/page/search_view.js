// Search as you type, by one system or two. One question at a time: a new key cancels what is under way.

import { announce, showTrouble } from "./announce.js";
import { newestOnly, post } from "./api.js";
import { byId } from "./dom.js";
import { createFilters } from "./filters.js";
import { plural } from "./numbers.js";
import { createSide, prunings } from "./side.js";
import { canCompare, counterpart, systemOf } from "./systems.js";

const SEARCHED = ["q", "k", "sides", "where"];
const TITLE_MS = 300;
const PENDING_MS = 300; // after which an answer is seen to be awaited: a page that fades at every key would flicker

export function createSearchView(store, offered, onRefused) {
  const { systems } = offered;
  const input = byId("query");
  const compare = byId("compare");
  const sides = [createSide(0, store, offered), createSide(1, store, offered)];
  const filters = createFilters(byId("filters"), store, systems);
  const question = newestOnly((signal, state) => Promise.all(state.sides.map((side) => askOne(offered, state, side, signal))));

  input.addEventListener("input", () => {
    const q = input.value;
    // What was open belongs to the former query.
    store.set({ q, open: "", k: 10 }, "growing");
  });
  input.addEventListener("change", () => store.settle());
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    store.settle();
  });
  compare.hidden = !canCompare(systems);
  compare.addEventListener("click", () => {
    const [first, second] = store.state.sides;
    store.set({ sides: second ? [first] : [first, counterpart(systems, first)] });
  });

  let pending = 0;
  let titling = 0;

  // Not with every answer: a browser draws its own window anew for a title, while results wait to be drawn.
  function titleAtRest(title) {
    clearTimeout(titling);
    titling = setTimeout(() => {
      if (store.state.view === "search") document.title = title;
    }, TITLE_MS);
  }

  function showPending(isPending) {
    clearTimeout(pending);
    if (isPending) pending = setTimeout(() => byId("sides").setAttribute("aria-busy", "true"), PENDING_MS);
    else byId("sides").removeAttribute("aria-busy");
  }

  async function search(state) {
    showPending(state.q.trim() !== "");
    if (state.q.trim() === "") {
      question.cancel();
      titleAtRest("Lexigraft");
      for (const side of sides) side.clear("");
      showTrouble("");
      announce("");
      return;
    }
    const answers = await question(state);
    if (answers) showPending(false); // else a newer question is under way
    // What is open may have changed since this was asked; the rest cannot have: it would have been asked anew.
    if (answers && store.state.view === "search") paint({ ...state, open: store.state.open }, answers);
  }

  function paint(state, answers) {
    showTrouble(answers.map((answer) => answer.error?.message).find(Boolean) ?? "");
    answers.forEach((answer, at) => {
      if (answer.error) {
        sides[at].clear("No answer.");
        onRefused(answer.error);
      } else {
        sides[at].paint(state, answer, at === 1 ? answers[0] : null);
      }
    });
    const said = answers.filter((answer) => !answer.error).map((answer) => `${plural(answer.hits.length, "result")} by ${answer.system}`);
    if (said.length) announce(`${state.q}: ${said.join(", ")}`);
    titleAtRest(`${state.q} – Lexigraft`);
  }

  // Not at every key: what a key changes must be painted before its results can be.
  function showChoices(state) {
    const isComparing = state.sides.length > 1;
    compare.setAttribute("aria-pressed", String(isComparing));
    byId("sides").classList.toggle("two", isComparing);
    const shown = sides.slice(0, state.sides.length).map((side) => side.node);
    if (byId("sides").childElementCount !== shown.length) {
      if (isComparing) sides[1].clear(" "); // what it showed was of a former question
      byId("sides").replaceChildren(...shown);
    }
    state.sides.forEach((_, at) => sides[at].update(state));
    filters.update(state);
  }

  function update(state, former) {
    if (input.value !== state.q) input.value = state.q;
    const isSame = former?.view === "search" && state.sides === former.sides && state.where === former.where;
    if (!isSame) showChoices(state);
    const isNew = !former || former.view !== "search" || SEARCHED.some((name) => state[name] !== former[name]);
    if (isNew) search(state);
    else if (state.open !== former.open) sides.slice(0, state.sides.length).forEach((side) => side.openChanged(state));
  }
  return { update };
}

// An error of one system must not hide the other's results.
async function askOne(offered, state, side, signal) {
  const k = Math.min(state.k, offered.most_results);
  const body = { query: state.q, system: systemOf(offered.systems, side).name, k, ...prunings(side) };
  if (side.off.length) body.without = side.off;
  if (state.where.length) body.where = state.where;
  try {
    return await post("search", body, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return { error };
  }
}
