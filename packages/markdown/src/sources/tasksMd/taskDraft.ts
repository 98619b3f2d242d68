import type { Box } from './markup.ts';
import type { Line } from './readLines.ts';

/** A task whose lines are known and not yet read. */
export interface TaskDraft {
  /** As written; empty where the source gives none. */
  readonly id: string;
  readonly title: string;
  readonly head: Line;
  readonly box: Box;
  /** Under a heading, or below a bullet. */
  readonly style: 'heading' | 'bullet';
  readonly body: Line[];
}

/** A gate whose lines are known and not yet read. */
export interface GateDraft {
  /** Null where the place says which phase is meant. */
  readonly phaseId: string | null;
  /** A section of gates: each of its parts names its phase. */
  readonly several: boolean;
  readonly head: Line;
  /** Text on the same line as the label. */
  readonly inline: string;
  readonly lines: Line[];
}
