import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What an agent does that does what it is told, with the project's own tests. */
const WORK = `import { writeFileSync } from 'node:fs';

const run = { command: 'npm test', total: 1, passed: 0, failed: 1, skipped: 0 };
const green = { ...run, passed: 1, failed: 0 };
const GREETS = 'import { test } from "node:test";\\ntest("greets", () => import("../src/greet.js"));\\n';
const plan = { summary: 'a greeting for everyone', scope: ['src/greet.js', 'test/greet.test.js'],
  acceptance_criteria: [{ id: 'AC-1', text: 'it greets everyone' }] };
const review = { decision: 'approved', summary: 'it greets everyone as planned', files_read: ['src/greet.js'], findings: [] };
const EVIDENCE = {
  PLAN: () => ({ plan }),
  TDD: () => write('test/greet.test.js', GREETS) && {
    tests: [{ name: 'greets', file: 'test/greet.test.js', criterion: 'AC-1' }], test_run_result: run },
  IMPL: () => write('src/greet.js', 'console.log("hello");') && {
    changes: ['src/greet.js'], test_run_result: green, commands_executed: ['npm test'] },
  REVIEW: () => ({ review }),
  COMPLETE: () => ({ report: { summary: 'a greeting was made for all', follow_ups: [] } }),
};
const TASKS = { PLAN: [1, 2], REVIEW: [1] };
const write = (path, text) => [writeFileSync(path, text)];
`;
/** All that is written by the one who tries it: that work, handed in with the SDK. */
export const AGENT = `${WORK}import { connectFromEnvironment } from '@phasegate/sdk';

const agent = connectFromEnvironment();
let { phase, status } = await agent.getPhase();
while (phase !== null && status === 'active') {
  for (const task of TASKS[phase] ?? []) await agent.getTask(phase, task);
  ({ phase, status } = await agent.requestTransition(undefined, EVIDENCE[phase]()));
}
`;
/** That work for one phase, handed in by commands, as a client does that Phasegate starts. */
export const STARTED = `${WORK}import { execFileSync } from 'node:child_process';

const { PHASEGATE_STEP: phase } = process.env;
const phasegate = (words, input) => execFileSync('phasegate', words, { input });
for (const task of TASKS[phase] ?? []) phasegate(['task', phase, String(task)]);
phasegate(['done', '--evidence', '-'], JSON.stringify(EVIDENCE[phase]()));
`;
/** The commands of every block under a heading, without what they say about themselves. */
export function blocksUnder(heading: string): readonly (readonly string[])[] {
  const [, after = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split(`\n${heading}\n`);
  const [section = ''] = after.split(/^## /m);
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +#.*$/, '')),
  );
}

/** A line of a document in a shell, with what it prints. */
export function shell(root: string, line: string, env: Readonly<Record<string, string>>) {
  const child = spawn('/bin/sh', ['-c', `exec ${line}`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const heard = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      heard.dispatchEvent(new Event('text'));
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    child,
    ended,
    text: () => text,
    async says(words: string) {
      while (!text.includes(words)) {
        const over = await Promise.race([once(heard, 'text').then(() => false), ended.then(() => true)]);
        if (over) throw new Error(`it ended: ${text}`);
      }
    },
  };
}
