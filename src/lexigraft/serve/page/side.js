// One system of the search view: which it is, at what cost, what it reads in the query, and what it finds.

import { chipsOf } from "./chips.js";
import { createDial } from "./dial.js";
import { element, option, replaceKeepingFocus } from "./dom.js";
import { createExplanation } from "./explanation.js";
import { movesOf, summary } from "./moved.js";
import { count, milliseconds, plural, pruning } from "./numbers.js";
import { goneNodes, hitNodes } from "./results.js";
import { narrow } from "./room.js";
import { sideName, systemOf } from "./systems.js";

// That are shown at first: a row or two, so that results are in sight. A whole expansion has a hundred.
const CHIPS = 14;
const CHIPS_IN_LITTLE_ROOM = 8;

// While somebody types, the results in sight are painted first; those below follow when the hand rests. To lay out and
// paint all of them takes twice as long, and the next key would wait for it.
const REST_MS = 150;
const LEAST_HEIGHT = 140; // of a result, in pixels
const ABOVE = 380; // the first result
const inSight = () => Math.max(3, Math.ceil((innerHeight - ABOVE) / LEAST_HEIGHT));

export function createSide(index, store, offered) {
  const id = index === 0 ? "first" : "second";
  const { systems, measure, most_results: most } = offered;
  const heading = element("h2", { class: "unseen" });
  const select = element("select", { id: `${id}-system` },
    systems.map((system) => option(system.name, system.recommended ? `${system.name} (recommended)` : system.name)));
  const close = index === 0 ? null : element("button", { type: "button", class: "quiet", on: { click: () => store.set({ sides: store.state.sides.slice(0, 1) }) } }, "Close");
  const dial = createDial(`${id}-dial`, measure, (point) => store.setSide(index, point, "growing"), () => store.settle());
  const status = element("p", { class: "small quiet-text status-line" });
  const moved = element("p", { class: "small moved-summary", hidden: true });
  const chips = element("div", { class: "expansion" });
  const list = element("ol", { class: "hits", id: `${id}-hits` });
  const more = element("button", { type: "button", class: "more", hidden: true }, "More results");
  const gone = element("div", { class: "gone" });
  const explanation = createExplanation();
  const label = element("label", { for: select.id, class: "small" }, index === 0 ? "System" : "Compared with");
  const inShort = element("summary", { class: "small" });
  const panel = element("div", { class: "panel" }, element("div", { class: "side-choice" }, label, select, close), dial.node);
  const head = element("details", { class: "side-head", open: !narrow.matches }, inShort, panel); // with room it has no summary
  const node = element("section", { class: "side", "data-side": id }, heading, head, chips, status, ...(index === 0 ? [] : [moved]), list, more, gone);
  let showsAllChips = false;
  let painted = null;
  let resting = 0;

  select.addEventListener("change", () => store.setSide(index, { system: select.value, qk: "", dk: "", off: [] }));
  narrow.addEventListener("change", () => {
    head.open = !narrow.matches;
    if (painted) paintChips();
  });
  more.addEventListener("click", () => store.set({ k: Math.min(most, store.state.k + 10) }));

  function update(state) {
    const side = state.sides[index];
    const system = systemOf(systems, side);
    if (select.value !== system.name) select.value = system.name;
    dial.update(system, side);
    inShort.textContent = `${index === 0 ? "" : "Compared with "}${[system.name, ...dial.inShort()].join(", ")}`;
    heading.textContent = `Results of ${sideName(systems, side, pruning)}`;
  }

  function switchTerm(term, off) {
    const former = store.state.sides[index].off.filter((other) => other !== term);
    store.setSide(index, { off: off ? [...former, term] : former });
  }

  function paintChips() {
    const { state, answer } = painted;
    const handlers = {
      onSwitch: switchTerm,
      onMore: () => {
        showsAllChips = !showsAllChips;
        paintChips();
      },
    };
    const atFirst = narrow.matches || state.sides.length > 1 ? CHIPS_IN_LITTLE_ROOM : CHIPS;
    replaceKeepingFocus(chips, chipsOf(answer, state.sides[index], id, showsAllChips ? Infinity : atFirst, atFirst, handlers));
  }

  // `other` is the first system's answer where this is the second.
  function paint(state, answer, other) {
    painted = { state, answer };
    const compared = other && !other.error ? movesOf(other.hits, answer.hits) : null;
    const name = other ? sideName(systems, state.sides[0], pruning) : "";
    paintChips();
    paintOpen(state, compared?.moves);
    status.textContent = statusOf(answer, state.sides[index]);
    moved.hidden = !compared;
    moved.textContent = compared ? `Beside ${name}: ${summary(compared) || "nothing to compare"}` : "";
    gone.replaceChildren(...(compared ? goneNodes(compared.gone, name) : []));
    const stood = document.activeElement === more;
    more.hidden = answer.hits.length < state.k || state.k >= most;
    if (stood && more.hidden) list.querySelector(".hit:last-child .hit-open")?.focus({ preventScroll: true });
    list.dataset.query = state.q;
  }

  function paintOpen(state, moves) {
    const { answer } = painted;
    painted.moves = moves ?? painted.moves;
    const isFound = answer.hits.some((hit) => hit.doc_id === state.open);
    if (isFound) explanation.show(questionWhy(state, answer));
    else explanation.clear();
    const given = {
      id, open: isFound ? state.open : "", moves: painted.moves, explanation: explanation.node,
      onOpen: (open, button) => openInPlace(open, button),
    };
    const isTyping = document.activeElement?.id === "query" && scrollY === 0 && !given.open;
    paintHits(given, answer.hits, isTyping ? inSight() : Infinity, state.q);
  }

  function paintHits(given, hits, atFirst, query) {
    clearTimeout(resting);
    const isWhole = hits.length <= atFirst;
    replaceKeepingFocus(list, hitNodes(hits.slice(0, atFirst), given));
    list.classList.toggle("growing", !isWhole);
    list.dataset.whole = isWhole ? query : "";
    if (isWhole) return;
    resting = setTimeout(() => {
      list.append(...hitNodes(hits.slice(atFirst), given, atFirst));
      list.classList.remove("growing");
      list.dataset.whole = query;
    }, REST_MS);
  }

  // What was open above closes: the result that was chosen stays under the hand.
  function openInPlace(open, button) {
    const { top } = button.getBoundingClientRect();
    const { doc } = button.dataset;
    store.set({ open });
    const after = [...list.querySelectorAll(".hit-open")].find((other) => other.dataset.doc === doc);
    if (after) scrollBy(0, after.getBoundingClientRect().top - top);
  }

  function questionWhy(state, answer) {
    const side = state.sides[index];
    return { query: state.q, doc_id: state.open, system: answer.system, ...prunings(side), without: side.off };
  }

  function clear(text) {
    painted = null;
    clearTimeout(resting);
    list.classList.remove("growing");
    explanation.clear();
    for (const place of [chips, list, gone]) place.replaceChildren();
    status.textContent = text || aboutSystem(systemOf(systems, store.state.sides[index] ?? store.state.sides[0]));
    moved.textContent = "";
    more.hidden = true;
    list.dataset.query = list.dataset.whole = "";
  }

  return {
    node, update, paint, clear,
    openChanged: (state) => painted && paintOpen(state),
  };
}

// Whole numbers and shares go as numbers, "m0.8" as it is.
export function prunings(side) {
  const given = {};
  for (const name of ["qk", "dk"]) {
    if (side[name] !== "") given[name] = /^\d+(\.\d+)?$/.test(side[name]) ? Number(side[name]) : side[name];
  }
  return given;
}

// What there is to know before anything is asked.
function aboutSystem(system) {
  const many = `${plural(system.n_documents, "document")} of ${system.run}.`;
  return system.why ? `${many} ${system.name}: ${system.why}.` : many;
}

function statusOf(answer, side) {
  if (side.off.length && answer.terms.length && !answer.terms.some((term) => term.kept)) return "All terms are switched off.";
  if (answer.hits.length === 0) return "Nothing found. Fewer or other words may help.";
  const time = `${milliseconds(answer.ms.encode)} to encode, ${milliseconds(answer.ms.search)} to search`;
  const touched = answer.postings ? `, ${count(answer.postings)} postings` : "";
  return `${plural(answer.hits.length, "result")}: ${time}${touched}`;
}
