// The report, live: what each system is worth at what cost, as a picture and as the numbers behind it.

import { announce, showTrouble } from "./announce.js";
import { ask } from "./api.js";
import { chart, shapeOf } from "./chart.js";
import { createDial } from "./dial.js";
import { element, option } from "./dom.js";
import { flops, milliseconds, pruning, quality } from "./numbers.js";
import { systemOf } from "./systems.js";

// What a row may be measured by: ratios such as MRR@10, never counts or times.
const MEASURE = /^[A-Za-z]+(@\d+)?$/;
const NOT_QUALITY = new Set(["FLOPS", "qk", "dk", "terms", "postings", "system", "kept"]);

const timeOf = (row) => row.ms_text_to_ids ?? (row.ms_encode ?? 0) + (row.ms_search_10 ?? row.ms_search ?? NaN);

export function measuresOf(rows) {
  const names = Object.keys(rows[0] ?? {}).filter((name) => MEASURE.test(name) && !NOT_QUALITY.has(name));
  return names.filter((name) => rows.every((row) => Number.isFinite(row[name]) && row[name] >= 0 && row[name] <= 1));
}

export function createReportView(place, store, offered, onRefused) {
  const dial = createDial("report-dial", offered.measure, (point) => store.setSide(0, point, "growing"), () => store.settle());
  const select = element("select", { id: "report-system" }, offered.systems.map((system) => option(system.name, system.name)));
  const choice = element("div", { class: "side-choice" }, element("label", { for: select.id, class: "small" }, "System"), select);
  const body = element("div", { class: "report-runs" });
  place.append(element("div", { class: "report-dial panel" }, choice, dial.node), body);
  let pictures = [];
  let loading = null;
  select.addEventListener("change", () => store.setSide(0, { system: select.value, qk: "", dk: "", off: [] }));

  async function load() {
    const answer = await ask("report");
    pictures = answer.runs.filter((run) => run.rows.length > 0).map((run) => createPicture(run, store, offered));
    body.replaceChildren(...pictures.map((picture) => picture.node));
    if (pictures.length === 0) body.replaceChildren(element("p", {}, "Nothing was measured: an index alone has no report."));
    announce(`${pictures.length} ${pictures.length === 1 ? "report" : "reports"}`);
  }

  async function update(state) {
    const system = systemOf(offered.systems, state.sides[0]);
    select.value = system.name;
    dial.update(system, state.sides[0]);
    try {
      await (loading ??= load());
    } catch (error) {
      loading = null;
      if (store.state.view !== "report") return;
      showTrouble(error.message);
      onRefused(error);
      return;
    }
    if (store.state.view !== "report") return; // the line of errors is another view's by now
    showTrouble("");
    for (const picture of pictures) picture.update(store.state);
  }
  return { update };
}

function createPicture(run, store, offered) {
  const measures = measuresOf(run.rows);
  const id = `report-${run.name}`;
  const choice = element("select", { id: `${id}-measure` }, measures.map((name) => option(name, name, name === run.measure)));
  const cost = element("select", { id: `${id}-cost` }, option("FLOPS", "FLOPS", true), option("ms", "Milliseconds a query"));
  const look = element("p", { class: "look small", hidden: true, "aria-hidden": "true" });
  const place = element("div", { class: "picture" });
  const legend = element("ul", { class: "legend small" });
  const rows = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Numbers of ${run.name}` });
  const labelled = (text, node) => element("div", {}, element("label", { for: node.id, class: "small" }, text), node);
  const node = element("section", { class: "report-run" }, element("h2", {}, run.name),
    element("div", { class: "report-choices" }, labelled("Worth", choice), labelled("Cost", cost)),
    legend, place, element("p", { class: "small quiet-text" }, "A point of the picture sets the dial. Arrows go from point to point."), rows);
  const names = [...new Set(run.rows.map((row) => row.system))];
  let drawnAs = "";

  const served = (row) => offered.systems.find((system) => system.name === row.system || system.name === `${run.name}/${row.system}`);
  const isCurrent = (row, state) => {
    const system = systemOf(offered.systems, state.sides[0]);
    const side = state.sides[0];
    const [qk, dk] = [side.qk === "" ? system.qk : side.qk, side.dk === "" ? system.dk : side.dk];
    return served(row) === system && String(row.qk) === String(qk) && String(row.dk) === String(dk);
  };

  function choose(point) {
    const system = served(point.row);
    if (system) store.setSide(0, { system: system.name, qk: String(point.row.qk), dk: String(point.row.dk), off: [] });
  }

  function lookAt(point, x, y) {
    look.hidden = point === null;
    if (point === null) return;
    look.textContent = point.text;
    look.style.setProperty("inset-inline-start", `${Math.max(0, Math.min(x - 110, place.clientWidth - 220))}px`);
    look.style.setProperty("inset-block-start", `${y > 110 ? y - 92 : y + 20}px`);
  }

  function update(state) {
    const width = Math.max(280, place.clientWidth || 720);
    const costOf = (row) => (cost.value === "ms" ? timeOf(row) : row.FLOPS);
    const pointOf = (row) => ({ x: costOf(row), y: row[choice.value], text: said(row, choice.value), isCurrent: isCurrent(row, state), row });
    const series = names.map((name) => ({
      name, points: run.rows.filter((row) => row.system === name).map(pointOf).filter((point) => point.x > 0 && Number.isFinite(point.y)),
    }));
    const key = JSON.stringify([width, series.map((one) => one.points.map((point) => [point.x, point.y, point.isCurrent]))]);
    if (key === drawnAs) return;
    drawnAs = key;
    const hadFocus = place.contains(document.activeElement);
    const title = `${choice.value} against ${cost.selectedOptions[0].textContent}, ${run.name}`;
    place.replaceChildren(chart(series, { x: cost.selectedOptions[0].textContent, y: choice.value, title }, width, choose, lookAt), look);
    look.hidden = true;
    if (hadFocus) place.querySelector("[tabindex='0']")?.focus();
    legend.replaceChildren(...series.map((one, order) => legendItem(one, order, cost.value)));
    rows.replaceChildren(numbers(run, measures, (row) => isCurrent(row, state)));
  }
  for (const control of [choice, cost]) control.addEventListener("change", () => update(store.state));
  addEventListener("resize", () => node.isConnected && store.state.view === "report" && update(store.state));
  return { node, update };
}

// A dense system has no postings, and so no place on that axis.
function legendItem(one, order, cost) {
  if (one.points.length === 0) return element("li", { class: "quiet-text" }, `${one.name}: not measured in ${cost}`);
  return element("li", {}, shapeOf(order), " ", one.name);
}

function said(row, measure) {
  return `${row.system} ${pruning(row.qk, row.dk)}: ${measure} ${quality(row[measure])}, FLOPS ${flops(row.FLOPS)}, ${milliseconds(timeOf(row))}`;
}

function numbers(run, measures, isCurrent) {
  const shown = measures.slice(0, 4);
  const head = ["System", "(qk, dk)", ...shown, "FLOPS", "Time"].map((title, at) => element("th", { scope: "col", class: at > 1 ? "number" : null }, title));
  const rows = run.rows.map((row) => element("tr", { class: isCurrent(row) ? "current" : null },
    element("th", { scope: "row" }, row.system, isCurrent(row) ? element("span", { class: "tag" }, "dial") : null),
    element("td", {}, pruning(row.qk, row.dk)),
    shown.map((name) => element("td", { class: "number" }, quality(row[name]))),
    element("td", { class: "number" }, flops(row.FLOPS)), element("td", { class: "number" }, milliseconds(timeOf(row)))));
  return element("table", {}, element("caption", { class: "unseen" }, `Numbers of ${run.name}`), element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows));
}
