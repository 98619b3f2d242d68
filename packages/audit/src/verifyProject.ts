import { own } from '@phasegate/core';
import type { AuditFinding, ChainHead } from '@phasegate/core/ports';
import type { AuditSource, StoredAgent, StoredHuman, StoredRecord, Verification } from './auditSource.ts';
import { type NotedPasskeys, notePasskeys, passkeyFaults } from './passkeysThen.ts';
import { type NotedTrust, notedTrust } from './storedTrust.ts';
import { trustFaults } from './trustFaults.ts';
import { checkChain, dropped, edited, rolledBack } from './verifyChain.ts';
import type { ShareWork } from './verifyShare.ts';

/** What the project's chain says, read while nothing is known about the runs yet. */
export interface ProjectRead {
  readonly head: ChainHead;
  /** Its newest record that is part of the anchor. */
  readonly atAnchor: ChainHead;
  readonly records: number;
  /** What is wrong with the chain and, perhaps, with runs, in its order. */
  readonly findings: readonly AuditFinding[];
  /** Names and keys of those who were added and not removed. */
  readonly principals: Readonly<Record<Kind, ReadonlyMap<string, string>>>;
  readonly passkeys: NotedPasskeys;
  /** What humans accepted, in the order of the chain. */
  readonly accepted: readonly NotedTrust[];
  /** How many runs were archived, by the hash of the file they went to. */
  readonly archived: ReadonlyMap<string, number>;
}

/** Reads and checks the project's chain and what it says of runs. */
export async function readProject(work: ShareWork): Promise<ProjectRead> {
  const chain = checkChain(work.seal, null);
  const principals = { human: new Map<string, string>(), agent: new Map<string, string>() };
  const passkeys: NotedPasskeys = new Map();
  const accepted: NotedTrust[] = [];
  const archived = new Map<string, number>();
  const findings: AuditFinding[] = [];
  const anchored = work.since?.place ?? 0;
  let [records, atAnchor] = [0, chain.head()];
  for await (const record of work.source.records(null)) {
    for (const finding of chain.take(record)) findings.push(finding);
    records += 1;
    if (record.place !== undefined && record.place <= anchored) atAnchor = chain.head();
    if (record.event === 'run_started' || record.event === 'run_ended') {
      const finding = await findingOfNote(work.source, record);
      if (finding !== null) findings.push(finding);
    }
    if (record.event === 'runs_archived') {
      // Many runs go to one file in several slices, each with a record of its own.
      const sha256 = String(own(record.data, 'sha256'));
      archived.set(sha256, (archived.get(sha256) ?? 0) + Number(own(record.data, 'runs')));
    }
    notePrincipals('human', principals.human, record);
    notePrincipals('agent', principals.agent, record);
    notePasskeys(passkeys, record);
    const trust = notedTrust(record);
    if (trust !== null) accepted.push(trust);
    const pause = work.breathe();
    if (pause !== undefined) await pause;
  }
  return { head: chain.head(), atAnchor, records, findings, principals, passkeys, accepted, archived };
}

/** Tells what is wrong with the project's chain and with humans and agents. */
export async function judgeProject(
  verification: Verification,
  { records, findings, principals, passkeys, accepted }: ProjectRead,
): Promise<void> {
  const { source, tally } = verification;
  tally.records += records;
  for (const finding of findings) {
    const { kind, run } = finding;
    // One cause should not be told twice.
    if (run !== null && (tally.dropped.has(run) || (kind !== 'run_dropped' && verification.blamed(run))))
      continue;
    if (run !== null && kind === 'run_dropped') tally.dropped.add(run);
    verification.report(finding);
  }
  comparePrincipals(verification, 'human', {
    stored: verification.humans.map(ofHuman),
    noted: principals.human,
  });
  comparePrincipals(verification, 'agent', {
    stored: (await source.agents()).map(ofAgent),
    noted: principals.agent,
  });
  for (const what of passkeyFaults(verification.humans, passkeys)) verification.report(stateEdited(what));
  for (const what of trustFaults(await source.acceptances(), accepted)) {
    verification.report(stateEdited(what));
  }
  for await (const what of source.unsealed()) {
    verification.report(stateEdited(`${what} does not match its seal`));
  }
}

/** The project's chain notes a run's head at its start and end: the run must still have it. */
async function findingOfNote(source: AuditSource, record: StoredRecord): Promise<AuditFinding | null> {
  const { data } = record;
  const [run, seq, hash] = [own(data, 'run'), own(data, 'seq'), own(data, 'hash')];
  if (typeof run !== 'string') return null;
  const stub = await source.stubOf?.(run);
  const newest = (await source.seqOf(run)) ?? stub?.head.seq;
  if (newest === undefined) {
    return dropped(run, `was started (record ${record.seq} of the project) and is gone`);
  }
  if (typeof seq !== 'number') return null;
  if (newest < seq) return rolledBack(run, newest, `ends at record ${newest}, but was at ${seq}`);
  // Of an archived run the last record is known here; the ones before are held against it with its archive.
  if (stub !== undefined && seq < stub.head.seq) return null;
  if ((stub?.head.hash ?? (await source.hashAt(run, seq))) === hash) return null;
  return edited(run, seq, "is not the record the project's chain notes");
}

/** Who was added on the chain and not removed, by name, with their key. */
function notePrincipals(kind: Kind, noted: Map<string, string>, record: StoredRecord): void {
  if (record.event !== `${kind}_added` && record.event !== `${kind}_removed`) return;
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
