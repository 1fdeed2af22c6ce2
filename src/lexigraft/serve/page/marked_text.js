// Texts with marked words. The server counts code points, JavaScript counts halves of pairs: an emoji is two.

import { element } from "./dom.js";

// The pieces between all borders of all spans, each with the names of the spans that cover it.
export function pieces(text, spans) {
  const points = Array.from(text);
  const fits = ([start, end]) => Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start < end && end <= points.length;
  const used = spans.filter(({ span }) => fits(span));
  const borders = new Set([0, points.length]);
  for (const { span } of used) borders.add(span[0]).add(span[1]);
  const sorted = [...borders].sort((one, other) => one - other);
  const found = [];
  for (let at = 0; at + 1 < sorted.length; at += 1) {
    const [start, end] = [sorted[at], sorted[at + 1]];
    const names = used.filter(({ span }) => span[0] <= start && end <= span[1]).map(({ name }) => name);
    found.push({ text: points.slice(start, end).join(""), names: [...new Set(names)] });
  }
  return found;
}

export function marked(text, marks) {
  return pieces(text, (marks ?? []).map((span) => ({ span, name: "" })))
    .map((piece) => (piece.names.length ? element("mark", {}, piece.text) : piece.text));
}

// The words of spans, each once however it is written.
export function words(text, spans) {
  const points = Array.from(text);
  const found = new Map();
  for (const [start, end] of spans) {
    const word = points.slice(start, end).join("").trim();
    if (word && !found.has(word.toLowerCase())) found.set(word.toLowerCase(), word);
  }
  return [...found.values()];
}
