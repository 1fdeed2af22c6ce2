// What the server offers: its systems, and the measured points of each.

export function systemOf(systems, side) {
  return systems.find((system) => system.name === side.system) ?? recommended(systems);
}

export function recommended(systems) {
  return systems.find((system) => system.recommended) ?? systems[0];
}

// A system without measurements has one point that nothing is known of: the one it is served at.
export function pointsOf(system) {
  return system.points ?? [];
}

const same = (one, other) => String(one) === String(other);

export function pointAt(system, side) {
  const qk = side.qk === "" ? system.qk : side.qk;
  const dk = side.dk === "" ? system.dk : side.dk;
  return pointsOf(system).findIndex((point) => same(point.qk, qk) && same(point.dk, dk));
}

// One system with one point has nothing beside it.
export function canCompare(systems) {
  return systems.length > 1 || pointsOf(systems[0]).length > 1;
}

// What to compare with: another system, or where there is none another point of the same.
export function counterpart(systems, side) {
  const first = systemOf(systems, side);
  const others = systems.filter((system) => system !== first);
  const other = others.find((system) => system.run === first.run) ?? others[0];
  if (other) return { system: other.name, qk: "", dk: "", off: [] };
  const here = pointAt(first, side);
  const point = pointsOf(first).find((_, index) => index !== here);
  return { system: first.name, qk: String(point?.qk ?? ""), dk: String(point?.dk ?? ""), off: [] };
}

// Two sides of one system are told apart by what they keep.
export function sideName(systems, side, pruning) {
  const system = systemOf(systems, side);
  const point = pointsOf(system)[pointAt(system, side)];
  return point && pointsOf(system).length > 1 ? `${system.name} ${pruning(point.qk, point.dk)}` : system.name;
}
