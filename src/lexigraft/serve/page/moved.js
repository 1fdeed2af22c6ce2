// What moved between two rankings, in words: the second beside the first.

import { plural } from "./numbers.js";

export function movesOf(first, second) {
  const before = new Map(first.map((hit, at) => [hit.doc_id, at + 1]));
  const after = new Set(second.map((hit) => hit.doc_id));
  const moves = second.map((hit, at) => {
    const former = before.get(hit.doc_id);
    if (former === undefined) return { kind: "new", text: "New" };
    const by = former - (at + 1);
    if (by === 0) return { kind: "same", text: "Same place" };
    return by > 0 ? { kind: "up", text: `Up ${by}, from ${former}` } : { kind: "down", text: `Down ${-by}, from ${former}` };
  });
  const gone = first.map((hit, at) => ({ ...hit, rank: at + 1 })).filter((hit) => !after.has(hit.doc_id));
  return { moves, gone };
}

export function summary({ moves, gone }) {
  const many = (kind) => moves.filter((move) => move.kind === kind).length;
  const said = [
    [many("same"), "in the same place"], [many("up"), "up"], [many("down"), "down"], [many("new"), "new"], [gone.length, "gone"],
  ];
  const parts = said.filter(([number]) => number > 0).map(([number, text]) => `${number} ${text}`);
  if (moves.length && many("same") === moves.length && gone.length === 0) return `The same ${plural(moves.length, "result")}`;
  return parts.join(", ");
}
