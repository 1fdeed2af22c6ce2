// How numbers are written. One rule for each kind, so that columns can be compared.

export const count = (number) => new Intl.NumberFormat("en").format(number);

export function significant(number, digits) {
  if (!Number.isFinite(number)) return "–";
  if (number === 0) return "0";
  if (Math.abs(number) < 1e-4) return number < 0 ? "> −0.0001" : "< 0.0001";
  const rounded = Number(number.toPrecision(digits)); // 999.7 has four digits once it is rounded to three
  return Math.abs(rounded) >= 10 ** digits ? count(Math.round(number)) : String(rounded);
}

export const milliseconds = (number) => (Number.isFinite(number) ? `${significant(number, 2)} ms` : "–");
export const flops = (number) => significant(number, 3);
export const quality = (number) => (Number.isFinite(number) ? number.toFixed(3) : "–");
// As many decimals in each row of a column.
export function score(number) {
  if (!Number.isFinite(number)) return "–";
  const rounded = number.toFixed(3);
  return Math.abs(Number(rounded)) < 1000 ? rounded : count(Math.round(number));
}
export const percent = (share) => `${(share * 100).toFixed(share < 0.095 ? 1 : 0)} %`;

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// What is kept of queries and documents, as the reports write it; 0 is everything.
export function pruning(qk, dk) {
  const said = (value) => (String(value) === "0" ? "all" : String(value));
  return said(qk) === "all" && said(dk) === "all" ? "whole vectors" : `(${said(qk)}, ${said(dk)})`;
}

// The same in words (what each kind of number keeps is told in core/cut.py).
export function kept(qk, dk) {
  if (pruning(qk, dk) === "whole vectors") return "Whole vectors";
  const hundredths = (text) => `${Number((Number(text) * 100).toPrecision(3))} %`;
  const ofQuery = (value) => {
    if (value === "0") return "All of a query’s terms";
    if (value.startsWith("m")) return `${hundredths(value.slice(1))} of a query’s weight`;
    return Number(value) < 1 ? `A query’s terms from ${hundredths(value)} of its heaviest` : `A query’s ${value} heaviest terms`;
  };
  const ofDocument = (value) => {
    if (value === "0") return "all of a document’s";
    return value.startsWith("m") ? `${hundredths(value.slice(1))} of a document’s weight` : `a document’s ${value} heaviest`;
  };
  return `${ofQuery(String(qk))}, ${ofDocument(String(dk))}`;
}
