import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { atEndOfFile } from '../atEndOfFile.ts';
import { PROGRAM, type TestProject } from './cli.ts';

/** The command on a terminal of its own. */
export interface Terminal {
  readonly pid: number;
  /** Waits until the text stands on the screen. */
  sees(text: string): Promise<void>;
  types(keys: string): void;
  ends(): Promise<number>;
  /** All that was ever written, without what a terminal obeys. */
  text(): string;
}

/** Calls the command as a human at a terminal would. It is ended when all tests of the file have finished. */
export function onTerminal(project: TestProject, words: readonly string[]): Terminal {
  const { XDG_STATE_HOME, HOME, PATH, USER } = project.env;
  const terminal = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: project.root,
    env: { XDG_STATE_HOME, HOME, PATH, USER, TERM: 'xterm' },
    cols: 120,
    rows: 50,
  });
  let written = '';
  let exitCode: number | undefined;
  let look = () => {};
  const ended = new Promise<number>((resolve) => {
    terminal.onExit((exit) => {
      exitCode = exit.exitCode;
      look();
      resolve(exit.exitCode);
    });
  });
  terminal.onData((data) => {
    written += data;
    look();
  });
  atEndOfFile(() => {
    if (exitCode === undefined) terminal.kill('SIGKILL');
  });
  return {
    pid: terminal.pid,
    sees: (text) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (stripVTControlCharacters(written).includes(text)) resolve();
          else if (exitCode !== undefined) {
            reject(
              new Error(
                `ended with ${exitCode} before it said \`${text}\`:\n${stripVTControlCharacters(written)}`,
              ),
            );
          }
        };
        look();
      }),
    types: (keys) => terminal.write(keys),
    ends: () => ended,
    text: () => stripVTControlCharacters(written),
  };
}
