// Where the services of a call graph stand, and the ways of the calls between them.

import { Graph, layout } from "./dagre.js";

/** Tiles for wide boxes, for narrow ones, and for phones, where callers are above their callees. */
export const SHAPES = [
  { width: 112, height: 38 },
  { width: 98, height: 51 },
  { width: 92, height: 51, isUpright: true },
];
const GAP = { nodesep: 10, edgesep: 6, ranksep: 25 };

const known = new Map(); // both sides of a run, and every visit of a step, have the same graph

/** Callers are left of what they call. `calls` maps a service to the services that it calls.
 *  Answers {tile, tiles, ways, width, height}: the corner of each tile, a path for each call. */
export function layOut(services, calls, tile = SHAPES[0]) {
  const key = JSON.stringify([services, calls, tile]);
  if (!known.has(key)) known.set(key, placed(services, calls, tile));
  return known.get(key);
}

/** An upright graph is a level one with x and y exchanged. */
function placed(services, calls, shape) {
  const { width, height, isUpright } = shape;
  const level = placedLevel(services, calls, isUpright ? { width: height, height: width } : shape);
  const written = level.ways.map(({ from, to, corners }) => ({
    from,
    to,
    d: pathOf(corners, isUpright),
  }));
  const turned = ({ x, y }) => (isUpright ? { x: y, y: x } : { x, y });
  const tiles = new Map([...level.tiles].map(([name, at]) => [name, turned(at)]));
  const size = turned({ x: level.width, y: level.height });
  return { tile: shape, tiles, ways: written, width: size.x, height: size.y };
}

function placedLevel(services, calls, tile) {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", ...GAP });
  for (const name of services) graph.setNode(name, { ...tile });
  for (const [caller, callees] of Object.entries(calls))
    for (const callee of callees) graph.setEdge(caller, callee, {});
  layout(graph);
  const corner = ({ x, y }) => ({ x: x - tile.width / 2, y: y - tile.height / 2 });
  const tiles = new Map(services.map((name) => [name, corner(graph.node(name))]));
  const ports = portsOf(graph, tile);
  const columns = [...new Set([...tiles.values()].map(({ x }) => x))].sort((a, b) => a - b);
  const ways = graph.edges().map(({ v, w }) => ({
    from: v,
    to: w,
    corners: wayOf(graph.edge(v, w).points, tile, tiles, ports, columns, v, w),
  }));
  return framed(tiles, ways, graph.graph());
}

/** The library's frame holds the tiles; a call may pass above or below all of them. */
function framed(tiles, ways, { width, height }) {
  const ys = ways.flatMap(({ corners }) => corners.map(({ y }) => y));
  const top = Math.min(0, ...ys) - 1;
  const bottom = Math.max(height, ...ys) + 1;
  for (const spot of [...tiles.values(), ...ways.flatMap(({ corners }) => corners)]) spot.y -= top;
  return { tiles, ways, width, height: bottom - top };
}

/** The calls of a service leave its tile, and reach it, one below the other. */
function portsOf(graph, tile) {
  const at = (name) => graph.node(name);
  const spread = (name, others, key) => {
    const sorted = others.sort((a, b) => at(a).y - at(b).y);
    const step = tile.height / (sorted.length + 1);
    const top = at(name).y - tile.height / 2;
    return sorted.map((other, i) => [key(other), top + step * (i + 1)]);
  };
  return new Map(
    graph.nodes().flatMap((name) => {
      const [left, right] = [[], []];
      for (const other of graph.neighbors(name))
        (at(other).x < at(name).x ? left : right).push(other);
      return [
        ...spread(name, right, (other) => `${name} to ${other}`),
        ...spread(name, left, (other) => `${name} from ${other}`),
      ];
    }),
  );
}

/** Bends lie between the columns. Inside a column a call runs level, through the space that the
 *  library keeps free for it: a straight line from bend to bend would cut corners of tiles.
 *  Answers the points where a bend begins or ends, in turn. */
function wayOf(points, tile, tiles, ports, columns, one, other) {
  const isForward = tiles.get(one).x < tiles.get(other).x; // not so where calls form a circle
  const [from, to] = isForward ? [one, other] : [other, one];
  const start = { x: tiles.get(from).x + tile.width, y: ports.get(`${from} to ${to}`) };
  const end = { x: tiles.get(to).x, y: ports.get(`${to} from ${from}`) };
  const passed = columns
    .filter((x) => x > tiles.get(from).x && x < end.x)
    .flatMap((x) => {
      const { y } = nearest(points, x + tile.width / 2);
      return [{ x, y }, { x: x + tile.width, y }];
    });
  return [start, ...passed, end];
}

const nearest = (points, x) =>
  points.reduce((best, one) => (Math.abs(one.x - x) < Math.abs(best.x - x) ? one : best));

function pathOf(corners, isUpright) {
  const at = (x, y) => (isUpright ? `${y} ${x}` : `${x} ${y}`);
  let d = `M${at(corners[0].x, corners[0].y)}`;
  for (let i = 1; i < corners.length; i += 1) {
    const [from, to] = [corners[i - 1], corners[i]];
    const middle = (from.x + to.x) / 2;
    const isBend = i % 2 === 1;
    d += isBend
      ? `C${at(middle, from.y)} ${at(middle, to.y)} ${at(to.x, to.y)}`
      : `L${at(to.x, to.y)}`;
  }
  return d;
}
