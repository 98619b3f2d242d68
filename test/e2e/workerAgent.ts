/**
 * An agent of a worker that is a script: works on the run it was started with, as its first word says.
 *
 *   commit   commits a file in the folder it is in, then completes the run
 *   loose    leaves a file that is not committed, then completes the run
 *   crash    ends with code 3
 *   wait     completes the run once the file that its third word names is there
 *
 * What it sees of itself is appended to the file its second word names, one JSON value a line.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { connectFromEnvironment } from '@phasegate/sdk';

const [how = '', seen = '', sign = ''] = process.argv.slice(2);
const run = process.env.PHASEGATE_RUN ?? '';
const files = readdirSync('.');
appendFileSync(seen, `${JSON.stringify({ run, cwd: process.cwd(), files, pid: process.pid })}\n`);
if (how === 'crash') {
  console.error('a crash of the agent');
  process.exit(3);
}
if (how === 'wait') while (!existsSync(sign)) await pause(20);
if (how !== 'wait') writeFileSync('work.txt', `of ${run}\n`);
if (how === 'commit') {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...words]);
  git('add', 'work.txt');
  git('commit', '--quiet', '-m', 'the work');
}
const agent = connectFromEnvironment();
await agent.requestTransition(undefined, { summary: 'it is done' });
