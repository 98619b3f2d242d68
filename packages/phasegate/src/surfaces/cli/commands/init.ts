import { existsSync, realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { didYouMean, reasonOf, shellWord } from '@phasegate/core/model';
import { readRegularIfAny } from '../../../files/readRegular.ts';
import type { UnlockedHuman } from '../../../runtime/ports.ts';
import { CLIENT_NAMES } from '../../../settings/installSettings.ts';
import { HOOK_WAYS } from '../../../settings/settingsFile.ts';
import { USER_CLIENTS } from '../../../settings/userSettings.ts';
import {
  besideOthers,
  CONFIG,
  configFile,
  DEFAULT_TEMPLATE,
  TEMPLATES,
  type Template,
} from '../../../templates/index.ts';
import type { Arguments, CliCommand, ExitCode, Invocation } from '../command.ts';
import { acceptWritten } from '../setUp/acceptWritten.ts';
import { type AttachedClient, attachClient, MCP_FILE } from '../setUp/attachClient.ts';
import { type SettledHooks, settleHooks } from '../setUp/attachHooks.ts';
import { withEditorSchema } from '../setUp/editorSchema.ts';
import { nextSteps } from '../setUp/nextSteps.ts';
import { type Lacking, lackingIn, offerFreeze, type Verifiable } from '../setUp/offerFreeze.ts';
import { settleOperator, setUpOperator } from '../setUp/settleOperator.ts';
import { type SettledTests, settleTests } from '../setUp/settleTests.ts';
import { HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { type MissingFile, type WrittenFiles, writeMissing } from '../writeMissing.ts';

/** `phasegate init`: what a project needs to begin, keeping all that is there. */
export const init: CliCommand = {
  usage: [
    'init [--template NAME] [--client NAME…] [--hooks WAY] [--narrow] [--user] [--test CMD] [--port N] [--name HUMAN] [--passphrase-fd N] [--yes]',
    'init --template list',
  ],
  details:
    'Writes `phasegate.config.yaml`, a workflow with its contract tests and a README, and `.mcp.json`, by which Claude Code\n' +
    'finds the tools: there it adds a server `phasegate` to those that are named. Sets up the human who decides at gates,\n' +
    'and accepts what it wrote in their name. What else is already there is kept. Over a setup that has a human it\n' +
    "needs that human's passphrase. `--yes` without a passphrase sets up no human. If it fails, nothing is left behind.\n" +
    "The engine runs the project's own tests: as `package.json`, `pyproject.toml`, `go.mod`, `Cargo.toml` or `Makefile` say,\n" +
    'or as `--test` does.\n' +
    'For every client of agents that is installed, or whose settings are in the project, it writes hooks, by which the client\n' +
    'asks Phasegate before every tool call: what else is in the settings stays, and on a terminal the difference is shown and\n' +
    `asked about first. \`--client\` names them (${CLIENT_NAMES.join(', ')}), or \`none\`. Called again, it renews them.\n` +
    `Some clients (${USER_CLIENTS.join(', ')}) read the hooks of the folder they are started in, and not of those\n` +
    'around it. With `--user` they are written into your own settings in your home as well, where they ask in every folder\n' +
    'of this project and say nothing elsewhere; projects that are set up later are added.\n' +
    `Templates:\n\n${TEMPLATES.map(({ name, summary }) => `- \`${name}\`: ${summary}`).join('\n')}`,
  examples: [
    'phasegate init',
    'phasegate init --template bugfix --test "npm test"',
    'phasegate init --yes',
    'phasegate init --name maria --passphrase-fd 3 3<~/secret',
  ],
  options: {
    template: {
      type: 'text',
      value: 'NAME',
      choices: [...TEMPLATES.map(({ name }) => name), 'list'],
      summary: `the workflow to begin with (default ${DEFAULT_TEMPLATE}); \`list\` shows them`,
    },
    test: { type: 'text', value: 'CMD', summary: "the command that runs the project's tests" },
    name: { type: 'text', value: 'HUMAN', summary: 'the name of the human who decides (default: yours)' },
    yes: { type: 'flag', summary: 'ask nothing' },
    client: {
      type: 'texts',
      value: 'NAME',
      choices: [...CLIENT_NAMES, 'none'],
      summary: 'a client to hold by hooks (default: those found)',
    },
    hooks: {
      type: 'text',
      value: 'WAY',
      choices: HOOK_WAYS,
      summary: 'how Claude Code asks about calls: `command`, by a program (default), or `http`',
    },
    narrow: {
      type: 'flag',
      summary: "have Gemini CLI offer its model the phase's tools alone (see the guide)",
    },
    user: { type: 'flag', summary: 'hold clients that are started in a folder of the project, too' },
    port: { type: 'text', value: 'N', summary: 'where `phasegate serve` listens (default 8000)' },
    ...HUMAN_OPTIONS,
    as: {
      type: 'text',
      value: 'NAME',
      summary: 'whose passphrase to ask for where humans are set up; where none is, the same as --name',
    },
  },
  anywhere: true,
  positionals: [],
  async run(invocation) {
    const { args } = invocation;
    if (args.text('template') === 'list') return listTemplates(invocation);
    const template = templateOf(args);
    const port = portOf(args);
    refuseOtherWays(args);
    const made = await makeFolder(args.text('project'));
    try {
      return await setUp(invocation, template, port);
    } catch (error) {
      if (made !== undefined) await rm(made, { recursive: true, force: true });
      throw error;
    }
  },
};

async function setUp(invocation: Invocation, wanted: Template, port: number | undefined): Promise<ExitCode> {
  const { root, stateDir } = await invocation.project();
  refuseInside(invocation.args, root);
  const isNamed = invocation.args.text('template') !== undefined;
  const template = isNamed && isTaken(root, wanted) ? besideOthers(wanted) : wanted;
  const settled = await settleTests(invocation, template, root);
  const hadState = existsSync(stateDir);
  const open = async () => (hasRecords(stateDir) ? invocation.open() : null);
  const operator = await settleOperator(invocation, open);
  const cards = (await (await open())?.trust.guarded.cards()) ?? [];
  const planted = cards.filter(({ change }) => change !== 'removed').map(({ path }) => path);
  const hooks = await settleHooks(invocation, { root, stateDir, changed: planted });
  const lackingOf = async () => {
    const project = await invocation.project();
    return lackingIn(await project.unverified((await project.catalog.load(template.path)).workflow));
  };
  const changed = planted.includes(MCP_FILE);
  const files = await writeFiles(root, { template, settled, port, changed, lackingOf });
  let attached: ReturnType<SettledHooks['write']> | undefined;
  try {
    const human = await setUpOperator(invocation, operator);
    const trusted = human === null ? [] : await acceptTemplate(invocation, { template, human, files });
    attached = hooks.write();
    // What is changed between now and the first program is then a change, and not what was always there.
    if (human !== null) {
      const project = await invocation.open();
      await project.guardedFiles.keepFirst();
      await acceptWritten(project, human, [...files.written, ...attached.written]);
    }
    const told = { template, settled, port, files, human, trusted, hooks };
    const verifiable =
      human === null || settled.command === null ? null : await offerFreeze(invocation, human, files.lacking);
    return await tell(invocation, { ...told, verifiable });
  } catch (error) {
    attached?.undo();
    await files.undo();
    await invocation.close();
    if (!hadState) await rm(stateDir, { recursive: true, force: true });
    throw error;
  }
}

interface Done {
  readonly template: Template;
  readonly settled: SettledTests;
  readonly port: number | undefined;
  readonly files: Written;
  readonly human: UnlockedHuman | null;
  readonly trusted: readonly string[];
  readonly hooks: SettledHooks;
  /** Whether tests are verified here; null where none are run, or nobody could freeze anything. */
  readonly verifiable: Verifiable | null;
}

async function tell(
  invocation: Invocation,
  { template, settled, port, files, human, trusted, hooks, verifiable }: Done,
): Promise<ExitCode> {
  const { out } = invocation;
  const project = await invocation.project();
  const { root, stateDir } = project;
  const warnings = [...hooks.warnings, ...((await project.measures('node_modules')) ? [NOT_IGNORED] : [])];
  const { created, kept, client } = files;
  const changed = client.change === 'changed' ? [MCP_FILE] : [];
  const { action: next_action, shown } = await nextSteps(invocation, {
    template,
    human,
    isOurs: files.isOurs,
    held: hooks.report.map(({ client: name }) => name),
  });
  const { command, from, warning } = settled;
  await out.result(
    {
      root,
      state_dir: stateDir,
      created,
      changed,
      kept,
      ...(client.problem === null ? {} : { client: client.problem }),
      tests: command === null ? null : { command, from, ...(verifiable === null ? {} : { ...verifiable }) },
      ...(warning === null ? {} : { warning }),
      human: human?.principal.name ?? null,
      trusted,
      clients: hooks.report.map(({ title: _title, ...client }) => client),
      ...(warnings.length === 0 ? {} : { warnings }),
      next_action,
    },
    () =>
      [
        `project ${out.paint.bold(root)}`,
        ...created.map((path) => `${out.paint.green('created')}  ${path}`),
        ...changed.map((path) => `${out.paint.green('changed')}  ${path}: added the server \`phasegate\``),
        ...kept.map((path) => `${out.paint.dim('kept')}     ${path}`),
        ...(client.problem === null ? [] : [client.problem]),
        ...(port === undefined || created.includes(CONFIG)
          ? []
          : [`the config is yours: write \`port: ${port}\` into it`]),
        ...(command === null
          ? []
          : [`tests    ${command}${from === null ? '' : ` (as ${from} says)`}, run by the engine`]),
        ...(verifiable === null ? [] : [verifiableLine(verifiable)]),
        ...(warning === null ? [] : [`${out.paint.red('warning')}  ${warning}`]),
        human === null
          ? 'no human is set up: any workflow starts and nobody can decide; add one with `phasegate humans add NAME`'
          : `human    ${human.principal.name}`,
        ...trusted.map((workflow) => `accepted ${workflow}`),
        ...hooks.report.flatMap(({ title, files: held, after }) => [
          ...held.map(
            ({ path, change }) => `${out.paint.green(change.padEnd(7))}  ${path}: settings of ${title}`,
          ),
          ...after.map((text) => `         ${text}`),
        ]),
        ...(hooks.noneFound === true ? [NO_CLIENT] : []),
        ...warnings.map((text) => `${out.paint.red('warning')}  ${text}`),
        `state    ${stateDir}`,
        ...shown.map((step, index) => `${index === 0 ? 'next:' : '  or:'} ${out.paint.cyan(step)}`),
      ].join('\n'),
  );
  return 0;
}

/** What a test run is worth here, in a line: nobody has to do anything about it to begin. */
function verifiableLine({ verified, missing, next }: Verifiable): string {
  if (verified) return 'evidence verified: tests are run in a sandbox, on a copy of the tree';
  return `evidence observed, not verified, as ${missing}: tests are run in the workspace; to have them verified: ${next}`;
}

const NOT_IGNORED =
  '`node_modules` is not ignored: add it to `.gitignore` before you start a run, as whatever tools write there counts as a change outside the scope and refuses the phase';

const NO_CLIENT = `no client of agents was found, so none is held by hooks: install one (${CLIENT_NAMES.join(', ')}) and run \`phasegate init\` again, or name it with \`--client\``;

/** What was written, and whether the workflow is, byte for byte, what the template holds. */
interface Written extends WrittenFiles {
  readonly isOurs: boolean;
  /** What now stands as it was written here. */
  readonly written: readonly MissingFile[];
  /** The settings of the client. */
  readonly client: AttachedClient;
  /** What keeps its tests from being verified here. */
  readonly lacking: Lacking | null;
}

/** What lies beside a workflow goes with the template's own: it says nothing about one that was there before. */
async function writeFiles(
  root: string,
  {
    template,
    settled,
    port,
    changed,
    lackingOf,
  }: Pick<Done, 'template' | 'settled' | 'port'> & {
    readonly changed: boolean;
    readonly lackingOf: () => Promise<Lacking | null>;
  },
): Promise<Written> {
  const definition = await withEditorSchema(root, template.definition(settled.tests));
  const first = [configFile(port), ...definition];
  const files = await writeMissing(root, first);
  const isOurs = definition.every(({ path }) => files.ours.includes(path));
  try {
    const lacking = isOurs && template.runsTests ? await lackingOf() : null;
    const tests = { ...settled.tests, ...(lacking === null ? {} : { unverified: lacking }) };
    const second = isOurs ? template.beside(tests) : [];
    const beside = await writeMissing(root, second);
    const client = await attachClient(root, { changed });
    const withClient = (change: AttachedClient['change']) => (client.change === change ? [MCP_FILE] : []);
    return {
      created: [...files.created, ...beside.created, ...withClient('created')],
      kept: [...files.kept, ...beside.kept, ...withClient('kept')],
      ours: [...files.ours, ...beside.ours],
      written: [
        ...[...first, ...second].filter(
          ({ path }) => files.created.includes(path) || beside.created.includes(path),
        ),
        ...(client.text === null ? [] : [{ path: MCP_FILE, text: client.text }]),
      ],
      isOurs,
      client,
      lacking,
      undo: async () => {
        await client.undo();
        await beside.undo();
        await files.undo();
      },
    };
  } catch (error) {
    await files.undo();
    throw error;
  }
}

/** Accepts the template's workflow, but only where its files are, byte for byte, what `init` writes. */
async function acceptTemplate(
  invocation: Invocation,
  { template, human, files }: Pick<Done, 'template' | 'files'> & { readonly human: UnlockedHuman },
): Promise<readonly string[]> {
  if (!files.isOurs) return [];
  // The project was found before its files were written.
  await invocation.close();
  const project = await invocation.open();
  const { closure, workflow } = await project.trust.workflows.card(template.path);
  await project.trust.workflows.accept(template.path, closure, human);
  return [workflow];
}

async function listTemplates({ out }: Invocation): Promise<ExitCode> {
  const templates = TEMPLATES.map(({ name, summary }) => ({ name, summary }));
  await out.result({ templates, default: DEFAULT_TEMPLATE }, () => templateLines().join('\n'));
  return 0;
}

function templateLines(): readonly string[] {
  const width = Math.max(...TEMPLATES.map(({ name }) => name.length));
  return TEMPLATES.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
}

/** In a folder of another project, what was meant is either; writing into the outer one is a surprise. */
function refuseInside(args: Arguments, root: string): void {
  const here = realpathSync(process.cwd());
  if (args.text('project') !== undefined || here === root) return;
  throw usageError(
    `\`${here}\` lies inside of the project \`${root}\``,
    `set that one up with \`--project ${shellWord(root)}\`, or make this folder one of its own with \`--project .\``,
  );
}

/** Whether the place of a template has another workflow; what it says of itself is enough to tell. */
function isTaken(root: string, { path, workflow }: Template): boolean {
  const bytes = readRegularIfAny(join(root, path), { most: LARGEST_WORKFLOW, links: 'follow' });
  if (bytes === null) return false;
  return /^workflow:\s*["']?([\w.-]+)/mu.exec(bytes.toString('utf8'))?.[1] !== workflow;
}

const LARGEST_WORKFLOW = 4 * 1024 * 1024;

/** Opening the state of a project makes it. */
function hasRecords(stateDir: string): boolean {
  return ['state.db', 'made'].some((name) => existsSync(join(stateDir, name)));
}

function portOf(args: Arguments): number | undefined {
  const given = args.text('port');
  if (given === undefined || (/^[1-9]\d{0,4}$/.test(given) && Number(given) < 65536)) {
    return given === undefined ? undefined : Number(given);
  }
  throw usageError(`\`--port\` needs a number from 1 to 65535, not \`${given}\``);
}

function refuseOtherWays(args: Arguments): void {
  const way = args.text('hooks');
  if (way === undefined || HOOK_WAYS.some((known) => known === way)) return;
  throw usageError(
    `\`--hooks\` does not know \`${way}\`${didYouMean(way, HOOK_WAYS)}`,
    `it takes ${HOOK_WAYS.map((known) => `\`${known}\``).join(' or ')}`,
  );
}

function templateOf(args: Arguments): Template {
  const name = args.text('template') ?? DEFAULT_TEMPLATE;
  const template = TEMPLATES.find((candidate) => candidate.name === name);
  if (template !== undefined) return template;
  const names = TEMPLATES.map((candidate) => candidate.name);
  throw usageError(
    `there is no template \`${name}\`${didYouMean(name, names)}`,
    `templates:\n${templateLines().join('\n')}`,
  );
}

/** Makes the folder that was named, and gives the outermost one that was missing. */
async function makeFolder(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new PhasegateError('file_unreadable', `\`${path}\` cannot be made: ${reasonOf(cause)}`, {
      hint: 'name a folder that you can write to with `--project DIR`',
      cause,
    });
  }
}
