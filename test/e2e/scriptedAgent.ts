/**
 * An agent that is a script: works on the run it was started with, through the SDK, as its first word says.
 *
 *   complete    every phase to the end
 *   crash-once  ends with code 3 after the first phase, then completes
 *   forget-once ends well after the first phase without a word, then completes
 *   crash       always ends with code 3
 *   hang        does nothing until it is killed
 *
 * What it sees of itself is appended to the file its second word names, one JSON value a line.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { connectFromEnvironment } from '@phasegate/sdk';

const RED = { total: 1, passed: 0, failed: 1, skipped: 0 };
const GREEN = { total: 1, passed: 1, failed: 0, skipped: 0 };
const ARTIFACTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  PLAN: { plan: { summary: 'make it so' } },
  TDD: { test_run_result: RED },
  IMPL: { test_run_result: GREEN },
  REVIEW: { review: { decision: 'approved' } },
  COMPLETE: { report: 'it is done' },
};
const [how = '', seen = ''] = process.argv.slice(2);
const again = existsSync(seen);

appendFileSync(
  seen,
  `${JSON.stringify({
    words: readFileSync('/proc/self/cmdline', 'utf8').split('\0'),
    environment: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => /^(PHASEGATE|ORCH)/.test(name)),
    ),
    prompt: readFileSync(process.env.PHASEGATE_PROMPT ?? '', 'utf8'),
    terminal: process.stdout.isTTY === true,
    pid: process.pid,
  })}\n`,
);
if (how === 'hang') setInterval(() => undefined, 1000);
else await work();

async function work(): Promise<void> {
  if (how === 'crash') process.exit(3);
  const agent = connectFromEnvironment();
  let { phase } = (await agent.getPhase()) as { phase: string | null };
  while (phase !== null) {
    const refused = await agent.checkTool('bash', { command: 'true' });
    if (refused.allowed) throw new Error(`bash was allowed in ${phase}`);
    const moved = await agent.requestTransition(undefined, ARTIFACTS[phase] ?? {});
    phase = moved.phase as string | null;
    if (!again && how === 'crash-once') process.exit(3);
    if (!again && how === 'forget-once') return;
  }
}
