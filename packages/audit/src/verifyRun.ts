import { canonicalJson, type Json, own, type Run, type RunEvent, type Workflow } from '@phasegate/core';
import { eventOfRecord } from '@phasegate/core/engine';
import { jsonEqual } from '@phasegate/core/model';
import type { AuditFinding, ChainHead, HumanRecord } from '@phasegate/core/ports';
import type { AuditRow, Folding, StoredRecord, Verification } from './auditSource.ts';
import { addSums, sumOfHead } from './headSum.ts';
import { humansBefore } from './humansThen.ts';
import { withPasskeysAt } from './passkeysThen.ts';
import { placesOf } from './runPlaces.ts';
import { stateText, summaryOf } from './storedRun.ts';
import { checkChain, edited, rolledBack, tailCut } from './verifyChain.ts';
import { workflowHash } from './workflowHash.ts';

/** Checks one run: its chain, its seal, its state against its events, its part of the signed head. */
export async function verifyRun(verification: Verification, row: AuditRow): Promise<void> {
  const { seal, source, tally } = verification;
  countRun(verification, row);
  if (await isAsAnchored(verification, row)) {
    countAnchored(verification, row, row.head);
    tally.byEnds += 1;
    await verification.breathe();
    return;
  }
  const chain = checkChain(seal, row.id);
  const events: RunEvent[] = [];
  const places = new Map<Json | undefined, number | undefined>();
  const anchored = verification.since?.place ?? 0;
  let atAnchor = chain.head();
  let headedHash = '';
  let sound = true;
  for await (const record of source.records(row.id)) {
    for (const finding of chain.take(record)) {
      sound = false;
      verification.report(finding);
    }
    tally.records += 1;
    if (record.seq === row.headed.seq) headedHash = record.hash;
    if (record.place !== undefined && record.place <= anchored) atAnchor = chain.head();
    notePlace(places, record);
    const event = verification.knowledge.fold === undefined ? null : eventOfRecord(record);
    if (event !== null) events.push(event);
    const pause = verification.breathe();
    if (pause !== undefined) await pause;
  }
  countAnchored(verification, row, atAnchor);

  const { sealed } = row;
  if (!sealed) verification.report(stateEdited(row, 'does not match its seal'));
  else if (sound) compareHeads(verification, row, { newest: chain.head(), headedHash });
  if (!sealed && chain.head().seq < row.headed.seq) {
    verification.report(tailCut(row.id, chain.head().seq + 1, row.headed.seq));
  }
  // Where the chain or the seal is broken, the state is known to be unsure; comparing it would only add noise.
  if (sealed && !verification.blamed(row.id)) await compareState(verification, row, { events, places });
}

function countRun({ seal, tally }: Verification, { id, head, headed, run }: AuditRow): void {
  tally.runs += 1;
  tally.overridden += run?.overrides?.length ?? 0;
  tally.unanchored += Math.max(0, head.seq - headed.seq);
  const newest = sumOfHead(seal, id, head);
  tally.newest = addSums(tally.newest, newest);
  if (headed.seq === 0) return;
  tally.headed += 1;
  const same = headed.seq === head.seq && headed.hash === head.hash;
  tally.sum = addSums(tally.sum, same ? newest : sumOfHead(seal, id, headed));
}

function countAnchored({ seal, tally, since }: Verification, { id }: AuditRow, head: ChainHead): void {
  if (since === null || head.seq === 0) return;
  tally.beforeRuns += 1;
  tally.before = addSums(tally.before, sumOfHead(seal, id, head));
}

/**
 * Whether a run has no record that is newer than the anchor, and all looks right without reading those it has: its
 * seal, its listing, and a chain without gaps that ends where the seal says. Where anything does not, it is verified
 * like one that changed, and what is wrong is found. That its head is the anchored one is shown by the sum over all.
 */
async function isAsAnchored(verification: Verification, row: AuditRow): Promise<boolean> {
  const { source, since } = verification;
  const { id, head, headed } = row;
  if (since === null || source.places === undefined) return false;
  const place = await source.places.of(id, head.seq);
  if (place === undefined || place > since.place) return false;
  const { count, first, last } = await source.places.extent(id);
  if (count !== head.seq || first !== 1 || last !== head.seq) return false;
  if ((await source.hashAt(id, head.seq)) !== head.hash) return false;
  if (headed.seq > 0 && (await source.hashAt(id, headed.seq)) !== headed.hash) return false;
  const workflow = await source.workflow(row.workflowHash);
  return workflow !== null && row.sealed && isListedAsItIs(row, runOf(row, workflow));
}

function runOf(row: AuditRow, workflow: Workflow): Run {
  return { ...row.run, workflow } as Run;
}

function isListedAsItIs(row: AuditRow, run: Run): boolean {
  const [found, listed] = [columnsOfRun(run) as unknown as Json, row.columns as unknown as Json];
  // Written out only where they are not the same at once: this is done for every run.
  return jsonEqual(found, listed) || canonicalJson(found) === canonicalJson(listed);
}

/** What a run is listed and found by. */
export function columnsOfRun(run: Run): AuditRow['columns'] {
  return { ...summaryOf(run), workflowHash: run.workflowHash, ...placesOf(run) };
}

function compareHeads(
  verification: Verification,
  row: AuditRow,
  found: { readonly newest: AuditRow['head']; readonly headedHash: string },
): void {
  const { newest, headedHash } = found;
  if (newest.seq < row.head.seq) verification.report(tailCut(row.id, newest.seq + 1, row.head.seq));
  else if (newest.seq > row.head.seq) {
    verification.report(edited(row.id, row.head.seq + 1, 'was added from outside'));
  } else if (newest.hash !== row.head.hash) {
    verification.report(edited(row.id, newest.seq, 'is not the record the run was sealed with'));
  } else if (row.headed.seq > newest.seq) {
    verification.report(rolledBack(row.id, newest.seq, `ends at record ${newest.seq}, but was further`));
  } else if (row.headed.seq > 0 && row.headed.hash !== headedHash) {
    verification.report({
      kind: 'head_invalid',
      run: row.id,
      seq: row.headed.seq,
      message: `run \`${row.id}\` remembers another head than it was signed with`,
    });
  }
}

async function compareState(
  verification: Verification,
  row: AuditRow,
  { events, places }: { readonly events: readonly RunEvent[]; readonly places: Places },
): Promise<void> {
  const { source } = verification;
  const workflow = await source.workflow(row.workflowHash);
  if (workflow === null) {
    verification.report(stateEdited(row, 'has a workflow that was changed or is missing'));
    return;
  }
  const run = runOf(row, workflow);
  if (!isListedAsItIs(row, run)) verification.report(stateEdited(row, 'is listed otherwise than it is'));
  if (!(await foldHolds(verification, run, events))) {
    verification.report(stateEdited(row, 'is not what its events make it'));
  }
  await compareDecisions(verification, run, { seq: row.head.seq, places });
}

async function foldHolds(
  { knowledge, source, breathe }: Verification,
  run: Run,
  events: readonly RunEvent[],
): Promise<boolean> {
  const { fold } = knowledge;
  if (fold === undefined) return true;
  // Migrations tell the workflows that came after the first.
  const [started] = events;
  const hash = started?.type === 'run_started' ? started.workflowHash : run.workflowHash;
  const workflow = await source.workflow(hash);
  if (workflow === null || !orNull(() => events.every(tellsItsWorkflow))) return false;
  const folded = await wholly(() => fold(workflow, events), breathe);
  if (folded === null) return false;
  return orNull(() => isSameState(folded, run)) ?? false;
}

/** Null where it throws: events that cannot be folded do not make the state. */
function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/**
 * INVARIANT: one run may have any number of events, as an agent may claim and give back as often as it likes. Others work
 * meanwhile, and each event is a sign of work: a verification that shows none is given up. What fails there is no word on
 * the run.
 */
async function wholly(fold: () => Run | Folding, breathe: Verification['breathe']): Promise<Run | null> {
  const folded = orNull(fold);
  if (folded === null || !('next' in folded)) return folded;
  for (;;) {
    const step = orNull(() => folded.next());
    if (step === null) return null;
    if (step.done === true) return step.value;
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
}

function isSameState(folded: Run, run: Run): boolean {
  return jsonEqual(stateOf(folded), stateOf(run)) || writtenState(folded) === writtenState(run);
}

function stateOf({ workflow: _, ...state }: Run): Json {
  return state as unknown as Json;
}

/**
 * Two values that are not the same may still be written the same, which is what counts. Written and read once more, as
 * records were: versions before 0.2 let in keys with halves of surrogate pairs, of which a record keeps one.
 */
function writtenState(run: Run): string {
  const written = canonicalJson(JSON.parse(stateText(run)) as Json);
  return canonicalJson(JSON.parse(written) as Json);
}

function tellsItsWorkflow(event: RunEvent): boolean {
  return event.type !== 'run_migrated' || workflowHash(event.workflow) === event.workflowHash;
}

async function compareDecisions(
  verification: Verification,
  run: Run,
  { seq, places }: { readonly seq: number; readonly places: Places },
): Promise<void> {
  const { verifyDecision } = verification.knowledge;
  if (verifyDecision === undefined) return;
  const votes = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.votes : [];
  for (const decision of [...run.decisions, ...votes, ...(run.overrides ?? [])]) {
    const pause = verification.breathe();
    if (pause !== undefined) await pause;
    const inTime = verifyDecision(run, decision, humansAt(verification, decision.at));
    // One who never left was there. Else the order in which records came says it: a clock may have jumped, and who has
    // an old key can write an old time.
    if (inTime && !hasLeft(verification, decision.by)) continue;
    const place = places.get(decision.signature);
    const there = place === undefined ? null : await humansBefore(verification, decision.by, place);
    if (there === null ? inTime : verifyDecision(run, decision, there)) continue;
    const what =
      'gate' in decision
        ? `a decision at \`${decision.gate}\``
        : `an override of phase \`${decision.phase}\``;
    verification.report({
      kind: 'decision_forged',
      run: run.id,
      seq,
      message: `run \`${run.id}\` has ${what} that \`${decision.by}\` did not sign`,
    });
  }
}

/** A key is good for its time: from when its human was added until they were removed. */
function humansAt({ humans }: Verification, at: string): readonly HumanRecord[] {
  const time = Date.parse(at);
  return humans
    .filter(({ sealed, human }) => sealed && Date.parse(human.addedAt) - CLOCK_SET_BACK <= time)
    .filter(({ removedAt }) => removedAt === null || time <= Date.parse(removedAt) + CLOCK_SET_BACK)
    .map(({ human }) => withPasskeysAt(human, time, CLOCK_SET_BACK));
}

/** Whether a key or a passkey of that name is not good any more. */
function hasLeft({ humans }: Verification, name: string): boolean {
  return humans.some(
    ({ human, removedAt }) =>
      human.name === name &&
      (removedAt !== null || (human.passkeys ?? []).some((passkey) => passkey.removedAt !== undefined)),
  );
}

/** Where the decisions of a run stand among all records, by their signatures. */
type Places = ReadonlyMap<Json | undefined, number | undefined>;

/** The first of a signature counts: what was recorded again later was decided before. */
function notePlace(places: Map<Json | undefined, number | undefined>, record: StoredRecord): void {
  const { event, place } = record;
  if (event !== 'gate_decided' && event !== 'phase_overridden') return;
  const signed = own(record.data, event === 'gate_decided' ? 'decision' : 'override') ?? null;
  const signature = own(signed, 'signature');
  if (!places.has(signature)) places.set(signature, place);
}

/** Clocks are corrected now and then; a genuine decision must not look forged for that. */
const CLOCK_SET_BACK = 5 * 60_000;

function stateEdited(row: AuditRow, what: string): AuditFinding {
  return { kind: 'state_edited', run: row.id, seq: row.head.seq, message: `run \`${row.id}\` ${what}` };
}
