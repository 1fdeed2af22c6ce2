// Quality against cost, as a picture of points that can be walked through. Systems differ by shape and by name, not by
// colour alone; the point that the dial stands at has a ring.

import { drawn } from "./dom.js";
import { significant } from "./numbers.js";

const HEIGHT = 340;
const EDGE = { top: 24, right: 1, bottom: 48, left: 44 }; // its plot ends where the page does
const SIZE = 6;

const SHAPES = [
  (x, y) => drawn("circle", { cx: x, cy: y, r: SIZE }),
  (x, y) => drawn("rect", { x: x - SIZE, y: y - SIZE, width: 2 * SIZE, height: 2 * SIZE }),
  (x, y) => drawn("path", { d: `M${x} ${y - SIZE - 2}l${SIZE + 1} ${2 * SIZE + 1}h${-2 * SIZE - 2}z` }),
  (x, y) => drawn("path", { d: `M${x} ${y - SIZE - 2}l${SIZE + 2} ${SIZE + 2}l${-SIZE - 2} ${SIZE + 2}l${-SIZE - 2} ${-SIZE - 2}z` }),
  (x, y) => drawn("path", { d: `M${x} ${y + SIZE + 2}l${SIZE + 1} ${-2 * SIZE - 1}h${-2 * SIZE - 2}z` }),
  (x, y) => drawn("path", { d: `M${x - 2} ${y - SIZE - 1}h4v${SIZE - 1}h${SIZE - 1}v4h${-SIZE + 1}v${SIZE - 1}h-4v${-SIZE + 1}h${-SIZE + 1}v-4h${SIZE - 1}z` }),
];

export function shapeOf(order) {
  return drawn("svg", { class: `mark-sample series-${order % SHAPES.length}`, viewBox: "0 0 20 20", width: 16, height: 16, "aria-hidden": "true" },
    SHAPES[order % SHAPES.length](10, 10));
}

// Costs spread over powers of ten, and so does the axis.
function scales(points, width) {
  const xs = points.map((point) => Math.log10(point.x));
  const ys = points.map((point) => point.y);
  const [left, right] = widened(Math.min(...xs), Math.max(...xs), 0.08, 0.3);
  const [low, high] = widened(Math.min(...ys), Math.max(...ys), 0.12, 0.02);
  return {
    left, right, low, high,
    x: (value) => EDGE.left + ((Math.log10(value) - left) / (right - left)) * (width - EDGE.left - EDGE.right),
    y: (value) => HEIGHT - EDGE.bottom - ((value - low) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom),
  };
}

function widened(low, high, share, least) {
  const margin = Math.max((high - low) * share, least);
  return [low - margin, high + margin];
}

function powersBetween(low, high, most) {
  const found = [];
  for (let power = Math.floor(low); power <= high; power += 1) {
    for (const step of [1, 2, 5]) {
      const value = step * 10 ** power;
      if (Math.log10(value) >= low && Math.log10(value) <= high) found.push({ value, isMain: step === 1 });
    }
  }
  const main = found.filter((tick) => tick.isMain);
  return (main.length >= 3 || found.length > most ? main : found).map((tick) => tick.value);
}

function stepsBetween(low, high) {
  const rough = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) found.push(Number((at * step).toPrecision(6)));
  return found;
}

function axes(scale, width, names) {
  const bottom = HEIGHT - EDGE.bottom;
  const nodes = [];
  for (const value of powersBetween(scale.left, scale.right, width / 56)) {
    nodes.push(drawn("line", { class: "grid", x1: scale.x(value), x2: scale.x(value), y1: EDGE.top, y2: bottom }));
    nodes.push(drawn("text", { x: scale.x(value), y: bottom + 20, "text-anchor": "middle" }, significant(value, 3)));
  }
  for (const value of stepsBetween(scale.low, scale.high)) {
    nodes.push(drawn("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: scale.y(value), y2: scale.y(value) }));
    nodes.push(drawn("text", { x: EDGE.left - 8, y: scale.y(value) + 4, "text-anchor": "end" }, significant(value, 3)));
  }
  nodes.push(drawn("text", { class: "axis", x: width - EDGE.right, y: HEIGHT - 8, "text-anchor": "end" }, names.x));
  nodes.push(drawn("text", { class: "axis", x: 0, y: 14, "text-anchor": "start" }, names.y));
  return drawn("g", { "aria-hidden": "true" }, nodes);
}

// `series`: [{name, points: [{x, y, text, isCurrent}]}]. `onChoose(seriesAt, pointAt)`, `onLook(point or null, x, y)`.
export function chart(series, names, width, onChoose, onLook) {
  const all = series.flatMap((one) => one.points);
  const root = drawn("svg", { class: "chart", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", "aria-label": names.title });
  if (all.length === 0) return root;
  const scale = scales(all, width);
  root.append(axes(scale, width, names));
  const places = [];
  series.forEach((one, order) => {
    const sorted = [...one.points].sort((first, second) => first.x - second.x);
    const line = sorted.map((point, at) => `${at ? "L" : "M"}${scale.x(point.x)} ${scale.y(point.y)}`).join("");
    const group = drawn("g", { class: `series series-${order % SHAPES.length}` }, drawn("path", { class: "line", d: line, "aria-hidden": "true" }));
    for (const point of sorted) group.append(pointNode(point, order, scale, places, onChoose, onLook));
    root.append(group);
  });
  walk(root, places);
  return root;
}

function pointNode(point, order, scale, places, onChoose, onLook) {
  const [x, y] = [scale.x(point.x), scale.y(point.y)];
  const node = drawn("g", { class: "point", role: "button", tabindex: -1, "aria-label": point.text, "aria-current": point.isCurrent ? "true" : null },
    drawn("circle", { class: "reach", cx: x, cy: y, r: 16 }),
    point.isCurrent ? drawn("circle", { class: "ring", cx: x, cy: y, r: SIZE + 6 }) : null,
    SHAPES[order % SHAPES.length](x, y));
  const look = () => onLook(point, x, y);
  for (const event of ["focus", "pointerenter"]) node.addEventListener(event, look);
  for (const event of ["blur", "pointerleave"]) node.addEventListener(event, () => onLook(null));
  node.addEventListener("click", () => onChoose(point));
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose(point);
  });
  places.push({ node, x });
  return node;
}

// One stop of the tabulator for the whole picture; arrows go from point to point, from left to right.
function walk(root, places) {
  places.sort((first, second) => first.x - second.x);
  const nodes = places.map((place) => place.node);
  (nodes.find((node) => node.hasAttribute("aria-current")) ?? nodes[0]).setAttribute("tabindex", "0");
  root.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const next = by && nodes[nodes.indexOf(document.activeElement) + by];
    if (!next) return;
    event.preventDefault();
    for (const node of nodes) node.setAttribute("tabindex", node === next ? "0" : "-1");
    next.focus();
  });
}
