/** A heading or label that names a gate. */
export interface GateTitle {
  /** The phase it is for, where it says so. */
  readonly phaseId: string | null;
  /** `Validation Gates`: a section of gates rather than one gate. */
  readonly several: boolean;
}

const ID = String.raw`\d+(?:\.\d+)?[A-Za-z]?`;
const TITLE = new RegExp(
  String.raw`^(?:phase\s+(${ID})\b\s*(?:(?:→|->|to)\s*phase\s+${ID}\b)?\s*[:–—-]?\s*)?` +
    String.raw`(?:(?:final|exit|overall|project|completion|mandatory|validation|quality|phase|success|approval|review|&|and)\s+)*` +
    String.raw`(gates?|checkpoints?)\b(.*)$`,
  'i',
);
const TAIL =
  /^\s*(?:criteria|evidence required|requirements|checklist|summary|passed|complete|between phases)?\s*(?:\([^()]*\))?\s*(?:[:–—-].*|for\s+phase\s.*)?$/i;
const NUMBER = new RegExp(String.raw`^\s+(${ID})\s*(?:[:–—(→-].*)?$`);
// `before Phase 2` says when the gate stands, not whose it is.
const PHASE = new RegExp(
  String.raw`(?<!\b(?:before|to|into|entering|starting|start)\s+|→\s*|->\s*)\bphase\s+(${ID})\b`,
  'i',
);

/**
 * Reads a gate's title: `Phase 1 Validation Gate: Core`, `Quality Gates`, `VALIDATION GATE: Phase 2 Checkpoint`,
 * `Gate 3`, `Checkpoint Criteria`. Null for a title that merely mentions gates, such as `Quality Gates Implementation`.
 */
export function gateTitle(text: string): GateTitle | null {
  const title = text
    .replace(/[*_`]/g, '')
    .replace(/[^\x20-\x7E–—→]+/g, ' ')
    .trim();
  const match = TITLE.exec(title);
  if (match === null) return null;
  const [, before, noun = '', tail = ''] = match;
  const numbered = NUMBER.exec(tail)?.[1];
  if (numbered === undefined && !TAIL.test(tail)) return null;
  const phaseId = before ?? numbered ?? PHASE.exec(tail)?.[1] ?? null;
  return { phaseId, several: /s$/i.test(noun) && phaseId === null };
}
