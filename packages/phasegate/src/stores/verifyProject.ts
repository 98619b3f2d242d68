import { type AuditRecord, own } from '@phasegate/core';
import type { AuditFinding, ChainHead } from '../runtime/ports.ts';
import type { StoredAgent, StoredHuman, Verification } from './auditSource.ts';
import { checkChain, dropped, edited, rolledBack } from './verifyChain.ts';

/** Checks the project's chain and what it says of runs, humans and agents; gives its newest link. */
export async function verifyProject(verification: Verification): Promise<ChainHead> {
  const chain = checkChain(verification.seal, null);
  const humans = new Map<string, string>();
  const agents = new Map<string, string>();
  for (const record of verification.source.records(null)) {
    for (const finding of chain.take(record)) verification.report(finding);
    verification.tally.records += 1;
    if (record.event === 'run_started' || record.event === 'run_ended') checkNote(verification, record);
    notePrincipals('human', humans, record);
    notePrincipals('agent', agents, record);
    await verification.breathe();
  }
  comparePrincipals(verification, 'human', { stored: verification.humans.map(ofHuman), noted: humans });
  const stored = verification.source.agents().map(ofAgent);
  comparePrincipals(verification, 'agent', { stored, noted: agents });
  for (const what of verification.source.unsealed()) {
    verification.report(stateEdited(`${what} does not match its seal`));
  }
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

/** Who was added on the chain and not removed, by name, with their key. */
function notePrincipals(kind: Kind, noted: Map<string, string>, record: AuditRecord): void {
  const [name, key] = [own(record.data, 'name'), own(record.data, KEYS[kind])];
  if (typeof name !== 'string') return;
  if (record.event === `${kind}_added` && typeof key === 'string') noted.set(name, key);
  if (record.event === `${kind}_removed`) noted.delete(name);
}

function comparePrincipals(
  verification: Verification,
  kind: Kind,
  {
    stored,
    noted,
  }: { readonly stored: readonly StoredPrincipal[]; readonly noted: ReadonlyMap<string, string> },
): void {
  const present = new Set(stored.filter(({ removed }) => !removed).map(({ name }) => name));
  for (const one of stored) {
    const what = faultOf(one, noted);
    if (what !== null) verification.report(stateEdited(`${kind} \`${one.name}\` ${what}`));
  }
  for (const name of noted.keys()) {
    if (!present.has(name)) verification.report(stateEdited(`${kind} \`${name}\` was added and is gone`));
  }
}

function faultOf(stored: StoredPrincipal, noted: ReadonlyMap<string, string>): string | null {
  if (!stored.sealed) return 'does not match its seal';
  if (stored.removed) return null;
  return noted.get(stored.name) === stored.key ? null : "was never added on the project's chain";
}

function stateEdited(message: string): AuditFinding {
  return { kind: 'state_edited', run: null, seq: null, message };
}

type Kind = 'human' | 'agent';

/** The fact on the chain that says whose key it was. */
const KEYS: Readonly<Record<Kind, string>> = { human: 'publicKey', agent: 'keyHash' };

interface StoredPrincipal {
  readonly name: string;
  readonly key: string;
  readonly removed: boolean;
  readonly sealed: boolean;
}

function ofHuman({ human, removed, sealed }: StoredHuman): StoredPrincipal {
  return { name: human.name, key: human.publicKey, removed, sealed };
}

function ofAgent({ agent, removed, sealed }: StoredAgent): StoredPrincipal {
  return { name: agent.name, key: agent.keyHash, removed, sealed };
}
