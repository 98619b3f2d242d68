import type { Enclose } from '@phasegate/core/ports';
import { type Ended, type Program, runProgram } from './runProgram.ts';

/** Runs a program in its sandbox, where it has one. One whose sandbox could not be made was not started. */
export async function runEnclosed(program: Program, enclose: Enclose | undefined): Promise<Ended> {
  if (enclose === undefined) return runProgram(program);
  const enclosed = await enclose({ ...program, ownOutput: true });
  try {
    const ended = await runProgram({ ...program, ...enclosed });
    const { loose } = enclosed;
    if (enclosed.begun() || ended.how.kind === 'not_started')
      return loose.length === 0 ? ended : { ...ended, notHeld: loose };
    if (ended.how.kind !== 'exited' && ended.how.kind !== 'killed') return ended;
    return { ...ended, how: { kind: 'not_started', code: `the sandbox could not be made${saidIn(ended)}` } };
  } finally {
    await enclosed.close();
  }
}

/** What the one who makes sandboxes said last. */
function saidIn({ tail }: Ended): string {
  const last = tail.toString().trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? '' : ` (${last.slice(0, 300)})`;
}
