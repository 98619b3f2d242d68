import type { GraphNode, NodeStatus, TimesSeen, WorkflowGraph } from '@phasegate/core/model';

/** The colours of one status; text on fill has a contrast of at least 7 to 1. */
export interface Colours {
  readonly fill: string;
  readonly stroke: string;
  readonly text: string;
}

/** One set of colours for every status, the same in every format. The stroke alone tells them apart in print too. */
export const PALETTE: Readonly<Record<NodeStatus, Colours>> = {
  completed: { fill: '#dcf5e3', stroke: '#1a7f37', text: '#0b3d1b' },
  overridden: { fill: '#f3e3f7', stroke: '#8a1a7f', text: '#4a0b44' },
  current: { fill: '#dbeafe', stroke: '#1d4ed8', text: '#10265c' },
  waiting: { fill: '#fdf0c4', stroke: '#9a6700', text: '#4a3200' },
  escalated: { fill: '#ffe1dc', stroke: '#b42318', text: '#5f1109' },
  stopped: { fill: '#e7e7ea', stroke: '#55555f', text: '#26262c' },
  ahead: { fill: '#ffffff', stroke: '#8a8f98', text: '#30343b' },
};

/** How a node looks when no run is shown. */
export const NEUTRAL: Colours = { fill: '#f4f6fb', stroke: '#3d4f7c', text: '#1b2440' };

/** What everything is drawn on. */
export const GROUND = '#ffffff';

/** The lines of ways, and of those that only a human's choice opens. */
export const EDGE = '#4a5263';
export const HUMAN_EDGE = '#6b2fa0';

/** How much was seen of a phase and what stands in it. */
export type Extent = 'all' | 'some' | 'never';

/** One set of colours for what was seen; what never was is also drawn with a broken line and says so. */
export const EXTENTS: Readonly<Record<Extent, Colours & { readonly words: string; readonly look: string }>> =
  {
    all: { fill: '#dcf5e3', stroke: '#1a7f37', text: '#0b3d1b', words: 'all of it seen', look: 'green' },
    some: { fill: '#fdf0c4', stroke: '#9a6700', text: '#4a3200', words: 'seen in part', look: 'yellow' },
    never: {
      fill: '#f6f6f7',
      stroke: '#8a8f98',
      text: '#40444b',
      words: 'never seen',
      look: 'grey, broken line',
    },
  };

/** The extents that a graph shows. */
export function extentsIn({ nodes, edges }: WorkflowGraph): readonly Extent[] {
  const shown = new Set<Extent | null>(nodes.map(extentOf));
  if (edges.some(({ coverage }) => isUnseen(coverage))) shown.add('never');
  return (Object.keys(EXTENTS) as Extent[]).filter((extent) => shown.has(extent));
}

/** The line and the words of a way that nothing went. */
export const UNSEEN_EDGE = '#50555e';

/** How much was seen of a node; null where coverage is not marked. */
export function extentOf({ coverage }: GraphNode): Extent | null {
  if (coverage === undefined) return null;
  if (isUnseen(coverage)) return 'never';
  return coverage.seen === coverage.total ? 'all' : 'some';
}

/** Whether coverage is marked and neither a test nor a run was there. */
export function isUnseen(coverage: TimesSeen | undefined): boolean {
  return coverage !== undefined && coverage.tests + coverage.runs === 0;
}

/** The colours of a node: by what was seen, by where a run is, or neither. */
export function coloursOf(node: GraphNode): Colours {
  const extent = extentOf(node);
  if (extent !== null) return EXTENTS[extent];
  return node.status === null ? NEUTRAL : PALETTE[node.status];
}

/** What each colour becomes on a dark page. */
export const DARK: Readonly<Record<string, string>> = {
  [GROUND]: '#0d1117',
  '#f4f6fb': '#1a2033',
  '#3d4f7c': '#8fa3d9',
  '#1b2440': '#e3e8f7',
  '#dcf5e3': '#12301c',
  '#1a7f37': '#4cc16d',
  '#0b3d1b': '#d3f5dd',
  '#dbeafe': '#14264d',
  '#1d4ed8': '#7ba7ff',
  '#10265c': '#dce8ff',
  '#fdf0c4': '#3a2d08',
  '#9a6700': '#e0b040',
  '#4a3200': '#fdf0c4',
  '#f3e3f7': '#3a1038',
  '#8a1a7f': '#e58adb',
  '#4a0b44': '#f7e3f5',
  '#ffe1dc': '#43140e',
  '#b42318': '#ff8a7a',
  '#5f1109': '#ffe1dc',
  '#e7e7ea': '#2b2b31',
  '#55555f': '#a9a9b5',
  '#26262c': '#ececf0',
  '#8a8f98': '#7d838d',
  '#30343b': '#d5d9e0',
  '#f6f6f7': '#1b1c20',
  '#40444b': '#c9ccd3',
  [EDGE]: '#b6bed0',
  [HUMAN_EDGE]: '#d3b3f5',
  [UNSEEN_EDGE]: '#a6abb5',
};
