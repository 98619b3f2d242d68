import {
  type Blocker,
  canonicalJson,
  type JsonObject,
  type PhaseId,
  type Run,
  type RunEvent,
} from '@phasegate/core';
import {
  eventOfRecord,
  type GateCardFacts,
  gateCard,
  type JudgedItem,
  type LetThrough,
  type StoppedRun,
} from '@phasegate/core/engine';
import { sameTarget } from '@phasegate/core/model';
import { phaseWorkOf } from './phaseWork.ts';
import type { AuditStore, RunStore } from './ports.ts';
import { projectTarget, waysInto } from './projectTarget.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/** A gate card and its hash. */
export interface ShownCard {
  readonly card: JsonObject;
  readonly shown: string;
}

/** What stands at the gate of a run now; null where it waits at none. */
export async function shownCard(
  { store, hash, workspace, fence }: Pick<RuntimeParts, 'store' | 'hash' | 'workspace' | 'fence'>,
  run: Run,
): Promise<ShownCard | null> {
  const movedSince = (await fence?.movedAtGate(run)) ?? [];
  const diff = await fence?.diffAtGate(run);
  const told = { ...(await factsOf({ store, workspace }, run)), movedSince };
  const card = gateCard(run, { ...told, ...(diff === undefined ? {} : { diff }) });
  return card === null ? null : { card, shown: hash(canonicalJson(card)) };
}

type Place = Pick<RuntimeParts, 'store' | 'workspace'>;

/** What bears on a decision beside the run itself, all of it from before the gate opened. */
async function factsOf(place: Place, run: Run): Promise<GateCardFacts> {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return { letThrough: [], stoppedBefore: [] };
  return {
    ...(await toldIn(place.store, run)),
    stoppedBefore: await stoppedBefore(place, run, run.wait.since),
  };
}

const PAGE = 1000;

/** From the run's own record: what was let through is not lost when its phase is left. */
async function toldIn(
  store: AuditStore & RunStore,
  run: Run,
): Promise<Required<Pick<GateCardFacts, 'letThrough' | 'itemsJudged' | 'work'>>> {
  const work = phaseWorkOf(run);
  const letThrough: LetThrough[] = [];
  const itemsJudged: JudgedItem[] = [];
  for (let after = 0; ; ) {
    const records = await store.history(run.id, { after, limit: PAGE });
    for (const record of records) {
      work.add(record);
      const event = eventOfRecord(record);
      if (event === null) continue;
      letThrough.push(...toldBy(event));
      if (event.type === 'item_completed') {
        itemsJudged.push({ phase: event.phase, item: event.item, at: event.at });
      }
    }
    const newest = records.at(-1)?.seq;
    if (records.length < PAGE || newest === undefined) {
      return { letThrough, itemsJudged, work: work.facts() };
    }
    after = newest;
  }
}

function toldBy(event: RunEvent): readonly LetThrough[] {
  const told = (phase: PhaseId, blockers: readonly Blocker[] = [], item?: string) =>
    blockers.map(({ code, message }) => ({ phase, ...(item === undefined ? {} : { item }), code, message }));
  switch (event.type) {
    case 'run_started':
    case 'phase_completed':
      return told(event.phase, event.wouldRefuse);
    case 'item_completed':
      return told(event.phase, event.wouldRefuse, event.item);
    default:
      return [];
  }
}

/** Of many, the newest say enough. */
const MOST_STOPPED = 5;

/** A target that was said no to before bears on the next no. One stopped since the gate opened would change the card. */
async function stoppedBefore(
  { store, workspace }: Place,
  run: Run,
  since: string,
): Promise<readonly StoppedRun[]> {
  if (run.target === null) return [];
  const target = projectTarget(workspace, run.target);
  const isSame = (other: string | null) =>
    other !== null && sameTarget(projectTarget(workspace, other), target);
  const found = await store.stopped({
    targets: [run.target, target],
    beneath: waysInto(workspace),
    before: since,
  });
  const same = found.filter((line) => isSame(line.target));
  const loaded = await Promise.all(same.slice(0, MOST_STOPPED).map((line) => store.load(line.run)));
  return loaded.flatMap((stored) => {
    if (stored?.run.status !== 'stopped') return [];
    const { id, workflow, stoppedIn, reason, updatedAt } = stored.run;
    return [{ run: id, workflow: workflow.id, phase: stoppedIn, reason, at: updatedAt }];
  });
}
