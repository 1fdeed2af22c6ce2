// The page without a mouse: / to the query, arrows among results, Enter opens (a result is a button), Escape goes back.

import { byId } from "./dom.js";

const KEY = "lexigraft-slash";

function rememberSlash(box) {
  try {
    box.checked = localStorage.getItem(KEY) !== "no";
    box.addEventListener("change", () => localStorage.setItem(KEY, box.checked ? "yes" : "no"));
  } catch {
    // storage is forbidden; the switch then lasts as long as the page
  }
}

const isTyping = (node) => node.matches("input:not([type=range], [type=checkbox]), textarea, select");
const hitsOf = (side) => [...side.querySelectorAll(".hit-open")];

function toQuery() {
  const input = byId("query");
  input.focus();
  input.select();
}

// From the query down to the first result, up from there to the query, sideways to the same place of the other system.
function step(event, key) {
  const focused = document.activeElement;
  const sides = [...document.querySelectorAll("#sides .side")];
  if (focused === byId("query")) {
    const first = key === "ArrowDown" ? hitsOf(sides[0])[0] : undefined;
    if (first) go(event, first);
    return;
  }
  if (!focused.matches(".hit-open")) return;
  const at = sides.findIndex((side) => side.contains(focused));
  const place = hitsOf(sides[at]).indexOf(focused);
  if (key === "ArrowDown") go(event, hitsOf(sides[at])[place + 1]);
  if (key === "ArrowUp") go(event, place === 0 ? byId("query") : hitsOf(sides[at])[place - 1]);
  const beside = key === "ArrowRight" ? sides[at + 1] : key === "ArrowLeft" ? sides[at - 1] : undefined;
  if (beside) go(event, hitsOf(beside)[Math.min(place, hitsOf(beside).length - 1)]);
}

function go(event, node) {
  if (!node) return;
  event.preventDefault();
  node.focus();
  node.scrollIntoView({ block: "nearest" });
}

function escape(store) {
  const focused = document.activeElement;
  if (store.state.view !== "search" || focused.matches("select, [type=range]")) return;
  if (store.state.open && focused !== byId("query")) {
    const side = focused.closest(".side");
    const opened = [...(side ?? document).querySelectorAll(".hit-open")].find((hit) => hit.dataset.doc === store.state.open);
    opened?.focus();
    store.set({ open: "" });
  } else if (focused !== byId("query")) {
    toQuery();
  }
}

export function listenToKeys(store) {
  const slash = byId("slash");
  rememberSlash(slash);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "/" && slash.checked && !isTyping(event.target)) {
      event.preventDefault();
      if (store.state.view !== "search") store.set({ view: "search" });
      toQuery();
    } else if (event.key === "Escape") {
      escape(store);
    } else if (event.key.startsWith("Arrow") && store.state.view === "search") {
      step(event, event.key);
    }
  });
}
