import type { Point } from './layout.ts';

/** A line to draw: its path, and the triangle at its end. */
export interface Curve {
  readonly path: string;
  /** Empty where the line joins another one. */
  readonly head: string;
}

const HEAD_LENGTH = 10;
const HEAD_HALF_WIDTH = 4.5;
const RADIUS = 8;

/** A line along the points with rounded corners. It ends in an arrow at the last one, unless it `joins` another line. */
export function lineAlong(points: readonly Point[], joins = false): Curve {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return { path: '', head: '' };
  if (joins) return { path: rounded(points), head: '' };

  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const along = { x: (tip.x - before.x) / length, y: (tip.y - before.y) / length };
  // The line stops inside the arrow, so that a thick line does not show beside its tip.
  const end = { x: tip.x - along.x * (HEAD_LENGTH - 1), y: tip.y - along.y * (HEAD_LENGTH - 1) };
  return { path: rounded([...points.slice(0, -1), end]), head: headAt(tip, along) };
}

/** Two decimals are finer than a screen and keep the file small. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function rounded(points: readonly Point[]): string {
  let path = '';
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    const after = points[index + 1];
    if (before === undefined) path += `M${at(point)}`;
    else if (after === undefined) path += `L${at(point)}`;
    else path += `L${at(towards(point, before))}Q${at(point)} ${at(towards(point, after))}`;
  }
  return path;
}

/** Where a corner begins or ends: on the way to its neighbour, and never past the middle of that way. */
function towards(corner: Point, neighbour: Point): Point {
  const length = Math.hypot(neighbour.x - corner.x, neighbour.y - corner.y) || 1;
  const share = Math.min(RADIUS, length / 2) / length;
  return {
    x: corner.x + (neighbour.x - corner.x) * share,
    y: corner.y + (neighbour.y - corner.y) * share,
  };
}

function headAt(tip: Point, along: Point): string {
  const base = { x: tip.x - along.x * HEAD_LENGTH, y: tip.y - along.y * HEAD_LENGTH };
  const side = { x: -along.y * HEAD_HALF_WIDTH, y: along.x * HEAD_HALF_WIDTH };
  const left = { x: base.x + side.x, y: base.y + side.y };
  const right = { x: base.x - side.x, y: base.y - side.y };
  return `M${at(tip)}L${at(left)}L${at(right)}Z`;
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}
