import { isAbsolute, relative, resolve, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { isImportEntry } from '@phasegate/core/contract';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { People, TrustCard, TrustRecord, UnlockedHuman } from '../../../runtime/ports.ts';
import type { Arguments, CliCommand, ExitCode, Invocation } from '../command.ts';
import type { Paint } from '../paint.ts';
import { offerFreeze } from '../setUp/offerFreeze.ts';
import { type DiffScreen, fileDiff } from '../text/fileDiff.ts';
import { table } from '../text/table.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate trust`: a human accepts the files a workflow is made of. */
export const trust: CliCommand = {
  usage: [
    'trust [WORKFLOW] [--full] [--yes] [--as NAME] [--passphrase-fd N]',
    'trust --servers [--yes] [--as NAME] [--passphrase-fd N]',
    'trust --guarded [--full] [--yes] [--as NAME] [--passphrase-fd N]',
    'trust --nested FOLDER [--yes] [--as NAME] [--passphrase-fd N]',
    'trust --worktree FOLDER [--yes] [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'Once a human is set up, only accepted workflows start. Without WORKFLOW all of the project are gone through.\n' +
    'Shows what changed in each file since it was last accepted, line by line, and new files whole, and asks; `--yes`\n' +
    'accepts without asking. Code is read and hashed for it, with all it imports, and not run before it is accepted.\n' +
    'The servers that the config attaches are started only when they are accepted: --servers goes through them alone.\n' +
    'Config, contracts, settings and hooks of clients that changed while no process of Phasegate was looking keep programs\n' +
    'from being run until they are accepted: --guarded shows what is in them and asks, and nothing else does.\n' +
    'A folder of the project that is a project of its own is entered only when it is accepted: --nested names it.\n' +
    'A git worktree of the project shares its runs, humans and acceptances only when it is accepted: --worktree names it.\n' +
    'The documents that agents are served as standards are accepted with them; passages of one that changed afterwards say so.',
  examples: [
    'phasegate trust',
    'phasegate trust tdd',
    'phasegate trust --servers',
    'phasegate trust tdd --yes --passphrase-fd 3 3<~/secret',
  ],
  options: {
    yes: { type: 'flag', summary: 'accept without asking' },
    full: { type: 'flag', summary: 'show every line of every difference, however long' },
    servers: { type: 'flag', summary: 'only the servers that the config attaches' },
    guarded: { type: 'flag', summary: 'the guarded files that changed while nobody looked' },
    nested: {
      type: 'text',
      value: 'FOLDER',
      summary: 'a project inside of this one, by its path from the root',
    },
    worktree: { type: 'text', value: 'FOLDER', summary: 'a git worktree of this project, anywhere' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['[WORKFLOW]'],
  async run(invocation) {
    const { args, out, prompts } = invocation;
    const human = await unlockHuman(invocation);
    const nested = args.text('nested');
    if (nested !== undefined) return acceptNested(invocation, human, nested);
    const worktree = args.text('worktree');
    if (worktree !== undefined) return acceptWorktree(invocation, human, resolve(worktree));
    if (prompts === null && !args.flag('yes')) {
      throw usageError(
        '`--yes` is missing: there is no terminal to ask on',
        'run it on a terminal, which shows what changed before it asks; else look at the files first, for instance with `git diff`, and add `--yes`, which prints what changed and accepts it',
      );
    }
    const project = await invocation.open();
    const outcome: Outcome = { trusted: [], already: [], declined: [] };
    const [named] = args.positionals;
    const onlyServers = args.flag('servers');
    const onlyGuarded = args.flag('guarded');
    if (onlyServers && named !== undefined) {
      throw usageError('`--servers` is about the config, so no workflow is named with it');
    }
    if (onlyGuarded && (named !== undefined || onlyServers)) {
      throw usageError(
        '`--guarded` goes through guarded files alone: leave out the workflow and `--servers`',
      );
    }
    const only = onlyServers || onlyGuarded;
    for (const name of only ? [] : await namesOf(invocation)) {
      const first = await project.trust.workflows.card(name);
      const accepted = await acceptCard(invocation, first, { project, human, outcome });
      if (!accepted) continue;
      // Code is only run once it is accepted, and only then says which migrations belong to it.
      const whole = await project.trust.workflows.card(name);
      if (whole.closure !== first.closure) await acceptCard(invocation, whole, { project, human, outcome });
    }
    if (named === undefined && !onlyGuarded) await acceptServers(invocation, { project, human, outcome });
    if (onlyGuarded) await acceptGuarded(invocation, { project, human, outcome });
    const documents = only ? null : await acceptDocuments(invocation);
    if (!only) await freezeToo(invocation, human);
    await out.result({ ...outcome, ...(documents === null ? {} : { documents }) }, () => describe(outcome));
    return outcome.declined.length === 0 && documents?.accepted !== false ? 0 : 1;
  },
};

/** Only where somebody can be asked: what was accepted may have tests that could be verified. */
async function freezeToo(invocation: Invocation, human: UnlockedHuman): Promise<void> {
  if (invocation.prompts === null || invocation.args.flag('yes')) return;
  await offerFreeze(invocation, human);
}

/** By name alone: what is in it is accepted there. */
async function acceptNested(invocation: Invocation, human: UnlockedHuman, given: string): Promise<ExitCode> {
  const { root } = await invocation.project();
  const folder = relative(root, resolve(root, given)).split(sep).join('/');
  if (folder === '' || folder.startsWith('..') || isAbsolute(folder)) {
    throw usageError(`\`--nested\`: \`${given}\` is not a folder inside of \`${root}\``);
  }
  const { args, out, prompts } = invocation;
  const question = `Accept ${oneLine(folder)} as a project of its own? Commands given there no longer work on this one.`;
  if (!args.flag('yes') && prompts !== null && !(await prompts.confirm(question))) return 1;
  const { by, at } = await (await invocation.open()).trust.folders.acceptNested(folder, human);
  await out.result({ nested: folder, by, at }, () =>
    [
      `${oneLine(folder)}: accepted by ${by}`,
      `who decides there is decided there; if nobody does yet: phasegate --project ${shellWord(folder)} humans add NAME`,
    ].join('\n'),
  );
  return 0;
}

/** From then on its folder is one in which checks of this project's runs are looked at. */
async function acceptWorktree(
  invocation: Invocation,
  human: UnlockedHuman,
  worktree: string,
): Promise<ExitCode> {
  const { args, out, prompts } = invocation;
  const question = `Accept ${oneLine(worktree)} as a worktree? Runs of this project can then be worked on there.`;
  if (!args.flag('yes') && prompts !== null && !(await prompts.confirm(question))) return 1;
  const { by, at } = await (await invocation.open()).trust.folders.acceptWorktree(worktree, human);
  await out.result({ worktree, by, at }, () => `${oneLine(worktree)}: accepted by ${by}`);
  return 0;
}

interface Outcome {
  readonly trusted: { workflow: string; path: string; closure: string; by: string; at: string }[];
  readonly already: string[];
  readonly declined: string[];
}

/** What changed since a human last accepted these files. */
export function cardText({ workflow, path, closure, files }: TrustCard, paint: Paint): string {
  const rows = files.map(({ path: file, change, sha256 }) => [
    `  ${change === 'same' ? paint.dim(change) : paint.yellow(change)}`,
    oneLine(file),
    paint.dim((sha256 ?? '').slice(0, SHOWN_DIGITS)),
  ]);
  return `${paint.bold(workflow)} (${oneLine(path)}), closure ${closure.slice(0, SHOWN_DIGITS)}\n${table(rows)}`;
}

const SHOWN_DIGITS = 12;

async function namesOf({ args, project }: Invocation): Promise<readonly string[]> {
  const [named] = args.positionals;
  if (named !== undefined) return [named];
  const { catalog, root } = await project();
  const paths = (await catalog.list()).map(({ path }) => path);
  if (paths.length > 0) return paths;
  throw new PhasegateError('workflow_unknown', `no workflow found in \`${root}\``);
}

/** Whether the human accepts what the card shows, or did before. */
async function acceptCard(
  invocation: Invocation,
  card: TrustCard,
  {
    project,
    human,
    outcome,
  }: { readonly project: People; readonly human: UnlockedHuman; readonly outcome: Outcome },
): Promise<boolean> {
  const { args, out, prompts } = invocation;
  if (card.trusted) {
    outcome.already.push(card.workflow);
    return true;
  }
  if (!out.json || prompts !== null) {
    await out.log(cardText(card, out.paint));
    await showFiles(invocation, card, project);
  }
  if (!args.flag('yes') && prompts !== null && !(await prompts.confirm(`Accept ${card.workflow}?`))) {
    outcome.declined.push(card.workflow);
    return false;
  }
  const record: TrustRecord = await project.trust.workflows.accept(card.path, card.closure, human);
  const { workflow, closure, path } = card;
  outcome.trusted.push({ workflow, path, closure, by: record.by, at: record.at });
  return true;
}

/** Lines of a file that are shown without `--full`. */
const MOST_LINES = 200;

function screenFor({ args, out }: Pick<Invocation, 'args' | 'out'>, command: string): DiffScreen {
  const most = args.flag('full') ? Number.POSITIVE_INFINITY : MOST_LINES;
  const rest = `\`phasegate ${command} --full\` shows them, or read the file`;
  return { paint: out.paint, width: out.width, most, rest };
}

/** Where nobody is asked, new files are named only: their text would fill a log. */
function isNamedOnly(change: TrustCard['files'][number]['change'], args: Arguments): boolean {
  return change === 'added' && args.flag('yes') && !args.flag('full');
}

/** What is new in each file. */
async function showFiles(
  { args, out }: Invocation,
  { workflow, files }: TrustCard,
  { trust }: People,
): Promise<void> {
  const screen = screenFor({ args, out }, `trust ${shellWord(workflow)}`);
  // Where an import leads is said by its row in the table.
  const texts = files.filter(({ path }) => !isImportEntry(path));
  const own = texts.filter(({ path }) => !path.split('/').includes('node_modules'));
  for (const file of own) {
    if (file.change === 'same' || file.change === 'removed') continue;
    if (isNamedOnly(file.change, args)) continue;
    const { path, change } = file;
    const said = await trust.workflows.texts(file);
    await out.log(fileDiff({ path, change, ...said }, screen));
  }
  const packaged = texts.filter((file) => file.change !== 'same' && !own.includes(file)).length;
  if (packaged > 0) await out.log(`files of packages that differ, and are not shown: ${packaged}`);
}

/** What the config starts is accepted by what it says, and by the files of the project that it names. */
async function acceptServers(
  { args, out, prompts }: Invocation,
  {
    project,
    human,
    outcome,
  }: { readonly project: People; readonly human: UnlockedHuman; readonly outcome: Outcome },
): Promise<void> {
  for (const { name, entry, files, hash, trusted } of await project.trust.servers.cards()) {
    const title = `server ${name}`;
    if (trusted) {
      outcome.already.push(title);
      continue;
    }
    const rows = Object.entries(entry).map(([key, value]) => [`  ${key}`, oneLine(JSON.stringify(value))]);
    const paths = Object.keys(files);
    const named = paths.length === 0 ? [NO_FILE] : paths.map((file) => ['  file', oneLine(file)]);
    if (!out.json || prompts !== null)
      await out.log(`${out.paint.bold(title)}\n${table([...rows, ...named])}`);
    if (!args.flag('yes') && prompts !== null && !(await prompts.confirm(`Accept ${title}?`))) {
      outcome.declined.push(title);
      continue;
    }
    const { by, at } = await project.trust.servers.accept(name, hash, human);
    outcome.trusted.push({ workflow: title, path: 'config', closure: hash, by, at });
  }
}

const NO_FILE = ['  file', 'none of the project is named; what this starts is not examined'];

/** Only where it is asked for: who accepts a workflow does not mean the settings that were planted beside it. */
async function acceptGuarded(
  { args, out, prompts }: Invocation,
  {
    project,
    human,
    outcome,
  }: { readonly project: People; readonly human: UnlockedHuman; readonly outcome: Outcome },
): Promise<void> {
  const screen = screenFor({ args, out }, 'trust --guarded');
  for (const { path, change, hash } of await project.trust.guarded.cards()) {
    const title = oneLine(path);
    const card = `${out.paint.bold(title)} (guarded): ${out.paint.yellow(change)} while nobody looked`;
    if (!out.json || prompts !== null) {
      await out.log(card);
      if (change !== 'removed' && !isNamedOnly(change, args)) {
        const texts = await project.trust.guarded.texts({ path, hash });
        await out.log(fileDiff({ path, change, ...texts }, screen));
      }
    }
    if (!args.flag('yes') && prompts !== null && !(await prompts.confirm(`Accept ${title}?`))) {
      outcome.declined.push(title);
      continue;
    }
    const { by, at } = await project.trust.guarded.accept(path, hash, human);
    outcome.trusted.push({ workflow: title, path, closure: hash, by, at });
  }
}

/** What agents are served as standards is accepted with the workflows; null where nothing of it changed. */
async function acceptDocuments({
  args,
  out,
  prompts,
  project,
}: Invocation): Promise<{ readonly accepted: boolean; readonly changed: readonly string[] } | null> {
  const { standards } = await project();
  try {
    const changed = (await standards.acceptance?.changed()) ?? [];
    if (changed.length === 0) return null;
    const rows = changed.map((file) => [`  ${out.paint.yellow('changed')}`, oneLine(file)]);
    if (!out.json || prompts !== null) await out.log(`${out.paint.bold('documents')}\n${table(rows)}`);
    const accepted =
      args.flag('yes') || prompts === null || (await prompts.confirm('Accept these documents as standards?'));
    if (accepted) await standards.acceptance?.accept();
    return { accepted, changed };
  } finally {
    await standards.close();
  }
}

function describe({ trusted, already, declined }: Outcome): string {
  const lines = [
    ...trusted.map(({ workflow, by }) => `${workflow}: accepted by ${by}`),
    ...already.map((workflow) => `${workflow}: already accepted`),
    ...declined.map((workflow) => `${workflow}: not accepted`),
  ];
  // Code and its migrations are accepted one after the other, and are one workflow.
  return lines.length === 0 ? 'nothing to accept' : [...new Set(lines)].join('\n');
}
