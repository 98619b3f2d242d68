import { once } from 'node:events';
import { Readable } from 'node:stream';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import type { Machine } from '../../packages/phasegate/src/surfaces/cli/command.ts';
import { runCli } from '../../packages/phasegate/src/surfaces/cli/runCli.ts';
import { atEndOfFile } from '../atEndOfFile.ts';
import { Collector } from './callHere.ts';
import type { TestProject } from './cli.ts';
import { type Served, servedAt } from './server.ts';

/**
 * Starts the server as `serve` does, but in this process, which takes a tenth of the time: for a test that is about
 * what the server answers, and not about how its process starts, ends or bears an attack. What it starts has the folder
 * and the environment of this process.
 */
export async function serveHere({ root, env }: TestProject, words: readonly string[] = []): Promise<Served> {
  const asked = new AbortController();
  const [stdout, stderr] = [new Collector(), new Collector()];
  const ended = runCli({
    argv: ['serve', '--project', root, '--port', '0', '--json', ...words],
    env,
    stdin: Readable.from([]),
    stdout,
    stderr,
    isTty: false,
    openProject: openTestProject,
    machine: { ...NOTHING_ELSE, stopping: () => asked.signal },
  }).then((code) => ({ code, signal: null }));
  atEndOfFile(() => {
    asked.abort();
    return ended;
  });
  await Promise.race([once(stdout, 'written'), ended]);
  const [line = ''] = stdout.text.split('\n', 1);
  return servedAt(line, { ended, kill: () => asked.abort(), stderr: () => stderr.text });
}

const not = () => Promise.reject(new Error('only a server is started here'));

/** What `serve` needs of the machine. */
export const NOTHING_ELSE: Omit<Machine, 'stopping'> = {
  openServer: async (request) => {
    const { openLocalServer } = await import('../../packages/phasegate/src/localServer.ts');
    return openLocalServer(request);
  },
  serveMcp: not,
  spawnAgent: not,
  driveRun: not,
  testWorkflow: not,
  runLaunch: not,
};
