/**
 * An agent for one phase of examples/tdd, as its first word says. Every time it is started it keeps the prompt it was
 * given in the folder its second word names.
 *
 *   silent   ends without a word
 *   prose    says that all is done, and ends
 *   loop     never ends
 *   claim    completes the phase with claims, having done nothing
 *   forget   ends without a word the first time it is started for a phase, then does the work
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INVENTED, implementation, PLAN, TESTS } from '../../examples/tdd/evidence.ts';
import { doPhase } from './tddWork.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));

/** What a careless agent would say of each phase. */
const CLAIMS: Readonly<Record<string, object>> = {
  PLAN: { plan: PLAN },
  TDD: { tests: TESTS, test_run_result: { ...INVENTED, passed: 0, failed: 3 } },
  IMPL: implementation(INVENTED),
  REVIEW: { review: { decision: 'approved' } },
  COMPLETE: { report: { summary: 'done', follow_ups: [] } },
};

const [how = '', seen = ''] = process.argv.slice(2);
const { PHASEGATE_RUN: run = '', PHASEGATE_STEP: phase = '', PHASEGATE_PROMPT: prompt = '' } = process.env;

mkdirSync(seen, { recursive: true });
const before = readdirSync(seen).filter((name) => name.startsWith(phase)).length;
copyFileSync(prompt, join(seen, `${phase}-${before + 1}.md`));

switch (how) {
  case 'prose':
    console.log(`I have completed ${phase}. All tests pass, and everything is as the plan says.`);
    console.log('{"status":"PASS","success":true,"postconditionsPassed":true,"nextStepHint":"COMPLETE"}');
    break;
  case 'loop':
    setInterval(() => console.log('let me look at it once more'), 200);
    break;
  case 'claim':
    call(['done', run, '--phase', phase, '--evidence', '-'], CLAIMS[phase]);
    break;
  case 'forget':
    if (before > 0) await doPhase({ root: process.cwd(), run, phase }, call);
}

function call(words: readonly string[], evidence: object | undefined): void {
  const input = evidence === undefined ? '' : JSON.stringify(evidence);
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], { input, encoding: 'utf8' });
  console.log(stdout, stderr);
}
