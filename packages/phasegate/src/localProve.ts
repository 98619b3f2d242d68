import type { ClientKind } from './clients/clientKind.ts';
import type { InstalledClient } from './clients/findClient.ts';
import type { SettingsFile } from './clients/prove/settingsFiles.ts';
import { kernelNow } from './localProofs.ts';
import type { ProveClients, Proving } from './runtime/ports.ts';

/** Starts the clients of this machine, each with a scripted model in a world of its own. */
export const proveLocalClients: ProveClients = async ({ root, stateDir, env, client, told }) => {
  const [{ CLIENTS }, { findBubblewrap }] = await Promise.all([
    import('./clients/kinds/index.ts'),
    import('./sandbox/bubblewrapState.ts'),
  ]);
  const { PATH: path = '', HOME: home = '/' } = env;
  const { state, program: wrapper } = await findBubblewrap();
  const results: Proving[] = [];
  for (const kind of Object.values(CLIENTS)) {
    const { name, title } = kind;
    if (client !== null && client !== name) continue;
    const missing = await notProvable(kind, { path, root, home, stateDir });
    if ('status' in missing) results.push({ client: name, title, ...missing });
    else if (!state.works || wrapper === null) {
      const { reason, nextStep } = state.works ? { reason: 'it is gone', nextStep: '' } : state;
      const why = `a proof needs a world of its own, and ${reason}`;
      results.push({ client: name, title, status: 'not_run', reason: why, next_step: nextStep });
    } else {
      const place = { root, home, stateDir, path };
      results.push(await prove(kind, missing, { ...place, wrapper, by: state.by, told }));
    }
  }
  // Read, not run: there is no way to start it without its own account.
  if (client === null || client === 'cursor') results.push(CURSOR);
  return results;
};

const CURSOR: Proving = {
  client: 'cursor',
  title: 'Cursor',
  status: 'not_run',
  reason: 'it cannot be started with a scripted model: its payloads are tested, its walls are not',
};

interface Place {
  readonly root: string;
  readonly home: string;
  readonly path: string;
  readonly stateDir: string;
}

interface Attached {
  readonly found: InstalledClient;
  readonly settings: readonly SettingsFile[];
}

async function notProvable(
  kind: ClientKind,
  { path, root, home, stateDir }: Place,
): Promise<Attached | { status: 'not_installed' | 'not_attached'; reason: string; next_step?: string }> {
  const [{ findClient }, { namesPhasegate, settingsNow }] = await Promise.all([
    import('./clients/findClient.ts'),
    import('./clients/prove/settingsFiles.ts'),
  ]);
  const found = await findClient(kind, path);
  if (found === null) {
    const next_step = `npm install -g ${kind.package}`;
    return { status: 'not_installed', reason: `no \`${kind.name}\` is on the PATH`, next_step };
  }
  if (!(await namesPhasegate(kind.name, root))) {
    const next_step = `phasegate init --client ${kind.name}`;
    return {
      status: 'not_attached',
      reason: 'its settings in this project do not name Phasegate',
      next_step,
    };
  }
  return { found, settings: await settingsNow(kind.name, { project: root, home, stateDir }) };
}

async function prove(
  kind: ClientKind,
  { found, settings }: Attached,
  place: Place & {
    readonly wrapper: string;
    readonly by: string;
    told(line: string): void;
  },
): Promise<Proving> {
  const [{ proveClient }, { holds, wallsOf }, { clientIdentity }, { ownProgram }] = await Promise.all([
    import('./clients/prove/proveClient.ts'),
    import('./clients/prove/wallsOf.ts'),
    import('./clients/clientIdentity.ts'),
    import('./localHooks.ts'),
  ]);
  const identity = await clientIdentity(found.files);
  const phasegate = [process.execPath, ownProgram()] as const;
  const walls = wallsOf(await proveClient({ ...place, kind, found, project: place.root, phasegate }));
  const { program, version, sha256 } = found;
  const ring = holds(walls) ? 'hooked' : 'served';
  const at = new Date().toISOString();
  const { name: client, title } = kind;
  const kernel = kernelNow(place.by);
  const proof = {
    client,
    title,
    program,
    version,
    sha256,
    identity,
    settings,
    kernel,
    at,
    ring,
    walls,
  } as const;
  return { client, title, status: 'proven', proof };
}
