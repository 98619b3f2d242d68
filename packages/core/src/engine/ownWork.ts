import { approvalOf } from '../model/approval.ts';
import type { GateOption, HumanGate, Phase } from '../model/workflow.ts';
import { blocker } from './blockers.ts';
import { AT_THE_GATE } from './gateMeaning.ts';
import { standOf } from './itemStand.ts';
import { isSameName, keyMaker, type MadeBy } from './keyMaker.ts';
import type { GateWait, Run } from './run.ts';
import type { Blocker } from './verdict.ts';

/** A human whose yes does not count at a gate, and why. */
export interface OwnWorker {
  readonly name: string;
  readonly why: 'completed the phase' | 'owns the key its agent used' | 'started the run';
}

/**
 * Whose work it is that waits at a gate: nobody approves their own. With `separate`, the one who started the run does not
 * either.
 */
export function ownWorkers(
  run: Run,
  { wait, gate }: { readonly wait: GateWait; readonly gate: HumanGate },
): readonly OwnWorker[] {
  const owners = [...(run.work.owners ?? []), ...(run.owner === undefined ? [] : [run.owner])];
  const starters = [...(run.by?.kind === 'human' ? [run.by.name] : []), ...namesOf(run.by?.owner)];
  const found: OwnWorker[] = [
    // An agent of that name may have been there before the human was. Where there was no item, nobody did anything.
    ...(hasNoItem(run) ? [] : [{ name: wait.by, why: 'completed the phase' as const }]),
    ...[...owners].sort().map((name) => ({ name, why: 'owns the key its agent used' as const })),
    ...(gate.separate === true ? starters : []).map((name) => ({ name, why: 'started the run' as const })),
  ];
  return found.filter(
    ({ name }, place) => found.findIndex((other) => isSameName(other.name, name)) === place,
  );
}

/** Why this human's choice does not count here, or null. To say no, or to send it back, is anybody's right. */
export function ownWorkProblem(
  run: Run,
  open: { readonly wait: GateWait; readonly gate: HumanGate; readonly phase: Phase },
  { name, option, madeBy }: { readonly name: string; readonly option: GateOption; readonly madeBy?: MadeBy },
): Blocker | null {
  if (approvalOf(run.workflow, open.phase, option) === 'no') return null;
  const behind = keyMaker(name, madeBy);
  const own = ownWorkers(run, open).find(
    (worker) => isSameName(worker.name, name) || isSameName(keyMaker(worker.name, madeBy), behind),
  );
  if (own === undefined) return null;
  const key = isSameName(own.name, name)
    ? ''
    : `, and the key of \`${name}\` was made for or by them since the run began`;
  const message = `\`${own.name}\` ${own.why}${key}, so \`${option.label}\` must come from another human`;
  return blocker('self_approval', message, AT_THE_GATE);
}

function hasNoItem({ work }: Run): boolean {
  return work.items !== null && standOf(work.items).total === 0;
}

function namesOf(name: string | undefined): readonly string[] {
  return name === undefined ? [] : [name];
}
