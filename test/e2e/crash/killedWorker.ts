import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from '../cli.ts';
import type { Announcement } from './worker.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

/** When a worker is killed: so long after it began, or after it first announced something. */
export interface Moment {
  readonly after: 'start' | 'first announcement';
  readonly milliseconds: number;
}

/** Lets a worker go to and fro over the project's runs until it is killed; gives what it announced by then. */
export function killedWorker(
  project: TestProject,
  moment: Moment,
  lanes: number,
): Promise<readonly Announcement[]> {
  const child = spawn(process.execPath, [WORKER, project.root, String(lanes)], {
    env: project.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let complaint = '';
  let timer: NodeJS.Timeout | undefined;
  const killSoon = () => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), moment.milliseconds);
  };
  if (moment.after === 'start') killSoon();
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    killSoon();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal !== 'SIGKILL') reject(new Error(`the worker ended by itself (${code}): ${complaint}`));
      else resolve(announcementsIn(said));
    });
  });
}

/** The last line may have been cut by the kill; a line that was not written whole was not said. */
function announcementsIn(text: string): readonly Announcement[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Announcement);
}
