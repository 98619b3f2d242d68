import { PhasegateError } from '@phasegate/core';
import { didYouMean, shellWord } from '@phasegate/core/model';
import { clientSettings } from '../../../settings/clientSettings.ts';
import { detectClients, findProgram } from '../../../settings/findPrograms.ts';
import { hookSocketFor } from '../../../settings/hookSocket.ts';
import {
  applySettings,
  CLIENT_NAMES,
  type Installing,
  type PlannedFile,
  planSettings,
} from '../../../settings/installSettings.ts';
import type { ClientSettings } from '../../../settings/settingsFile.ts';
import { readRecord } from '../../../settings/settingsRecord.ts';
import {
  applyUserSettings,
  planUserSettings,
  readUserRecord,
  USER_CLIENTS,
  type UserInstalling,
} from '../../../settings/userSettings.ts';
import type { Invocation } from '../command.ts';
import { fileDiff } from '../text/fileDiff.ts';
import { usageError } from '../usage.ts';
import { VERSION } from '../version.ts';
import type { MissingFile } from '../writeMissing.ts';
import { serverEntry } from './attachClient.ts';

/** The hooks that are to be set up, settled before anything is written. */
export interface SettledHooks {
  /** Writes them; gives what stands now as it was written. */
  write(): { readonly written: readonly MissingFile[]; undo(): void };
  readonly report: readonly ClientReport[];
  readonly warnings: readonly string[];
  /** Whether clients were looked for on this machine, and none was found. */
  readonly noneFound?: true;
}

/** What becomes of one client. */
export interface ClientReport {
  readonly client: string;
  readonly title: string;
  readonly files: readonly { readonly path: string; readonly change: 'created' | 'changed' | 'kept' }[];
  /** What is still to be done by hand. */
  readonly after: readonly string[];
}

/** Where the project is, and which guarded files changed while nobody looked. */
export interface HooksIn {
  readonly root: string;
  readonly stateDir: string;
  readonly changed: readonly string[];
}

/**
 * Finds out which clients are to be held and what their settings would be, shows that and asks. What cannot be added to
 * is an error now, before anything is written.
 */
export async function settleHooks(invocation: Invocation, place: HooksIn): Promise<SettledHooks> {
  const clients = chosenClients(invocation, place.root);
  if (clients.length === 0) return soughtBy(invocation) ? { ...NONE, noneFound: true } : NONE;
  const installing = await installingOf(invocation, place, clients);
  const plan = planSettings(installing);
  refusePlanted(plan, place.changed);
  const user = userInstalling(invocation, installing);
  const users = user === null ? [] : planUserSettings(user);
  const differs = [...plan, ...atHome(users)].filter(({ before, after }) => before !== after);
  if (differs.length > 0 && !(await mayWrite(invocation, differs))) return NONE;
  return {
    write() {
      const applied = applySettings(installing, plan);
      const written = plan.flatMap(({ path, after }) => (after === null ? [] : [{ path, text: after }]));
      if (user === null) return { written, undo: applied.undo };
      try {
        const undoUser = applyUserSettings(user, users);
        return {
          written,
          undo() {
            undoUser();
            applied.undo();
          },
        };
      } catch (error) {
        applied.undo();
        throw error;
      }
    },
    report: clients.map((client) => reportOf(client, [...plan, ...atHome(users)], user !== null)),
    warnings: [...warningsOf(installing), ...refusedElsewhere(users)],
  };
}

const NONE: SettledHooks = {
  write: () => ({ written: [], undo: () => undefined }),
  report: [],
  warnings: [],
};

function soughtBy({ args, machine }: Invocation): boolean {
  return args.texts('client').length === 0 && machine?.launcher !== undefined;
}

function chosenClients({ args, env, machine }: Invocation, root: string): readonly ClientSettings[] {
  const names = args.texts('client');
  if (names.includes('none')) {
    if (names.length > 1) throw usageError('`--client none` stands alone');
    return [];
  }
  const launched = machine?.launcher !== undefined;
  if (names.length === 0) return launched ? detectClients(env.PATH, root) : [];
  if (!launched) throw usageError('hooks cannot be set up from here');
  return [...new Set(names)].map((name) => {
    const found = clientSettings(name);
    if (found !== undefined) return found;
    throw usageError(
      `there is no client \`${name}\`${didYouMean(name, CLIENT_NAMES)}`,
      `clients: ${CLIENT_NAMES.join(', ')}, or \`none\``,
    );
  });
}

async function installingOf(
  { args, env, machine }: Invocation,
  { root, stateDir }: HooksIn,
  clients: readonly ClientSettings[],
): Promise<Installing> {
  const program = findProgram('env', env.PATH, root);
  if (program === null)
    throw usageError('there is no program `env` on this system, which hooks are started with');
  const { HOME, XDG_STATE_HOME, USER, LANG, TMPDIR } = env;
  const PATH = (env.PATH ?? '')
    .split(':')
    .filter((part) => part.startsWith('/') && !`${part}/`.startsWith(`${root}/`));
  const kept = { HOME, USER, LANG, TMPDIR, XDG_STATE_HOME, PATH: PATH.join(':') };
  return {
    root,
    stateDir,
    clients,
    version: VERSION,
    socket: hookSocketFor(stateDir),
    env: program,
    // Elsewhere an address of a socket is written in other bytes.
    perl: process.platform === 'linux' ? findProgram('perl', env.PATH, root) : null,
    curl: findProgram('curl', env.PATH, root),
    phasegate: machine?.launcher ?? [],
    environment: Object.fromEntries(
      Object.entries(kept).filter((entry): entry is [string, string] => (entry[1] ?? '') !== ''),
    ),
    mcp: await serverEntry(root),
    narrow: args.flag('narrow') || readRecord(stateDir)?.narrow === true,
    http: await httpDoor({ args, machine }, { root, stateDir, clients }),
  };
}

/** Where calls are asked about by HTTP, for the one client that can be held by it; undefined where by the program. */
async function httpDoor(
  { args, machine }: Pick<Invocation, 'args' | 'machine'>,
  { root, stateDir, clients }: Pick<Installing, 'root' | 'stateDir' | 'clients'>,
): Promise<Installing['http']> {
  const way = args.text('hooks') ?? (readRecord(stateDir)?.http === undefined ? 'command' : 'http');
  const asked = args.text('hooks') === 'http';
  if (way === 'command') return undefined;
  const names = clients.map(({ name }) => name);
  if (asked && !names.includes('claude')) throw usageError('`--hooks http` is for Claude Code alone');
  if (names.includes('copilot'))
    throw usageError(
      'Copilot CLI runs the hooks of Claude Code too, and refuses every call that one of them would ask about by HTTP',
      'leave it out with `--client claude`, or ask by `--hooks command`',
    );
  if (machine?.httpHooks === undefined) throw usageError('hooks by HTTP cannot be set up from here');
  const { port, key } = await machine.httpHooks({ root, stateDir });
  return { url: `http://127.0.0.1:${args.text('port') ?? port}/api/v1/hooks/claude`, key };
}

/**
 * What is written into the user's own settings: where that was asked for, now or for another project. Null where not.
 */
function userInstalling({ args, env }: Invocation, installing: Installing): UserInstalling | null {
  const { root, stateDir, version } = installing;
  const asked = args.flag('user');
  if (!asked && readUserRecord(stateDir) === null) return null;
  const clients = installing.clients.map(({ name }) => name).filter((name) => USER_CLIENTS.includes(name));
  const home = env.HOME ?? '';
  const cat = findProgram('cat', env.PATH, root);
  if (!asked && (clients.length === 0 || cat === null)) return null;
  if (clients.length === 0)
    throw usageError(
      `\`--user\` is for clients that read hooks of their own folder alone: ${USER_CLIENTS.join(', ')}`,
    );
  if (cat === null || !home.startsWith('/') || `${home}/`.startsWith(`${root}/`))
    throw usageError('there is no home outside of the project to write settings of yours to');
  return { root, stateDir, home, version, cat, clients };
}

/** The same files with the names that the user knows them by. */
export function atHome(plan: readonly PlannedFile[]): readonly PlannedFile[] {
  return plan.map((file) => ({ ...file, path: `~/${file.path}` }));
}

/**
 * What a change in the home means for runs that are under way, in this project and in others. Nobody but a human of each
 * project can say for it that a human made the change: any key that could have signed it may be one that an agent made.
 */
export function refusedElsewhere(plan: readonly PlannedFile[]): readonly string[] {
  const changed = atHome(plan).filter(({ before, after }) => before !== after);
  const paths = changed.map(({ path }) => path).join(' ');
  return changed.length === 0
    ? []
    : [
        `a run that is under way, also in another project, goes on to its next phase when a human has run \`phasegate fence RUN accept ${paths} --reason TEXT\` there`,
      ];
}

/** What somebody planted must not become part of what is written, and accepted, here. */
function refusePlanted(plan: readonly PlannedFile[], changed: readonly string[]): void {
  const planted = plan.find(({ path }) => changed.includes(path));
  if (planted === undefined) return;
  throw new PhasegateError(
    'guarded_changed',
    `\`${planted.path}\` changed while no process of Phasegate was looking`,
    { hint: 'look at it with `phasegate trust --guarded`, then run `phasegate init` again' },
  );
}

async function mayWrite(invocation: Invocation, differs: readonly PlannedFile[]): Promise<boolean> {
  const { args, out, prompts } = invocation;
  if (args.flag('yes') || prompts === null) return true;
  await showDiff(invocation, differs);
  if (await prompts.confirm('Write these settings, so that the clients ask Phasegate first?')) return true;
  await out.log('no hooks were set up; `phasegate init --client NAME` does it later');
  return false;
}

/** Shows what files would be. */
export async function showDiff({ out }: Invocation, files: readonly PlannedFile[]): Promise<void> {
  const screen = { paint: out.paint, width: out.width, most: 60, rest: 'the rest is more of the same' };
  for (const { path, before, after } of files) {
    const change = before === null ? 'added' : after === null ? 'removed' : 'changed';
    await out.log(fileDiff({ path, change, before, after, missing: null }, screen));
  }
}

function reportOf(
  { name, title, after, userFile }: ClientSettings,
  plan: readonly PlannedFile[],
  holdsBelow: boolean,
): ClientReport {
  const files = plan
    .filter(({ client }) => client === name)
    .map(({ path, before, after: text }) => ({
      path,
      change:
        before === null ? ('created' as const) : before === text ? ('kept' as const) : ('changed' as const),
    }));
  const shared =
    name === 'copilot' && !files.some(({ path }) => path.startsWith('.github/'))
      ? ['Copilot CLI runs the hooks of `.claude/settings.json`']
      : [];
  const below =
    userFile === undefined || holdsBelow
      ? []
      : [
          `${title} runs these hooks where it is started in this folder; \`phasegate init --user\` holds it below, too`,
        ];
  return { client: name, title, files, after: [...shared, ...after, ...below] };
}

function warningsOf({ root, phasegate, perl, curl, http }: Installing): readonly string[] {
  const inside = phasegate.find((word) => word.startsWith(`${root}/`));
  return [
    ...(inside === undefined
      ? []
      : [
          `Phasegate itself lies in the project (${shellWord(inside)}), where an agent may change it: install it elsewhere, with \`npm install -g phasegate\``,
        ]),
    ...(http === undefined
      ? []
      : [
          '`.claude/settings.local.json` holds a key: keep it out of commits. Anything that takes the port while the server is down can let calls pass, which is found when the session stops',
        ]),
    ...(perl === null && curl === null
      ? ['there is no `curl`, so every hook starts Phasegate itself, which takes longer']
      : []),
  ];
}
