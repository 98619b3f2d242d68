import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { PhasegateError } from '@phasegate/core';
import { didYouMean, shellWord } from '@phasegate/core/model';
import { IMPORT_KINDS, type Imported, type ImportedKey, type ImportKind } from '../../../runtime/ports.ts';
import type { Arguments, CliCommand } from '../command.ts';
import type { Output } from '../output.ts';
import { working } from '../showWork.ts';
import { usageError } from '../usage.ts';
import { unwritable } from '../writeText.ts';

/** `phasegate import`: a contract of ours from one of others. */
export const importCommand: CliCommand = {
  usage: ['import FILE|FOLDER [--from KIND] [--to FILE] [--force]'],
  details:
    'Writes `workflows/NAME.workflow.yaml` and reports every key of the source: mapped, decided by a human at a gate, or\n' +
    'left out with the reason. What the other tool refused and no check of ours can ask is asked of a human. Nothing of\n' +
    'the source is run. A file that is there is kept unless `--force` is given.\n' +
    `KIND is told from the content: ${IMPORT_KINDS.join(', ')}.`,
  examples: [
    'phasegate import agent_workflow.yaml',
    'phasegate import .kiro/specs/login',
    'phasegate import old/workflow.yaml --from orchestrator-items --to workflows/old.workflow.yaml',
  ],
  options: {
    from: { type: 'text', value: 'KIND', summary: 'the format, where the content does not tell' },
    to: {
      type: 'text',
      value: 'FILE',
      summary: 'where the workflow is written (default workflows/NAME.workflow.yaml)',
    },
    force: { type: 'flag', summary: 'write over a file that is there' },
  },
  anywhere: true,
  positionals: ['FILE|FOLDER'],
  server: 'ignored',
  async run({ args, out, project }) {
    const kind = kindOf(args);
    const { root, importWorkflow } = await project();
    const given = args.positionals[0] as string;
    const found = existsSync(resolve(given)) ? resolve(given) : resolve(root, given);
    const path = existsSync(found) ? realpathSync(found) : found;
    const named = shownFrom(root, path);
    const imported = await working(out, 'reading', () =>
      importWorkflow({
        path,
        named,
        ...(kind === undefined ? {} : { kind }),
      }),
    );
    const to = args.text('to');
    const force = args.flag('force');
    const written =
      imported.text === null
        ? await takeFolder(imported.files, { from: path, root, to, force })
        : await writeContract(imported.text, { ...imported, root, to, force });
    const next_action = `phasegate check ${shellWord(imported.workflow)}`;
    const of = (became: ImportedKey['became']) =>
      imported.keys.filter((key) => key.became === became).map(({ became: _, ...key }) => key);
    await out.result(
      {
        kind: imported.kind,
        workflow: imported.workflow,
        file: written,
        phases: imported.phases,
        human_gates: imported.gates,
        mapped: of('mapped'),
        human: of('human'),
        left_out: of('left_out'),
        added: imported.added,
        next_action,
      },
      () => reportText(imported, { named, written, next: next_action }, out),
    );
    return 0;
  },
};

function kindOf(args: Arguments): ImportKind | undefined {
  const given = args.text('from');
  const kind = IMPORT_KINDS.find((one) => one === given);
  if (given === undefined || kind !== undefined) return kind;
  throw usageError(
    `there is no format \`${given}\`${didYouMean(given, IMPORT_KINDS)}`,
    `formats: ${IMPORT_KINDS.join(', ')}`,
  );
}

/** Where a contract or a folder goes. */
interface Target {
  readonly root: string;
  readonly to: string | undefined;
  readonly force: boolean;
}

async function writeContract(
  text: string,
  { workflow, root, to, force }: Target & Imported,
): Promise<string> {
  const file = to === undefined ? join(root, 'workflows', `${workflow}.workflow.yaml`) : resolve(to);
  await writeNew(file, text, force);
  return shownFrom(root, file);
}

/** Copies a folder into the project; one that is in it stays where it is. Null where nothing was written. */
async function takeFolder(
  files: readonly string[],
  { from, root, to, force }: Target & { readonly from: string },
): Promise<string | null> {
  if (to === undefined && !relative(root, from).startsWith('..')) return null;
  const folder = to === undefined ? join(root, 'workflows', basename(from)) : resolve(to);
  const texts = await Promise.all(files.map((file) => readFile(join(from, file), 'utf8')));
  if (existsSync(folder) && !force) throw thereAlready(folder);
  for (const [index, file] of files.entries()) await writeNew(join(folder, file), texts[index] ?? '', force);
  return shownFrom(root, folder);
}

function thereAlready(path: string): PhasegateError {
  return usageError(
    `\`${path}\` is there already`,
    'name another place with `--to`, or write over it with `--force`',
  );
}

async function writeNew(file: string, text: string, force: boolean): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw thereAlready(file);
    throw unwritable(file, cause);
  }
}

function shownFrom(root: string, file: string): string {
  const way = relative(root, file);
  return way.startsWith('..') ? file : way.split(sep).join('/');
}

function reportText(
  imported: Imported,
  {
    named,
    written,
    next,
  }: { readonly named: string; readonly written: string | null; readonly next: string },
  { paint }: Output,
): string {
  const { keys, kind, phases, gates, added } = imported;
  const mapped = keys.filter(({ became }) => became === 'mapped').length;
  const lines = (became: ImportedKey['became']) =>
    keys
      .filter((key) => key.became === became)
      .map(({ file, line, key, text }) => `  ${file}:${line} ${paint.bold(key)}: ${text}`);
  const section = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${title} (${items.length})`, ...items];
  return [
    `${named} is ${kind}: ${phases.length} ${phases.length === 1 ? 'phase' : 'phases'}, human gates: ${gates.length}`,
    written === null
      ? 'it is in the project and read as it is: nothing was written'
      : `${paint.green('written')} ${written}`,
    `mapped: ${mapped} of ${keys.length}`,
    ...section('decided by a human', lines('human')),
    ...section('left out', lines('left_out')),
    ...section(
      'added',
      added.map((text) => `  ${text}`),
    ),
    `next: ${paint.cyan(next)}`,
  ].join('\n');
}
