// Texts with marked words. The server counts code points, JavaScript counts halves of pairs: an emoji is two.

import { element } from "./dom.js";

// A text as code points, split once however many terms ask for words of it.
let last = { text: "", points: [] };
function pointsOf(text) {
  if (last.text !== text) last = { text, points: Array.from(text) };
  return last.points;
}

// The pieces between all borders of all spans, each with the names of the spans that cover it, in one pass over them.
export function pieces(text, spans) {
  const points = pointsOf(text);
  const fits = ([start, end]) => Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start < end && end <= points.length;
  const used = spans.filter(({ span }) => fits(span));
  const changes = new Map([[0, []], [points.length, []]]);
  const at = (place) => changes.get(place) ?? changes.set(place, []).get(place);
  for (const { span, name } of used) {
    at(span[0]).push([name, 1]);
    at(span[1]).push([name, -1]);
  }
  const borders = [...changes.keys()].sort((one, other) => one - other);
  const covering = new Map();
  return borders.slice(0, -1).map((start, place) => {
    for (const [name, by] of changes.get(start)) {
      const many = (covering.get(name) ?? 0) + by;
      if (many) covering.set(name, many);
      else covering.delete(name);
    }
    return { text: points.slice(start, borders[place + 1]).join(""), names: [...covering.keys()] };
  });
}

export function marked(text, marks) {
  return pieces(text, (marks ?? []).map((span) => ({ span, name: "" })))
    .map((piece) => (piece.names.length ? element("mark", {}, piece.text) : piece.text));
}

// The words of spans, each once however it is written.
export function words(text, spans) {
  const points = pointsOf(text);
  const found = new Map();
  for (const [start, end] of spans) {
    const word = points.slice(start, end).join("").trim();
    if (word && !found.has(word.toLowerCase())) found.set(word.toLowerCase(), word);
  }
  return [...found.values()];
}
