import { type AuditRecord, own } from '@phasegate/core';
import type { ChainHead } from '../runtime/ports.ts';
import type { StoredHuman, Verification } from './auditSource.ts';
import { checkChain, dropped, edited, rolledBack } from './verifyChain.ts';

/** Checks the project's chain and what it says of runs and humans; gives its newest link. */
export async function verifyProject(verification: Verification): Promise<ChainHead> {
  const chain = checkChain(verification.seal, null);
  const humans = new Map<string, string>();
  for (const record of verification.source.records(null)) {
    for (const finding of chain.take(record)) verification.report(finding);
    verification.tally.records += 1;
    if (record.event === 'run_started' || record.event === 'run_ended') checkNote(verification, record);
    noteHuman(humans, record);
    await verification.breathe();
  }
  compareHumans(verification, humans);
  return chain.head();
}

/** The project's chain notes a run's head at its start and end: the run must still have it. */
function checkNote(verification: Verification, record: AuditRecord): void {
  const { source, tally } = verification;
  const [run, seq, hash] = [own(record.data, 'run'), own(record.data, 'seq'), own(record.data, 'hash')];
  if (typeof run !== 'string' || tally.dropped.has(run)) return;
  const newest = source.seqOf(run);
  if (newest === undefined) {
    tally.dropped.add(run);
    verification.report(dropped(run, `was started (record ${record.seq} of the project) and is gone`));
    return;
  }
  if (typeof seq !== 'number' || verification.blamed(run)) return;
  if (newest < seq) {
    verification.report(rolledBack(run, newest, `ends at record ${newest}, but was at ${seq}`));
  } else if (source.hashAt(run, seq) !== hash) {
    verification.report(edited(run, seq, "is not the record the project's chain notes"));
  }
}

function noteHuman(humans: Map<string, string>, record: AuditRecord): void {
  const [name, key] = [own(record.data, 'name'), own(record.data, 'publicKey')];
  if (typeof name !== 'string') return;
  if (record.event === 'human_added' && typeof key === 'string') humans.set(name, key);
  if (record.event === 'human_removed') humans.delete(name);
}

function compareHumans(verification: Verification, noted: ReadonlyMap<string, string>): void {
  const present = verification.humans.filter(({ removed }) => !removed);
  for (const stored of verification.humans) {
    const what = faultOf(stored, noted);
    if (what !== null) verification.report(humanEdited(stored.human.name, what));
  }
  for (const name of noted.keys()) {
    if (present.some(({ human }) => human.name === name)) continue;
    verification.report(humanEdited(name, 'was added and is gone'));
  }
}

function faultOf(stored: StoredHuman, noted: ReadonlyMap<string, string>): string | null {
  if (!stored.sealed) return 'does not match its seal';
  if (stored.removed) return null;
  return noted.get(stored.human.name) === stored.human.publicKey
    ? null
    : "was never added on the project's chain";
}

function humanEdited(name: string, what: string) {
  return { kind: 'state_edited', run: null, seq: null, message: `human \`${name}\` ${what}` } as const;
}
