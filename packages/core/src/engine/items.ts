import type { Phase } from '../model/workflow.ts';
import { apply } from './apply.ts';
import { ALLOWED, blocker, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { Asking, type Considered, escalation, refuseWork } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { type Completing, considerLeaving } from './leaving.ts';
import { joinedResult } from './route.ts';
import type { Item, Run } from './run.ts';
import { checkBlockers } from './transition.ts';
import type { Blocker } from './verdict.ts';

/** An item is done; when it was the last, the phase is, with the results joined. */
export function considerItem(
  run: Run,
  key: string,
  done: Completing,
  circumstance: Circumstance,
): Considered {
  const completed: RunEvent = {
    at: circumstance.now,
    type: 'item_completed',
    phase: done.phase.id,
    item: key,
    evidence: done.evidence,
  };
  const after = apply(run, completed);
  const items = after.work.items as Readonly<Record<string, Item>>;
  const open = Object.values(items).filter((item) => item.status !== 'completed');
  if (open.length > 0) {
    const events: RunEvent[] = [completed];
    if (open.every((item) => item.status === 'failed')) events.push(failedItems(after, circumstance.now));
    return { verdict: ALLOWED, events };
  }
  const joined = { ...done, evidence: joinedResult(items) };
  const asking = new Asking(circumstance);
  const judged = { phase: done.phase, evidence: joined.evidence };
  const failed = checkBlockers(after, { judged, checks: done.phase.blockers, asking, stage: 'join' });
  if (asking.missing.length > 0) return { looks: asking.missing };
  if (failed.length > 0 && after.workflow.enforcement.mode !== 'permissive') {
    const refusal = refuseWork(after, circumstance.now, { blockers: failed, counted: true });
    return 'looks' in refusal ? refusal : { ...refusal, events: [completed, ...refusal.events] };
  }
  const left = considerLeaving(after, { ...joined, would: [...joined.would, ...failed] }, circumstance);
  return 'looks' in left ? left : { ...left, events: [completed, ...left.events] };
}

/** Once every open item has failed twice, only a human can go on. */
export function withFailedItems(run: Run, now: string, refusal: Considered): Considered {
  if ('looks' in refusal || run.work.items === null) return refusal;
  const after = refusal.events.reduce(apply, run);
  const open = Object.values(after.work.items ?? {}).filter((item) => item.status !== 'completed');
  const stuck =
    after.status === 'active' && open.length > 0 && open.every((item) => item.status === 'failed');
  return stuck ? { ...refusal, events: [...refusal.events, failedItems(after, now)] } : refusal;
}

function failedItems(run: Run, now: string): RunEvent {
  const failed = Object.entries(run.work.items ?? {}).filter(([, item]) => item.status === 'failed');
  const blockers = failed.map(([key, item]) =>
    blocker('check_failed', `item \`${key}\`: ${item.error ?? 'failed'}`, {
      act: 'wait_for_human',
      text: 'wait: a human must act',
    }),
  );
  return escalation(
    now,
    'attempts',
    `${failed.length} items of phase \`${run.phase}\` failed twice`,
    blockers,
  );
}

/** The item a submission is about, null in an ordinary phase, or why there is none. */
export function readItem(
  run: Run,
  phase: Phase,
  command: Extract<Command, { kind: 'complete' }>,
): Item | Blocker | null {
  const items = run.work.items;
  // Names an item that is open, so that the next call is one that can be made.
  const action = nextActionFor(run);
  if (items === null) {
    return command.item === undefined
      ? null
      : blocker('item_unknown', `phase \`${phase.id}\` has no items`, action);
  }
  const open = Object.keys(items).filter((key) => items[key]?.status === 'pending');
  if (command.item === undefined) {
    return blocker(
      'item_required',
      `phase \`${phase.id}\` is completed item by item; open: ${open.join(', ')}`,
      action,
    );
  }
  const item = Object.hasOwn(items, command.item) ? items[command.item] : undefined;
  if (item === undefined)
    return blocker('item_unknown', `there is no item \`${command.item}\`; open: ${open.join(', ')}`, action);
  if (item.status === 'completed')
    return blocker('item_done', `item \`${command.item}\` is already completed`, action);
  if (item.status === 'failed') {
    return blocker('item_done', `item \`${command.item}\` failed twice; a human must act`, action);
  }
  return item;
}
