// The dial: a way along the measured curve of a system, from its cheapest point to its dearest, with what each is worth.

import { element } from "./dom.js";
import { flops, kept, milliseconds, quality } from "./numbers.js";
import { pointAt, pointsOf } from "./systems.js";

export function createDial(id, measure, onMove, onRest) {
  const range = element("input", { type: "range", id, min: 0, step: 1, "data-key": id });
  const label = element("label", { for: id, class: "small" }, "Cost");
  const facts = element("dl", { class: "facts" });
  const note = element("p", { class: "small quiet-text dial-note" });
  const row = element("div", { class: "dial-row" }, label, range);
  const node = element("div", { class: "dial" }, row, facts, note);
  let shown = null;
  let current; // point; undefined where the setting was not measured

  range.addEventListener("input", () => {
    const point = pointsOf(shown)[Number(range.value)];
    if (point) onMove({ qk: String(point.qk), dk: String(point.dk) });
  });
  range.addEventListener("change", onRest);

  // The range is changed in place and never made anew: a hand may be on it.
  function update(system, side) {
    shown = system;
    const points = pointsOf(system);
    const index = pointAt(system, side);
    row.hidden = points.length < 2;
    node.hidden = points.length === 0;
    range.max = String(Math.max(0, points.length - 1));
    if (index >= 0 && range.value !== String(index)) range.value = String(index);
    const point = points[index];
    current = point;
    facts.replaceChildren(...(point ? factsOf(point, measure) : []));
    note.textContent = point ? noteOf(point) : "This setting is none of the measured ones.";
    range.setAttribute("aria-valuetext", point ? spoken(point, index, points.length, measure) : note.textContent);
  }
  function inShort() {
    return current ? [`${measure} ${quality(worth(current, measure))}`, milliseconds(current.ms)] : [];
  }
  return { node, update, inShort };
}

function noteOf(point) {
  return point.chosen ? `${kept(point.qk, point.dk)}. The run’s own choice.` : `${kept(point.qk, point.dk)}.`;
}

// An older report measures other things first; the point then has that number under its own name.
export function worth(point, measure) {
  return Number.isFinite(point[measure]) ? point[measure] : undefined;
}

function factsOf(point, measure) {
  const said = [
    [measure, quality(worth(point, measure))],
    ["FLOPS", flops(point.FLOPS)],
    ["Time", milliseconds(point.ms)],
  ];
  return said.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

function spoken(point, index, all, measure) {
  const place = `${index + 1} of ${all}`;
  const values = `${measure} ${quality(worth(point, measure))}, FLOPS ${flops(point.FLOPS)}, ${milliseconds(point.ms)}`;
  return `${place}: ${values}. ${noteOf(point)}`;
}
