import type { TextBlock } from './textBlock.ts';

/** A way between two rows that does not lead straight to the next one. */
export interface SideWay {
  readonly from: number;
  readonly to: number;
  readonly label: TextBlock | null;
  /** Ways to the same row that look the same share a lane. */
  readonly look: string;
}

/** The side of the rows at which a way runs: back at the left, forward at the right. */
export type Side = 'left' | 'right';

/** Several ways to one row: each leaves its own row and joins the lane. */
export interface Lane {
  readonly side: Side;
  readonly to: number;
  /** Indices of its ways, the one with the longest run first. */
  readonly ways: readonly number[];
}

/** Where a line leaves or enters a row at one of its sides. */
export interface Port {
  readonly lane: Lane;
  /** The way that leaves here; null where the lane enters. */
  readonly way: number | null;
  /** The line, from the top of all ports of this row and side. */
  readonly y: number;
}

/** The ports of one side of one row, from top to bottom. */
export interface PortColumn {
  readonly ports: readonly Port[];
  readonly height: number;
}

const SLOT = 16;
const UNDER_LINE = 6;

/** Groups ways into lanes. */
export function lanesOf(ways: readonly SideWay[]): readonly Lane[] {
  const groups = new Map<string, { side: Side; to: number; ways: number[] }>();
  for (const [index, way] of ways.entries()) {
    const side = way.to > way.from ? 'right' : 'left';
    const key = JSON.stringify([side, way.to, way.look, way.to === way.from]);
    const group = groups.get(key) ?? { side, to: way.to, ways: [] };
    group.ways.push(index);
    groups.set(key, group);
  }
  const span = (index: number) => spanOf(ways[index]);
  return [...groups.values()].map((group) => ({
    ...group,
    ways: group.ways.toSorted((a, b) => span(b) - span(a)),
  }));
}

/**
 * Orders the ports at one side of a row so that lines which leave or enter it cross each other as little as can be, and
 * gives each its line. A way's words stand above its line, in a slot that no other line runs through.
 */
export function portsAt(
  row: number,
  side: Side,
  { ways, lanes }: { readonly ways: readonly SideWay[]; readonly lanes: readonly Lane[] },
): PortColumn {
  const here = lanes.filter((lane) => lane.side === side);
  const reach = (lane: Lane) => spanOf(ways[lane.ways[0] ?? -1]);
  const into = here.filter((lane) => lane.to === row);
  const out = here.flatMap((lane) =>
    lane.ways.filter((way) => ways[way]?.from === row).map((way) => ({ lane, way })),
  );
  const entering = (some: readonly Lane[]) => some.map((lane) => ({ lane, way: null }));
  const nearest = into.toSorted((a, b) => reach(a) - reach(b));
  const span = (way: number) => spanOf(ways[way]);
  const self = (lane: Lane) => reach(lane) === 0;
  const ordered =
    side === 'right'
      ? [...entering(nearest), ...out.toSorted((a, b) => span(b.way) - span(a.way))]
      : [
          ...out.toSorted((a, b) => span(a.way) - span(b.way)).filter(({ lane }) => !self(lane)),
          // A loop's ways lie next to where it comes back.
          ...nearest
            .filter(self)
            .flatMap((lane) => [
              ...lane.ways.toReversed().map((way) => ({ lane, way })),
              { lane, way: null },
            ]),
          ...entering(nearest.filter((lane) => !self(lane)).toReversed()),
        ];
  let top = 0;
  const ports = ordered.map(({ lane, way }): Port => {
    const label = way === null ? null : (ways[way]?.label ?? null);
    const height = Math.max(SLOT, (label?.height ?? 0) + 2 * UNDER_LINE);
    top += height;
    return { lane, way, y: top - UNDER_LINE };
  });
  return { ports, height: top };
}

/**
 * Gives every lane its place counted from the rows outwards: lanes beside each other keep apart, and a longer one runs
 * outside of the shorter ones it passes.
 */
export function placesOf(
  spans: readonly { readonly lane: Lane; readonly from: number; readonly to: number }[],
): ReadonlyMap<Lane, number> {
  const places = new Map<Lane, number>();
  const placed: (typeof spans)[number][] = [];
  for (const one of spans.toSorted((a, b) => a.to - a.from - (b.to - b.from))) {
    const passed = placed.filter(
      (other) =>
        other.lane.side === one.lane.side && other.from < one.to + APART && one.from < other.to + APART,
    );
    places.set(one.lane, Math.max(-1, ...passed.map(({ lane }) => places.get(lane) ?? -1)) + 1);
    placed.push(one);
  }
  return places;
}

const APART = 8;

function spanOf(way: SideWay | undefined): number {
  return way === undefined ? 0 : Math.abs(way.to - way.from);
}
