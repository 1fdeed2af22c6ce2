// The page begins here: what the server offers, then the views, each of which is told when the address changes.

import { showTrouble } from "./announce.js";
import { ask, useKey } from "./api.js";
import { byId } from "./dom.js";
import { createJudgeView } from "./judge.js";
import { listenToKeys } from "./keyboard.js";
import { createReportView } from "./report.js";
import { createSearchView } from "./search_view.js";
import { createStore } from "./state.js";
import { createVocabularyView } from "./vocabulary.js";

const VIEWS = ["search", "vocabulary", "report", "judge"];
const RETRY_MS = 400;
const TITLES = { search: "Lexigraft", vocabulary: "Vocabulary – Lexigraft", report: "Report – Lexigraft", judge: "Judge – Lexigraft" };

function showView(state) {
  for (const name of VIEWS) {
    byId(`${name}-view`).hidden = name !== state.view;
    const link = document.querySelector(`nav [data-view=${name}]`);
    if (name === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = TITLES[state.view];
}

function askForKey(error) {
  if (error.status !== 401) return;
  byId("key-form").hidden = false;
  byId("key").focus();
}

function listenToViews(store) {
  document.querySelector("nav").addEventListener("click", (event) => {
    const link = event.target.closest("[data-view]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.dataset.view !== store.state.view) store.set({ view: link.dataset.view });
  });
}

let again = null; // asks for what is shown once more; null until the page has begun

// What the address says is shown at once, though the systems may take a while.
function showAddress(store) {
  showView(store.state);
  if (byId("query").value === "") byId("query").value = store.state.q;
  listenToViews(store);
  store.listen((state, former) => state.view !== former.view && showView(state));
}

async function start(store) {
  const offered = await ask("systems");
  if (offered.systems.length === 0) throw new Error("The server has no system to search with.");
  const typed = byId("query").value; // while the systems were asked for
  if (typed !== store.state.q) store.set({ q: typed, open: "" }, "growing");
  document.querySelector("nav [data-view=judge]").hidden = !offered.may_judge;
  const views = {
    search: createSearchView(store, offered, askForKey),
    vocabulary: createVocabularyView(byId("vocabulary"), store, offered, askForKey),
    report: createReportView(byId("report"), store, offered, askForKey),
    judge: createJudgeView(byId("judge"), store, offered, askForKey),
  };
  store.listen((state, former) => views[state.view].update(state, former));
  listenToKeys(store);
  addEventListener("pagehide", () => store.settle());
  again = () => views[store.state.view].update(store.state, null);
  again();
  if (store.state.view === "search" && store.state.q === "") byId("query").focus();
}

async function startOrSayWhy() {
  try {
    await start(store);
    showTrouble("");
  } catch (error) {
    showTrouble(error.message);
    askForKey(error);
    if (error.status === 503 || error.status === 429) setTimeout(startOrSayWhy, RETRY_MS); // many ask
  }
}

const store = createStore();
showAddress(store);
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey(byId("key").value);
  byId("key-form").hidden = true;
  showTrouble("");
  if (again) again();
  else startOrSayWhy();
});
startOrSayWhy();
