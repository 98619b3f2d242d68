import type { NodeStatus } from '@phasegate/core';

/** The colours of one status; text on fill has a contrast of at least 7 to 1. */
export interface Colours {
  readonly fill: string;
  readonly stroke: string;
  readonly text: string;
}

/** One set of colours for every status, the same in every format. The stroke alone tells them apart in print too. */
export const PALETTE: Readonly<Record<NodeStatus, Colours>> = {
  completed: { fill: '#dcf5e3', stroke: '#1a7f37', text: '#0b3d1b' },
  current: { fill: '#dbeafe', stroke: '#1d4ed8', text: '#10265c' },
  waiting: { fill: '#fdf0c4', stroke: '#9a6700', text: '#4a3200' },
  escalated: { fill: '#ffe1dc', stroke: '#b42318', text: '#5f1109' },
  stopped: { fill: '#e7e7ea', stroke: '#55555f', text: '#26262c' },
  ahead: { fill: '#ffffff', stroke: '#8a8f98', text: '#30343b' },
};

/** How a node looks when no run is shown. */
export const NEUTRAL: Colours = { fill: '#f4f6fb', stroke: '#3d4f7c', text: '#1b2440' };
