import type { Point } from './layout.ts';

/** A line to draw: its path, and the triangle at its end. */
export interface Curve {
  readonly path: string;
  readonly head: string;
}

const HEAD_LENGTH = 10;
const HEAD_HALF_WIDTH = 4.5;

/** A smooth line along the points (a uniform cubic B-spline), ending in an arrow at the last one. */
export function curveThrough(points: readonly Point[]): Curve {
  const first = points[0];
  const tip = points.at(-1);
  const before = points.at(-2);
  if (first === undefined || tip === undefined || before === undefined) return { path: '', head: '' };

  const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const along = { x: (tip.x - before.x) / length, y: (tip.y - before.y) / length };
  // The line stops inside the arrow, so that a thick line does not show beside its tip.
  const end = { x: tip.x - along.x * (HEAD_LENGTH - 1), y: tip.y - along.y * (HEAD_LENGTH - 1) };
  return { path: spline([...points.slice(0, -1), end]), head: headAt(tip, along) };
}

/** Two decimals are finer than a screen and keep the file small. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function spline(points: readonly Point[]): string {
  const first = points[0] as Point;
  const last = points.at(-1) as Point;
  const control = [first, first, ...points, last, last];
  let path = `M${at(first)}`;
  for (let index = 1; index + 2 < control.length; index += 1) {
    const [a, b, c] = control.slice(index, index + 3) as [Point, Point, Point];
    path += `C${at(mix(a, b, 1 / 3))} ${at(mix(a, b, 2 / 3))} ${at(mix(mix(a, b, 2 / 3), mix(b, c, 1 / 3), 1 / 2))}`;
  }
  return `${path}L${at(last)}`;
}

function headAt(tip: Point, along: Point): string {
  const base = { x: tip.x - along.x * HEAD_LENGTH, y: tip.y - along.y * HEAD_LENGTH };
  const side = { x: -along.y * HEAD_HALF_WIDTH, y: along.x * HEAD_HALF_WIDTH };
  const left = { x: base.x + side.x, y: base.y + side.y };
  const right = { x: base.x - side.x, y: base.y - side.y };
  return `M${at(tip)}L${at(left)}L${at(right)}Z`;
}

function mix(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}
