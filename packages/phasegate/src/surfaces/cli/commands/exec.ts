import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { CliCommand } from '../command.ts';
import { runHere } from '../runHere.ts';
import { wholeRun } from '../runOf.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate exec`: one program in the sandbox of the phase a run is in. */
export const exec: CliCommand = {
  usage: ['exec RUN -- PROGRAM [WORD…]'],
  details:
    'PROGRAM sees the workspace and may write what the phase may write; it has no network, no home and no `/run`, and\n' +
    'neither the state nor the keys of Phasegate. A run that waits or has ended may write nothing. The exit code is that\n' +
    'of PROGRAM; without a sandbox here nothing is run. What was run is in the audit, with a receipt (`observed`).',
  examples: ['phasegate exec RUN -- npm test', 'phasegate exec RUN -- bash -c "make && git status"'],
  options: {},
  positionals: ['RUN'],
  takesCommand: true,
  runFromEnvironment: true,
  async run(invocation) {
    const { args, env } = invocation;
    const [program, ...words] = args.command;
    if (program === undefined) {
      throw usageError('which program?', 'name it after `--`: `phasegate exec RUN -- npm test`');
    }
    const agent = await agentOf(invocation);
    const runId = await wholeRun(invocation, agent, args.positionals[0] as string);
    const [project, open] = [await invocation.project(), await invocation.open()];
    await open.claims.attend(runId, agent);
    const environment = { ...namedIn(env), PHASEGATE_RUN: runId };
    const enclose = await open.sandboxes.forRun(runId);
    const argv = [program, ...words] as const;
    const observe = await open.observing.begin(runId, {
      argv,
      program: fileOf(program, project.root, env),
      agent,
    });
    let code: number;
    const enclosed = await enclose({ argv, cwd: project.root, environment, withoutDefinitions: true });
    try {
      const { loose } = enclosed;
      if (loose.length > 0) await invocation.out.log(`not held by the sandbox: ${loose.join('; ')}`);
      await open.guardedFiles.hold(runId);
      code = await runHere(enclosed);
      if (!enclosed.begun()) {
        throw new PhasegateError('sandbox_unavailable', 'the sandbox could not be made', {
          hint: 'phasegate doctor',
        });
      }
    } finally {
      await enclosed.close();
      await open.guardedFiles.settle(runId);
    }
    await observe(code);
    return code;
  },
};

/** The file that a program's name leads to, by its real path; the name where it leads nowhere. */
function fileOf(name: string, cwd: string, env: Readonly<Record<string, string | undefined>>): string {
  const folders = name.includes('/') ? [cwd] : (env.PATH ?? '').split(delimiter);
  for (const folder of folders) {
    try {
      const file = realpathSync(resolve(folder, name));
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return name;
}

/** What a program is told of the machine. Names are listed, never excluded: a new secret has a new name. */
function namedIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const named = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TERM'].map((name) => [name, env[name]] as const);
  return Object.fromEntries(
    named.filter((entry): entry is readonly [string, string] => entry[1] !== undefined),
  );
}
