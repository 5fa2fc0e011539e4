// A large call graph with its healthy part folded: a stack of services in each column.

import { layOut } from "./stage_layout.js";

export const MANY = 16;
const STACK = "stack:";

export const isStack = (name) => name.startsWith(STACK);

/** Leaves open what has failed and what lies on a way of calls between two of these. Services of
 *  one column share a stack, so no calls in a circle arise. `stacks` maps a stack to its services. */
export function foldGraph(services, calls, failed) {
  const open = new Set([...failed, ...between(services, calls, failed)]);
  const { tiles } = layOut(services, calls);
  const byColumn = Map.groupBy(
    services.filter((name) => !open.has(name)),
    (name) => tiles.get(name).x,
  );
  const home = new Map(services.map((name) => [name, name]));
  const stacks = new Map();
  for (const [x, names] of byColumn) {
    if (names.length === 1) continue; // a stack of one saves no room
    stacks.set(`${STACK}${x}`, names);
    for (const name of names) home.set(name, `${STACK}${x}`);
  }
  const joined = new Map();
  for (const [caller, callees] of Object.entries(calls)) {
    const from = home.get(caller);
    joined.set(from, joined.get(from) ?? new Set());
    for (const callee of callees) joined.get(from).add(home.get(callee));
  }
  return {
    services: [...new Set(home.values())],
    calls: Object.fromEntries([...joined].map(([from, to]) => [from, [...to]])),
    stacks,
  };
}

function between(services, calls, failed) {
  const callers = new Map(services.map((name) => [name, []]));
  for (const [caller, callees] of Object.entries(calls))
    for (const callee of callees) callers.get(callee).push(caller);
  const below = reached(failed, (name) => calls[name] ?? []);
  const above = reached(failed, (name) => callers.get(name));
  return services.filter((name) => below.has(name) && above.has(name));
}

function reached(starts, next) {
  const seen = new Set();
  const rest = [...starts].flatMap(next);
  while (rest.length) {
    const name = rest.pop();
    if (seen.has(name)) continue;
    seen.add(name);
    rest.push(...next(name));
  }
  return seen;
}
