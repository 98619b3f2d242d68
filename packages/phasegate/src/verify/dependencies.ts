import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type {
  Dependencies,
  DependencySet,
  FreezeOrder,
  FrozenSet,
  Sandbox,
  SandboxScope,
  Store,
} from '@phasegate/core/ports';
import { readRegularIfAny } from '../files/readRegular.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { programOf } from '../workspace/programOf.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { runEnclosed } from '../workspace/runEnclosed.ts';
import { type FrozenSets, TREE } from './frozenSets.ts';
import { INSTALLERS, type InstallPlace, scriptsWanted } from './installers.ts';
import { copyLocalTarballs, localPackages } from './localTarballs.ts';
import {
  buildIn,
  hostsIn,
  isEmpty,
  type Lockfile,
  lockfileOf,
  lockfilesIn,
  unverifiedIn,
} from './lockfiles.ts';

/** What dependencies are frozen with. */
export interface DependencyParts {
  /** The project, of which lockfiles and manifests are read and nothing else. */
  readonly root: string;
  readonly frozen: () => Promise<FrozenSets>;
  readonly sandbox: Pick<Sandbox, 'state' | 'enclose'>;
  readonly store: Pick<Store, 'note'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Builds the engine's own copies of dependencies. */
export function createDependencies(parts: DependencyParts): Dependencies {
  return {
    async list() {
      const frozen = await parts.frozen();
      return lockfilesIn(parts.root).map((lockfile): DependencySet => {
        const { kind, path, hash } = lockfile;
        const set = frozen.read(kind, hash);
        const state = stateOf(frozen, lockfile);
        const named = hostsIn(lockfile);
        const { hosts: usual } = INSTALLERS[kind];
        const hosts = named.filter((host) => !usual.includes(host));
        const reaches = [...new Set([...usual, ...named])];
        const wantsScripts = scriptsWanted(lockfile);
        const local = localPackages(lockfile);
        return { kind, lockfile: path, hash, state, frozen: set, wantsScripts, hosts, reaches, local };
      });
    },

    async freeze(order, human) {
      const lockfile = lockfileOf(parts.root, { kind: order.kind, folder: folderOf(order.lockfile) });
      if (lockfile === null || lockfile.hash !== order.hash)
        throw refusal(`\`${order.lockfile}\` is not what was shown any more`, 'phasegate deps freeze');
      const building = buildIn(lockfile);
      if (building !== null)
        throw refusal(
          `\`${order.lockfile}\` has the line \`${building.slice(0, 200)}\`, by which code would be built, and so run, while it is installed`,
          'name a released version there, and allow a package to be built with --allow-scripts NAME',
        );
      const unverified = unverifiedIn(lockfile).find((host) => !order.hosts.includes(host));
      if (unverified !== undefined)
        throw refusal(
          `\`${order.lockfile}\` takes packages from \`${unverified}\` without asking who sends them (\`--trusted-host\`)`,
          `take that line out, or allow the host: phasegate deps freeze --host ${shellWord(unverified)}`,
        );
      // The lockfile may be an agent's, and so may the file: its hash says nothing about who wrote it.
      const unnamed = localPackages(lockfile).find(({ file }) => !order.files.includes(file));
      if (unnamed !== undefined)
        throw refusal(
          `\`${order.lockfile}\` takes \`${oneLine(unnamed.name)}\` from the file \`${oneLine(unnamed.file)}\`, which nobody has named`,
          `if you know the file: phasegate deps freeze --file ${shellWord(unnamed.file)}`,
        );
      const installer = INSTALLERS[order.kind];
      const environment = cleanEnvironment(process.env, parts.root, {});
      const { program } = await programOf(installer.program, { cwd: parts.root, path: environment.PATH });
      if (program === null)
        throw refusal(
          `\`${order.lockfile}\` is installed by \`${installer.program}\`, which is not installed here`,
          `install ${installer.program}, then phasegate deps freeze`,
        );
      const state = await parts.sandbox.state();
      if (!state.works)
        throw new PhasegateError(
          'sandbox_unavailable',
          `dependencies are installed in a sandbox only, and ${state.reason}`,
          { hint: state.nextStep },
        );
      return install(parts, { order, lockfile, environment, by: human.principal.name });
    },
  };
}

interface Installing {
  readonly order: FreezeOrder;
  readonly lockfile: Lockfile;
  readonly environment: Readonly<Record<string, string>>;
  readonly by: string;
}

async function install(
  parts: DependencyParts,
  { order, lockfile, environment, by }: Installing,
): Promise<FrozenSet> {
  const frozen = await parts.frozen();
  const staged = frozen.stage(order.kind);
  try {
    const tree = join(staged, TREE);
    const place: InstallPlace = { tree, lockfile, scripts: order.scripts };
    const folder = folderOf(lockfile.path);
    const copied = [
      ...copyManifests(parts.root, place),
      ...(await copyLocalTarballs(lockfile, { root: parts.root, folder, tree })),
    ];
    for (const argv of INSTALLERS[order.kind].steps(place))
      await runStep(parts, { argv, order, place, environment });
    for (const file of copied) rmSync(join(tree, file), { force: true });
    INSTALLERS[order.kind].finish?.(place);
    const at = new Date(parts.now()).toISOString();
    const { kind, hash, scripts } = order;
    const set = await frozen.keep(staged, { kind, lockfile: lockfile.path, hash, scripts, by, at });
    const { content, files } = set;
    await parts.store.note(null, [
      {
        time: at,
        principal: `human:${by}`,
        event: 'deps_frozen',
        data: { kind, lockfile: lockfile.path, hash, content, files, scripts },
      },
    ]);
    return set;
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    throw error;
  }
}

/** The lockfile and what it belongs to. INVARIANT: nothing that was installed in the workspace is copied. */
function copyManifests(root: string, { tree, lockfile }: InstallPlace): readonly string[] {
  const folder = folderOf(lockfile.path);
  const name = lockfile.path.slice(lockfile.path.lastIndexOf('/') + 1);
  writeFileSync(join(tree, name), lockfile.text);
  const copied = INSTALLERS[lockfile.kind].manifests(lockfile).flatMap((named) => {
    // The lockfile may be an agent's: what it names outside of the project is neither read nor written there.
    const file = relativePath(named);
    if (file === null) return [];
    const bytes = readRegularIfAny(join(root, folder, file), { most: MOST_OF_MANIFEST, links: 'refuse' });
    if (bytes === null) return [];
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), bytes);
    return [file];
  });
  return [name, ...copied];
}

const MOST_OF_MANIFEST = 8 * 1024 * 1024;

interface Step {
  readonly argv: readonly [string, ...string[]];
  readonly order: FreezeOrder;
  readonly place: InstallPlace;
  readonly environment: Readonly<Record<string, string>>;
}

async function runStep(parts: DependencyParts, { argv, order, place, environment }: Step): Promise<void> {
  const installer = INSTALLERS[order.kind];
  const hosts = [...new Set([...installer.hosts, ...hostsIn(place.lockfile), ...order.hosts])];
  const scope: SandboxScope = {
    workspace: place.tree,
    writes: ['**'],
    mayWrite: () => true,
    commits: false,
    hosts,
    alone: true,
  };
  const { how, stderr: tail } = await runEnclosed(
    {
      argv,
      cwd: place.tree,
      environment: { ...environment, ...installer.environment(place) },
      timeoutMs: LONGEST_MS,
      maxOutputBytes: MOST_OUTPUT,
      tailBytes: TAIL,
      signal: new AbortController().signal,
    },
    (program) => parts.sandbox.enclose(program, scope),
  );
  if (how.kind === 'exited' && how.code === 0) return;
  const lines = tail.toString('utf8').trim().split('\n');
  const said = [...lines.slice(0, 6), ...(lines.length > 12 ? ['…'] : []), ...lines.slice(6).slice(-6)].join(
    '\n',
  );
  const ended = how.kind === 'exited' ? `exited with ${how.code}` : how.kind.replaceAll('_', ' ');
  throw refusal(
    `\`${argv.join(' ')}\` ${ended}, so nothing was frozen${said === '' ? '' : `; its output ends with:\n${said}`}`,
    'see to what it says; a host that it needs is allowed with --host, a package that is built with --allow-scripts',
  );
}

const LONGEST_MS = 1_800_000;
const MOST_OUTPUT = 64 * 1024 * 1024;
const TAIL = 4096;

function stateOf(frozen: FrozenSets, lockfile: Lockfile): DependencySet['state'] {
  const { kind, path, hash } = lockfile;
  if (isEmpty(lockfile)) return 'empty';
  const set = frozen.read(kind, hash);
  if (set !== null) return frozen.isAsFrozen(set) ? 'frozen' : 'changed';
  return frozen.hasOther(kind, path) ? 'stale' : 'missing';
}

function folderOf(path: string): string {
  return dirname(path) === '.' ? '' : dirname(path);
}

function refusal(message: string, hint: string): PhasegateError {
  return new PhasegateError('deps_not_frozen', message, { hint });
}
