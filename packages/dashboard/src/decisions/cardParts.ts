import type { GateCard } from '@phasegate/wire';
import { type FileDiff, fileFromCard } from '../diff/fileDiff.ts';

/** A gate card taken apart for the page. Every key of the card is in exactly one of these. */
export interface CardParts {
  readonly goal: { readonly text: string; readonly by: string } | null;
  readonly target: string | null;
  readonly context: readonly Entry[];
  readonly covered: readonly Entry[];
  readonly looked: readonly LookedCheck[];
  /** What the engine established by running something, here and in earlier phases. */
  readonly proven: readonly ProvenCheck[];
  /** Checks that read what was handed in, and nothing else. */
  readonly readOnly: readonly string[];
  readonly receipts: readonly string[];
  readonly files: readonly string[];
  readonly programs: readonly string[];
  readonly calls: readonly string[];
  readonly submittedBy: string;
  readonly outcome: string;
  readonly evidence: readonly Entry[];
  readonly warnings: readonly string[];
  readonly path: readonly string[];
  readonly decisions: readonly string[];
  /** What humans approved before: what this work is measured against. */
  readonly approved: readonly Entry[];
  /** Whether the workspace was compared. */
  readonly compared: boolean;
  /** What the phase changed. */
  readonly diff: readonly FileDiff[];
  /** Files that changed beyond those. */
  readonly diffRest: { readonly files: number; readonly hash: string } | null;
  /** What nobody here knows. */
  readonly others: readonly Entry[];
  /** What is seldom asked. */
  readonly small: readonly Entry[];
}

/** A check that looked at the world. */
export interface LookedCheck {
  readonly name: string;
  /** What its answer rests on; null where that it is here does not say that it held. */
  readonly held: string | null;
  readonly warns: boolean;
}

/** What the engine ran, and how far that can be trusted. */
export interface ProvenCheck {
  readonly phase: string;
  readonly check: string;
  readonly class: string;
  readonly receipt: string | null;
  readonly lack: string | null;
}

type Entry = readonly [string, unknown];
type Data = Readonly<Record<string, unknown>>;

/** Takes a card apart. */
export function cardParts(card: GateCard['card']): CardParts {
  const left = new Map<string, unknown>(Object.entries(card));
  const take = (key: string): unknown => {
    const value = left.get(key);
    left.delete(key);
    return value;
  };
  const list = (key: string): readonly Data[] => asList(take(key));
  const entries = (key: string): readonly Entry[] => Object.entries(asData(take(key)));
  const goal = take('goal');
  const checks = list('checks');
  const proven = list('proven').map(provenOf);
  const diffRest = asData(take('diff_rest'));
  const looks = (check: Data) => check.looks === true || check.needs !== 'claimed';
  const [context, covered] = [entries('context'), entries('covered')];
  const same = JSON.stringify(context) === JSON.stringify(covered);
  const known = {
    goal: goal === undefined ? null : { text: word(asData(goal).text), by: word(asData(goal).by) },
    target: take('target') === undefined ? null : textOrNull(card.target),
    context,
    covered: same ? [] : covered,
    looked: checks.filter(looks).map((check) => lookedOf(check, card, proven)),
    proven,
    readOnly: checks.filter((check) => !looks(check)).map((check) => word(check.check)),
    receipts: list('receipts').map(
      ({ phase, tool, times, failed }) =>
        `${word(phase)}: ${word(tool)} ×${word(times)}${failed === 0 || failed === undefined ? '' : `, ${word(failed)} failed`}`,
    ),
    files: [
      // What this phase changed is shown line by line.
      ...list('files')
        .filter(({ phase }) => phase !== card.phase || card.diff === undefined)
        .flatMap(filesIn),
      ...list('changed').flatMap(pathsIn),
      ...list('changed_unnamed').map(inWords),
    ],
    programs: [
      ...list('programs').map(
        ({ phase, command, times }) => `${word(phase)}: ${word(command)} ×${word(times)}`,
      ),
      ...list('programs_unnamed').map(inWords),
    ],
    calls: list('calls').map(({ phase, tool, times }) => `${word(phase)}: ${word(tool)} ×${word(times)}`),
    submittedBy: word(take('submitted_by')),
    outcome: word(take('outcome')),
    evidence: [
      ...entries('evidence'),
      ...entries('word'),
      ...entries('outcomes').map(([key, value]): Entry => [`outcome of ${key}`, value]),
      ...entries('state').map(([key, value]): Entry => [`for later phases: ${key}`, value]),
      ...entries('items_looked_at').map(([key, value]): Entry => [`item ${key} looked at`, value]),
    ],
    warnings: warningsOf(card, list),
    path: list('path').map(
      ({ phase, outcome, by, at }) =>
        `${word(phase)}: ${outcome === 'overridden' ? 'OVERRIDDEN, not completed' : word(outcome)}, by ${word(by)}, ${word(at)}`,
    ),
    compared: Array.isArray(card.files),
    approved: entries('approved'),
    diff: list('diff').map(fileFromCard),
    diffRest:
      diffRest.files === undefined ? null : { files: Number(diffRest.files), hash: word(diffRest.hash) },
    decisions: list('decisions').map(
      ({ gate, option, by, at }) => `${word(gate)}: ${word(option)}, by ${word(by)}, ${word(at)}`,
    ),
  };
  // What the choice beside the card shows.
  for (const key of ['options', 'prompt', 'mode', 'trusted', 'approvers', 'quorum']) left.delete(key);
  const small = SMALL.flatMap((key): readonly Entry[] => {
    const value = take(key);
    return value === undefined ? [] : [[key, value]];
  });
  return { ...known, small, others: [...left] };
}

function provenOf({ phase, check, class: of, receipt, lack }: Data): ProvenCheck {
  return {
    phase: word(phase),
    check: word(check),
    class: word(of),
    receipt: textOrNull(receipt),
    lack: textOrNull(lack),
  };
}

/** Where the engine ran something for it, what came of that; in permissive mode it need not have held. */
function lookedOf(check: Data, card: GateCard['card'], proven: readonly ProvenCheck[]): LookedCheck {
  const name = word(check.check);
  // Of items it is called by the name of each; where there are several the weakest counts.
  const ran = proven.filter(
    (one) => one.phase === word(card.phase) && (one.check === name || one.check.endsWith(`: ${name}`)),
  );
  const [weakest] = ran.map((one) => one.class).sort((one, other) => strengthOf(one) - strengthOf(other));
  const warns = check.warns === true;
  const held = weakest ?? (check.needs === 'observed' ? 'observed' : 'verified');
  return { name, held: warns || card.mode === 'permissive' ? null : held, warns };
}

/** From the weakest on; what nobody knows is below all of them. */
const STRENGTH: Readonly<Record<string, number>> = { claimed: 1, observed: 2, verified: 3 };

function strengthOf(held: string): number {
  return STRENGTH[held] ?? 0;
}

const SMALL = [
  'run',
  'gate',
  'workflow',
  'phase',
  'workflow_hash',
  'ring',
  'folder',
  'source',
  'started',
  'params',
  'epoch',
  'opened_at',
  'database',
];

function warningsOf(card: GateCard['card'], list: (key: string) => readonly Data[]): readonly string[] {
  return [
    ...(card.trusted === false ? ['No human has accepted this workflow.'] : []),
    ...(card.mode === 'permissive'
      ? ['Permissive mode: nothing is blocked, what would be refused is let through.']
      : []),
    ...list('overrides').map(
      ({ phase, reason, by, at }) =>
        `OVERRIDDEN: ${word(by)} led the run past phase ${word(phase)}, which nobody completed: ${word(reason)} (${word(at)})`,
    ),
    ...list('own_work').map(
      ({ name, why }) => `The yes of ${word(name)} does not count here: ${word(name)} ${word(why)}`,
    ),
    ...list('would_refuse').map((one) => `Let through, and refused in strict mode: ${inWords(one)}`),
    ...list('warnings').map((one) => `A check warned: ${inWords(one)}`),
    ...list('changed_since').map(
      ({ path, how }) => `Changed since the gate opened: ${word(path)} (${word(how)})`,
    ),
    ...list('fence').map((one) => `Changes outside a scope were settled: ${inWords(one)}`),
    ...list('refused').map(
      ({ phase, what, message, times }) =>
        `Refused in ${word(phase)}: ${word(what)} ×${word(times)}: ${word(message)}`,
    ),
    ...list('stopped_before').map((one) => `A run on the same target was stopped: ${inWords(one)}`),
  ];
}

function filesIn({ phase, files, more }: Data): readonly string[] {
  const listed = asList(files).map(({ path, how }) => `${word(phase)}: ${word(path)} (${word(how)})`);
  return more === undefined ? listed : [...listed, `${word(phase)}: and ${word(more)} more`];
}

function pathsIn({ phase, paths, more }: Data): readonly string[] {
  const listed = (Array.isArray(paths) ? paths : []).map(
    (path) => `${word(phase)}: ${word(path)} (asked for by a call)`,
  );
  return more === undefined ? listed : [...listed, `${word(phase)}: and ${word(more)} more`];
}

function inWords(one: Data): string {
  return Object.entries(one)
    .map(([key, value]) => (key === 'message' || key === 'reason' ? word(value) : `${key} ${word(value)}`))
    .join(', ');
}

function asData(value: unknown): Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {};
}

function asList(value: unknown): readonly Data[] {
  return Array.isArray(value)
    ? value.map((one) => (typeof one === 'object' && one !== null ? (one as Data) : { value: one }))
    : [];
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function word(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
