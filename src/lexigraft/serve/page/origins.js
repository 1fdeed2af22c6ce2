// Of a grafted document: which part of a score is its own words', which was borrowed from other documents, and which is
// from its vector. Told by pattern and in words, never by colour alone.

import { element } from "./dom.js";
import { percent } from "./numbers.js";

const KINDS = ["own", "borrowed", "vector"];
const NAMES = { own: "own", borrowed: "borrowed", vector: "from its vector" };
const OF_A_TERM = 1; // lenders that are named
const OF_A_SCORE = 3;

const total = (origin) => KINDS.reduce((sum, kind) => sum + origin[kind], 0);
const called = (lender) => lender.title || lender.doc_id;

// A bar in pieces; as `bar`, its styles are set by CSSOM.
export function partsBar(share, origin) {
  const pieces = KINDS.filter((kind) => origin[kind]).map((kind) => {
    const piece = element("span", { class: `bar-filled part-${kind}` });
    piece.style.setProperty("inline-size", `${(100 * share * origin[kind]) / total(origin)}%`);
    return piece;
  });
  return element("span", { class: "bar parts", "aria-hidden": "true" }, pieces);
}

function lendersOf(origin, most) {
  const shown = origin.lenders.slice(0, most).flatMap((lender, at) =>
    [at ? ", " : "", element("cite", { title: `${lender.doc_id}: ${lender.title}` }, called(lender))]);
  const more = origin.lenders.length - most;
  return [" from ", ...shown, more > 0 ? ` and ${more} more` : ""];
}

// A swatch and the words for it, for each part that there is.
export function originOf(origin, most = OF_A_TERM) {
  const parts = KINDS.filter((kind) => origin[kind]).map((kind) => element("li", {},
    element("span", { class: `swatch part-${kind}`, "aria-hidden": "true" }), ` ${NAMES[kind]} ${percent(origin[kind] / total(origin))}`,
    kind === "borrowed" ? lendersOf(origin, most) : null));
  return element("ul", { class: "origin" }, parts);
}

// The score as a whole; nothing of a system that is not grafted.
export function originsOf(answer) {
  const known = answer.contributions.map((term) => term.origin).filter(Boolean);
  if (known.length === 0) return [];
  const lent = new Map();
  for (const lender of known.flatMap((origin) => origin.lenders)) {
    lent.set(lender.doc_id, { ...lender, points: lender.points + (lent.get(lender.doc_id)?.points ?? 0) });
  }
  const sum = { lenders: [...lent.values()].sort((one, other) => other.points - one.points) };
  for (const kind of KINDS) sum[kind] = known.reduce((points, origin) => points + origin[kind], 0);
  return [element("div", { class: "small whole-origin" }, element("span", {}, "Of this score:"), originOf(sum, OF_A_SCORE))];
}

// The heaviest words that its text does not hold.
export function addedWords(answer) {
  const { borrowed = [], vector = [] } = answer.added_words ?? {};
  return [
    wordsLine("Words it borrowed, which its text does not hold", borrowed, (word) => `from ${called(word.lenders[0])}`),
    wordsLine("Words of its vector, which its text does not hold", vector, () => null),
  ].filter(Boolean);
}

function wordsLine(name, words, why) {
  if (words.length === 0) return null;
  const shown = words.flatMap((word, at) => [at ? ", " : "", element("span", { title: why(word) }, word.term)]);
  return element("p", { class: "small quiet-text" }, `${name}: `, shown);
}
