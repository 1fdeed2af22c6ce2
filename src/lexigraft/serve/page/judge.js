// Two systems judged by the user's own questions: documents of both, of which nothing says which system found them.

import { announce, showTrouble } from "./announce.js";
import { ask, newestOnly, post } from "./api.js";
import { element, option } from "./dom.js";

export function createJudgeView(place, store, offered, onRefused) {
  const names = offered.systems.map((system) => system.name);
  const choice = (id, first) => element("select", { id }, option("", first, true), names.map((name) => option(name, name)));
  const system = choice("judge-system", "As usual");
  const baseline = choice("judge-baseline", "BM25");
  const input = element("input", { id: "judge-question", type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "go" });
  const form = element("form", { class: "search" }, element("label", { for: input.id, class: "unseen" }, "Question"), input,
    element("button", { type: "submit" }, "Ask"));
  const known = element("p", { class: "judge-known" });
  const begun = element("div", { class: "judge-begun" });
  const heading = element("h2", {});
  const list = element("ol", { class: "hits" });
  const skip = element("button", { type: "button", class: "quiet" }, "Leave this question out");
  const asked = element("section", { class: "judge-asked", "aria-label": "Documents to judge", hidden: true }, heading, list, skip);
  const labelled = (text, node) => element("div", {}, element("label", { for: node.id, class: "small" }, text), node);
  place.append(
    element("p", {}, "Ask what you would ask, and say of each document whether it answers. Which system found it is not said. ",
      "At most forty questions say which system is better, or that no difference is seen."),
    element("div", { class: "report-choices" }, labelled("System", system), labelled("Compared with", baseline)),
    form, element("p", { class: "small quiet-text" }, "Keys: y yes, n no, s leave the question out."), known, begun, asked);
  const question = newestOnly((signal, text) => post("judgements/question", { question: text, ...pair() }, signal));
  let current = null; // the question that is judged: its text and its documents
  let answering = Promise.resolve(); // answers are sent one after the other

  const pair = () => ({ system: system.value || null, baseline: baseline.value || null });

  async function guarded(work) {
    try {
      await work();
      if (store.state.view === "judge") showTrouble("");
    } catch (error) {
      if (store.state.view !== "judge") return;
      showTrouble(error.message);
      onRefused(error);
    }
  }

  function showState(state) {
    known.textContent = `${state.systems.join(" and ")}: ${state.said}`;
    const others = state.begun.filter((text) => text !== current?.question);
    begun.replaceChildren(...others.map((text) =>
      element("button", { type: "button", class: "quiet", on: { click: () => begin(text) } }, `Go on with: ${text}`)));
  }

  function end(text) {
    current = null;
    asked.hidden = true;
    announce(text);
    input.value = "";
    input.focus();
  }

  const begin = (text) => guarded(async () => {
    const answer = await question(text);
    if (!answer) return; // a newer one was asked
    current = answer.documents.length ? answer : null;
    showState(answer.state);
    heading.textContent = answer.question;
    list.replaceChildren(...answer.documents.map(documentNode));
    asked.hidden = !current;
    if (current) toNext();
    else end("Both systems have the same first documents; there is nothing to judge. Ask another question.");
    if (!current) known.textContent = `Same first documents, nothing to judge. ${known.textContent}`;
  });

  const answer = (shown, relevant) => send({ doc_id: shown.doc_id, relevant }, () => {
    shown.relevant = relevant;
    toNext();
  });

  function send(said, then) {
    const about = current;
    const work = async () => {
      const state = await post("judgements", { question: about.question, ...said, ...pair() });
      if (about === current) then();
      showState(state);
      if (about === current && about.documents.every((shown) => shown.relevant !== null)) end(state.said);
    };
    answering = answering.then(() => guarded(work));
  }

  // The focus goes to the first document that is not judged yet.
  function toNext() {
    for (const [at, shown] of current.documents.entries()) {
      for (const button of list.children[at].querySelectorAll("[data-says]")) {
        button.setAttribute("aria-pressed", String(String(shown.relevant) === button.dataset.says));
      }
    }
    const at = current.documents.findIndex((shown) => shown.relevant === null);
    if (at >= 0) list.children[at].querySelector("[data-says]").focus();
  }

  function documentNode(shown, at) {
    const title = element("h3", { id: `judge-document-${at}` }, shown.title || shown.doc_id);
    const button = (text, relevant) => element("button", {
      type: "button", "data-says": String(relevant), "aria-pressed": "false", on: { click: () => answer(shown, relevant) },
    }, text);
    const isCut = shown.text.length > shown.snippet.length;
    const whole = isCut && element("details", {}, element("summary", { class: "small" }, "Whole text"),
      element("p", { class: "text", tabindex: 0 }, shown.text));
    return element("li", {}, element("div", { class: "judge-document", role: "group", "aria-labelledby": title.id }, title,
      element("p", { class: "snippet" }, shown.snippet), whole,
      element("div", { class: "judge-answers" }, button("Yes", true), button("No", false))));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) begin(input.value);
  });
  skip.addEventListener("click", () => send({ skip: true }, () => end("The question was left out.")));
  for (const select of [system, baseline]) select.addEventListener("change", () => {
    asked.hidden = true;
    current = null;
    load();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (store.state.view !== "judge" || !current || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = [...list.children].findIndex((node) => node.contains(event.target));
    const shown = current.documents[at] ?? current.documents.find((one) => one.relevant === null);
    if (event.key === "s") skip.click();
    else if (shown && (event.key === "y" || event.key === "n")) answer(shown, event.key === "y");
  });

  const load = () => guarded(async () => showState(await ask("judgements", pair())));

  function update(state, former) {
    if (!former || former.view !== "judge") load();
  }
  return { update };
}
