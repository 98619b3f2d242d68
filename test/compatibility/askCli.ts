import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import { runCli } from '../../packages/phasegate/src/surfaces/cli/runCli.ts';
import type { CliQuestion } from './cliQuestions.ts';
import type { Made, Place } from './fixture.ts';

/** What a command was asked and what it printed: each line of its stdout as JSON. */
export interface CliAnswer {
  readonly command: string;
  readonly as?: string;
  readonly code: number;
  readonly json: readonly unknown[];
}

/** Asks a command in this process, where the clock can be stopped. */
export async function askCli(place: Place, made: Made, { words, as }: CliQuestion): Promise<CliAnswer> {
  const stdout = new Collector();
  const stderr = new Collector();
  const passphrase = made.humans[as ?? ''];
  const key = made.agents[as ?? ''];
  const file = join(place.base, 'passphrase');
  writeFileSync(file, passphrase === undefined ? '' : `${passphrase}\n`, { mode: 0o600 });
  const secret = openSync(file, 'r');
  try {
    const human = passphrase === undefined ? [] : ['--as', String(as), '--passphrase-fd', String(secret)];
    const code = await runCli({
      argv: [...words, ...human, '--json', '--project', place.root],
      env: { ...place.env, ...(key === undefined ? {} : { PHASEGATE_KEY: key }) },
      stdin: Readable.from([]),
      stdout,
      stderr,
      isTty: false,
      openProject: openTestProject,
    });
    const lines = stdout.text.trim().split('\n');
    return { command: words.join(' '), ...(as === undefined ? {} : { as }), code, json: lines.map(parsed) };
  } finally {
    // A passphrase that was read is closed by the command.
    if (passphrase === undefined) closeSync(secret);
  }
}

function parsed(line: string): unknown {
  return line === '' ? null : JSON.parse(line);
}

class Collector extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8');
    done();
  }
}
