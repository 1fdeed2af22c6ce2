// How numbers are written. One rule for each kind, so that columns can be compared.

export const count = (number) => new Intl.NumberFormat("en").format(number);

export function significant(number, digits) {
  if (!Number.isFinite(number)) return "–";
  if (number === 0) return "0";
  // toPrecision would write 1.2e+3
  return Math.abs(number) >= 10 ** digits ? count(Math.round(number)) : String(Number(number.toPrecision(digits)));
}

export const milliseconds = (number) => (Number.isFinite(number) ? `${significant(number, 2)} ms` : "–");
export const flops = (number) => significant(number, 3);
export const quality = (number) => (Number.isFinite(number) ? number.toFixed(3) : "–");
export const score = (number) => significant(number, 4);
export const percent = (share) => `${(share * 100).toFixed(share < 0.095 ? 1 : 0)} %`;

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// What is kept of queries and documents, as the reports write it; 0 is everything.
export function pruning(qk, dk) {
  const said = (value) => (String(value) === "0" ? "all" : String(value));
  return said(qk) === "all" && said(dk) === "all" ? "whole vectors" : `(${said(qk)}, ${said(dk)})`;
}
