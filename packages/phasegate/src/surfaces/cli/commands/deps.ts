import { PhasegateError } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { DependencySet, FrozenSet } from '../../../runtime/ports.ts';
import type { Arguments, CliCommand, ExitCode, Invocation } from '../command.ts';
import { working } from '../showWork.ts';
import { andFiles, localFilesOf, localPackagesLine } from '../text/localPackages.ts';
import { table } from '../text/table.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate deps`: the engine's own copies of what lockfiles name. */
export const deps: CliCommand = {
  usage: [
    'deps [list]',
    'deps freeze [--allow-scripts NAME…] [--host HOST…] [--file FILE…] [--yes] [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'What the engine verifies it runs with dependencies of its own: an agent can rewrite a test runner in `node_modules`.\n' +
    '`freeze` installs what each lockfile of the project names (npm, pnpm, pip, uv, go, cargo) into the state directory, in a\n' +
    'sandbox that reaches only the hosts that the lockfile needs. Nothing is copied from what is installed in the project.\n' +
    'Install scripts are not run, unless packages are named with --allow-scripts. Packages that the lockfile takes from\n' +
    'files of the project (npm, pnpm) are named before you are asked, as an agent can write both; with --yes, each such file\n' +
    'must be named with --file, or nothing is installed. The copy belongs to the lockfile as it is: where that changes\n' +
    '(`deps_stale`), evidence is `observed` and not `verified` until a human freezes it again.\n' +
    '`list` says what there is, and exits with 1 where something is missing.',
  examples: [
    'phasegate deps',
    'phasegate deps freeze',
    'phasegate deps freeze --allow-scripts esbuild',
    'phasegate deps freeze --yes --file phasegate-0.1.0.tgz',
  ],
  options: {
    'allow-scripts': {
      type: 'texts',
      value: 'NAME',
      summary: 'a package whose install scripts, or build, may run',
    },
    host: {
      type: 'texts',
      value: 'HOST',
      summary: 'a host that may be reached beside those of the lockfile',
    },
    file: {
      type: 'texts',
      value: 'FILE',
      summary: 'a tarball of the project that the lockfile may take a package from without asking',
    },
    yes: { type: 'flag', summary: 'freeze without asking' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['[VERB]'],
  async run(invocation) {
    const [verb = 'list'] = invocation.args.positionals;
    if (verb === 'list') return list(invocation);
    if (verb === 'freeze') return freeze(invocation);
    throw usageError(`\`${oneLine(verb)}\` is neither list nor freeze`, 'phasegate deps --help');
  },
};

async function list({ open, out }: Invocation): Promise<ExitCode> {
  const sets = await (await open()).dependencies.list();
  const isWhole = sets.every(({ state }) => state === 'frozen' || state === 'empty');
  await out.result({ dependencies: sets.map(encoded), verified: isWhole }, () =>
    sets.length === 0
      ? NO_LOCKFILE
      : [
          table(sets.map((set) => [set.lockfile, set.kind, set.state, toldOf(set)])),
          ...sets.flatMap((set) => localPackagesLine(set) ?? []),
          ...(isWhole ? [] : [`next: ${out.paint.cyan('phasegate deps freeze')}`]),
        ].join('\n'),
  );
  return isWhole ? 0 : 1;
}

const NO_LOCKFILE =
  'no lockfile was found, so nothing can be frozen; none is needed where the tests need no packages';

const TOLD: Readonly<Record<Exclude<DependencySet['state'], 'frozen'>, string>> = {
  stale: 'the lockfile changed since it was frozen (`deps_stale`)',
  missing: 'not frozen',
  changed: 'the copy was changed since it was made',
  empty: 'names nothing to install',
};

function toldOf({ state, frozen }: DependencySet): string {
  if (state !== 'frozen' || frozen === null) return TOLD[state as keyof typeof TOLD];
  return `by ${frozen.by}, ${frozen.at}: ${frozen.files} files`;
}

function encoded({ kind, lockfile, hash, state, frozen, local }: DependencySet) {
  const files = local.map(({ name, file }) => ({ name, file }));
  return { kind, lockfile, hash, state, frozen: frozen === null ? null : encodedSet(frozen), local: files };
}

function encodedSet({ kind, lockfile, hash, content, files, scripts, by, at }: FrozenSet) {
  return { kind, lockfile, hash, content, files, scripts, by, at };
}

async function freeze(invocation: Invocation): Promise<ExitCode> {
  const { args, out, prompts } = invocation;
  if (prompts === null && !args.flag('yes'))
    throw usageError('`--yes` is missing: there is no terminal to ask on');
  const human = await unlockHuman(invocation);
  const { dependencies } = await invocation.open();
  const sets = await dependencies.list();
  const open = sets.filter(({ state }) => state !== 'frozen' && state !== 'empty');
  const scripts = args.texts('allow-scripts');
  const asks = prompts !== null && !args.flag('yes');
  if (!asks) requireNamed(open, args);
  const frozen: FrozenSet[] = [];
  for (const set of open) {
    const { kind, lockfile, hash, wantsScripts, hosts, reaches } = set;
    if (hosts.length > 0)
      await out.log(
        `${oneLine(lockfile)} takes packages from other hosts than the public registry: ${hosts.map(oneLine).join(', ')}`,
      );
    const wanting = wantsScripts.filter((name) => !scripts.includes(name));
    if (wanting.length > 0) {
      await out.log(
        `install scripts of these packages are not run (--allow-scripts NAME runs one): ${wanting.map(oneLine).join(', ')}`,
      );
    }
    const local = localPackagesLine(set);
    if (local !== null) await out.log(local);
    const from = [...reaches, ...args.texts('host')].map(oneLine).join(', ');
    const question = `Install what ${oneLine(lockfile)} names (${hash.slice(0, 12)}) with ${kind}, from ${from}${andFiles(set)}?`;
    if (asks && !(await prompts.confirm(question))) continue;
    const files = asks ? localFilesOf(set) : namedFiles(args);
    const order = { kind, lockfile, hash, scripts, hosts: args.texts('host'), files };
    frozen.push(
      await working(out, `installing what ${lockfile} names`, () => dependencies.freeze(order, human)),
    );
  }
  await out.result({ frozen: frozen.map(encodedSet) }, () =>
    frozen.length === 0
      ? whyNothing(sets, open)
      : frozen
          .map(({ lockfile, files, content }) => `${lockfile}: ${files} files, ${content.slice(0, 12)}`)
          .join('\n'),
  );
  return open.length === frozen.length ? 0 : 1;
}

/** INVARIANT: a file that an agent can write becomes a dependency only where a human was shown it, or named it. */
function requireNamed(open: readonly DependencySet[], args: Arguments): void {
  const named = namedFiles(args);
  for (const set of open) {
    const unnamed = set.local.filter(({ file }) => !named.includes(file));
    const said = localPackagesLine({ ...set, local: unnamed });
    if (said === null) continue;
    const all = [...new Set([...named, ...open.flatMap(localFilesOf)])];
    throw new PhasegateError('deps_not_frozen', `${said}; nobody was asked, and no \`--file\` names them`, {
      hint:
        all.length > MOST_NAMED
          ? 'run `phasegate deps freeze` on a terminal, which asks'
          : `if you know them: ${wholeCommand(args, all)}`,
    });
  }
}

/** More than anybody reads in one command: an agent may have written all of them. */
const MOST_NAMED = 50;

function namedFiles(args: Arguments): readonly string[] {
  return args.texts('file').map((file) => file.replace(/^(?:\.\/+)+/, ''));
}

function wholeCommand(args: Arguments, files: readonly string[]): string {
  const option = (name: string, values: readonly (string | undefined)[]) =>
    values.flatMap((value) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]));
  return [
    'phasegate deps freeze --yes',
    ...option('file', files),
    ...option('allow-scripts', args.texts('allow-scripts')),
    ...option('host', args.texts('host')),
    ...option('as', [args.text('as')]),
    ...option('passphrase-fd', [args.text('passphrase-fd')]),
  ].join(' ');
}

function whyNothing(sets: readonly DependencySet[], open: readonly DependencySet[]): string {
  if (sets.length === 0) return NO_LOCKFILE;
  return open.length === 0 ? 'everything is frozen already' : 'nothing was frozen, as you wished';
}
