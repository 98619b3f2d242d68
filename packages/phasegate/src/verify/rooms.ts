import { hash } from 'node:crypto';
import { mkdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Check } from '@phasegate/core/model';
import type {
  DependencyKind,
  Fence,
  FreeProgram,
  Lack,
  RoomAnswer,
  RoomRequest,
  Sandbox,
  SandboxScope,
  VerifiedRoom,
  Verifying,
} from '@phasegate/core/ports';
import { readRegularIfAny } from '../files/readRegular.ts';
import type { FrozenSets } from './frozenSets.ts';
import { isEmpty, KINDS, type Lockfile, lockfileOf, lockfilesIn } from './lockfiles.ts';
import { type Placed, placedBy } from './placedDependencies.ts';
import { createRoomPlaces, type RoomPlace } from './roomPlaces.ts';
import { unlockedIn } from './unlocked.ts';
import { verifierLack } from './verifierLack.ts';

/** What rooms are made of. */
export interface RoomParts {
  readonly fence: Pick<Fence, 'materialise'>;
  readonly sandbox: Pick<Sandbox, 'state' | 'enclose'>;
  readonly frozen: () => Promise<FrozenSets>;
  /** The folder of rooms in the state directory. */
  readonly folder: string;
  /** How many rooms there may be at a time. */
  readonly atOnce?: number;
}

/** Builds rooms: copies of measured trees with frozen dependencies, in which nothing is an agent's to write. */
export function createRooms(parts: RoomParts): Verifying {
  const places = createRoomPlaces(parts);
  return {
    async room(asked) {
      const state = await parts.sandbox.state();
      if (!state.works)
        return lack('no_sandbox', `no sandbox can be made here: ${state.reason}`, state.nextStep);
      const place = await places.take(asked.agent);
      try {
        const answer = await furnish(parts, asked, place);
        if (!answer.ok) await place.leave();
        return answer;
      } catch (error) {
        await place.leave();
        throw error;
      }
    },
  };
}

async function furnish(parts: RoomParts, asked: RoomRequest, place: RoomPlace): Promise<RoomAnswer> {
  const { run, tree, phase, check } = asked;
  const workspace = join(place.folder, 'tree');
  const fill = async () => {
    await rm(workspace, { recursive: true, force: true });
    mkdirSync(workspace, { recursive: true, mode: 0o755 });
    return parts.fence.materialise(run, tree, workspace);
  };
  const made = await fill();
  if (!made.ok)
    return lack(
      'tree_not_kept',
      `the tree cannot be copied: ${made.reason}`,
      'keep such files out of the project, or ignore them (`.gitignore`)',
    );
  const read = (path: string) =>
    readRegularIfAny(join(workspace, path), { most: LARGEST_CONFIG, links: 'refuse' })?.toString('utf8') ??
    null;
  const link = (path: string) => linkAt(join(workspace, path));
  const undecided = verifierLack(check, phase, { paths: made.paths, read, link });
  if (undecided !== null) return { ok: false, ...undecided };
  const placed = await dependenciesFor(parts, check, workspace);
  if ('code' in placed) return { ok: false, ...placed };
  const scope: SandboxScope = {
    workspace,
    writes: ['**'],
    mayWrite: () => true,
    commits: false,
    alone: true,
    temporary: TEMPORARY_BYTES,
  };
  const prepare = () => {
    for (const { at } of placed.mounts) mkdirSync(at, { recursive: true });
  };
  prepare();
  const room: VerifiedRoom = {
    workspace,
    state: made.state,
    dependencies: placed.hash,
    path: placed.path,
    environment: placed.environment,
    enclose: (program: FreeProgram) =>
      parts.sandbox.enclose(
        { ...program, read: [...(program.read ?? []), ...placed.read], placed: placed.mounts },
        scope,
      ),
    locate: placed.locate,
    async renew() {
      const again = await fill();
      if (!again.ok) throw new Error(`the tree cannot be copied: ${again.reason}`);
      prepare();
    },
    close: place.leave,
  };
  return { ok: true, room };
}

function linkAt(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    // It is none, or not there.
    return null;
  }
}

/** Memory for `/tmp` in a room, of which there may be several at a time. */
const TEMPORARY_BYTES = 512 * 1024 ** 2;

/** A larger one is no config that a person wrote. */
const LARGEST_CONFIG = 256 * 1024;

/** What the check is run with, or what is missing of it. */
async function dependenciesFor(
  parts: RoomParts,
  { with: { argv, dependencies, cwd } }: Check,
  workspace: string,
): Promise<Placed | Lack> {
  const folder = typeof cwd === 'string' ? cwd.replace(/^(?:\.\/)+|\/+$/g, '').replace(/^\.$/, '') : '';
  const wanted = Array.isArray(dependencies)
    ? KINDS.filter((kind) => dependencies.includes(kind)).map(
        (kind) => lockfileOf(workspace, { kind, folder }) ?? lockfileOf(workspace, { kind }) ?? kind,
      )
    : lockfilesIn(workspace, folder);
  if (!Array.isArray(dependencies)) {
    const kinds = wanted.flatMap((lockfile) => (typeof lockfile === 'string' ? [] : lockfile.kind));
    const words = Array.isArray(argv) ? argv.filter((word) => typeof word === 'string') : [];
    const unlocked = unlockedIn({ folder: join(workspace, folder), words, kinds });
    if (unlocked !== null) return { code: 'deps_unknown', ...unlocked };
  }
  const placed: Placed[] = [];
  for (const lockfile of wanted) {
    if (typeof lockfile === 'string') return missing(lockfile);
    if (isEmpty(lockfile)) continue;
    const found = await frozenFor(parts, lockfile, workspace);
    if ('code' in found) return found;
    placed.push(found);
  }
  return joined(placed);
}

async function frozenFor(parts: RoomParts, lockfile: Lockfile, workspace: string): Promise<Placed | Lack> {
  const frozen = await parts.frozen();
  const { kind, path, hash: locked } = lockfile;
  const set = frozen.read(kind, locked);
  if (set === null) {
    if (frozen.hasOther(kind, path))
      return told('deps_stale', `\`${path}\` is another one than the one that was frozen`);
    return told('deps_missing', `the dependencies that \`${path}\` names are not frozen`);
  }
  if (!frozen.isAsFrozen(set))
    return told('deps_changed', `the frozen dependencies of \`${path}\` were changed since`);
  return placedBy(set, { folder: frozen.folder(kind, locked), workspace });
}

function missing(kind: DependencyKind): Lack {
  return told('deps_unknown', `there is no lockfile of \`${kind}\` in the tree`);
}

function told(code: Lack['code'], reason: string): Lack {
  return { code, reason, nextStep: 'a human runs `phasegate deps freeze`' };
}

function joined(sets: readonly Placed[]): Placed {
  const hashes = sets.flatMap(({ hash: one }) => one ?? []);
  return {
    hash: hashes.length < 2 ? (hashes[0] ?? null) : hash('sha256', hashes.join('\n'), 'hex'),
    mounts: sets.flatMap(({ mounts }) => mounts),
    read: sets.flatMap(({ read }) => read),
    path: sets.flatMap(({ path }) => path),
    environment: Object.assign({}, ...sets.map(({ environment }) => environment)),
    locate: (path) => sets.reduce((found, { locate }) => locate(found), path),
  };
}

function lack(code: Lack['code'], reason: string, nextStep: string): RoomAnswer {
  return { ok: false, code, reason, nextStep };
}
