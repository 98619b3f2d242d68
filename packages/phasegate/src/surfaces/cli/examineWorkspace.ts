import { shellWord } from '@phasegate/core/model';
import type { OpenProject } from '../../runtime/ports.ts';
import type { Finding } from './finding.ts';
import { LOCAL_AGENT } from './unlockHuman.ts';

/** So many queued runs are looked at: they wait for one another, and the first ones say for which. */
const MOST = 20;

/** Runs that keep others out of the workspace: one that was left alone keeps them out for ever. */
export async function examineWorkspace(project: OpenProject): Promise<readonly Finding[]> {
  const gate = project.as(LOCAL_AGENT);
  const waiting = new Map<string, number>();
  for (const { run } of await gate.runs({ status: 'queued', limit: MOST })) {
    const { waitsFor } = await gate.view(run);
    if (waitsFor !== undefined) waiting.set(waitsFor.run, (waiting.get(waitsFor.run) ?? 0) + 1);
  }
  const findings: Finding[] = [];
  for (const [run, count] of waiting) {
    const { workflow, status, updatedAt } = await gate.view(run);
    const named = shellWord(run);
    // What a human is asked for there is the way on, and not what is to be ended.
    const first = status === 'waiting' ? `phasegate decide ${named}` : `phasegate status ${named}`;
    const others = count === 1 ? 'another run waits' : `${count} runs wait`;
    findings.push({
      name: 'workspace',
      status: 'optional',
      message: `run \`${run}\` of \`${workflow}\` is ${status}, unchanged since ${updatedAt}, and has the workspace; ${others} for it to end`,
      next_step: `${first}${status === 'waiting' ? '; or' : ', and'} a human ends it with phasegate stop ${named} --reason TEXT`,
    });
  }
  return findings;
}
