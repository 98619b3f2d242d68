import { execFile } from 'node:child_process';
import { PhasegateError } from '@phasegate/core';
import type { AgentAdapter, Exit } from './adapter.ts';
import { endGroup } from './endGroup.ts';
import { endWithUs } from './endWithUs.ts';
import { leaveLaunch, readExit } from './launchFile.ts';

/** How often the end of a session is looked for: tmux tells nobody. */
const LOOK_MS = 150;

/** Starts agents in tmux sessions of their own, where a human can watch and type. */
export function tmuxAdapter(options: {
  /** The words that start this program itself; the launcher inside of tmux is one of its commands. */
  readonly launcher: readonly string[];
  /** Of the tmux client; must hold no secret, as tmux keeps it. */
  readonly environment: Readonly<Record<string, string>>;
}): AgentAdapter {
  const tmux = (words: readonly string[]) => run('tmux', words, options.environment);
  return {
    async start(launch) {
      leaveLaunch(launch);
      const session = `phasegate-${launch.name}`.replace(/[^\w-]/g, '_');
      const pane = await tmux([
        ...['new-session', '-d', '-P', '-F', '#{pane_pid}', '-x', '200', '-y', '50'],
        ...[
          '-s',
          session,
          '-c',
          launch.cwd.replaceAll('#', '##'),
          '--',
          ...options.launcher,
          'agent',
          'exec',
          launch.folder,
        ],
      ]);
      const leader = Number(pane.trim());
      const exited = endOf(leader, launch.folder);
      const callOff = endWithUs(leader);
      const close = () => tmux(['kill-session', '-t', `=${session}`]).catch(() => undefined);
      return {
        where: `tmux session ${session}`,
        exited: exited.then(async (exit) => {
          callOff();
          // Kept open by a user's own setting, it would only show a dead pane.
          await close();
          return exit;
        }),
        stop: async () => {
          await endGroup(leader, exited);
          await close();
        },
      };
    },
  };
}

/** The launcher writes how it ended; one that was killed could not, and is gone. */
async function endOf(leader: number, folder: string): Promise<Exit> {
  for (;;) {
    const gone = !isAlive(leader);
    const exit = readExit(folder);
    if (gone) return exit ?? { kind: 'killed', signal: 'a signal' };
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function run(file: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, words, { env, encoding: 'utf8', timeout: 20_000 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const missing = error.code === 'ENOENT';
      const reason = missing ? 'tmux is not installed' : stderr.trim() || error.message;
      reject(
        new PhasegateError('usage', `no tmux session could be opened: ${reason}`, {
          cause: error,
          hint: 'use `--adapter subprocess`',
        }),
      );
    });
  });
}
