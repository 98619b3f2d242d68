import { realpathSync } from 'node:fs';
import type { JsonObject } from '@phasegate/core';
import { loadConfig } from './config.ts';
import { lazy, lazyPort } from './lazyPort.ts';
import { namedFiles, type StartedWith } from './namedFiles.ts';
import type { ConfiguredServer, Enclose, ServerCard } from './runtime/ports.ts';
import type { Sandboxing } from './runtime/sandboxing.ts';
import type { AttachedServers, AttachedServersParts } from './tools/attachedServers.ts';
import type { AttachedServer } from './tools/connectServer.ts';

/** The servers the config names that a human accepted, attached when a tool of theirs is first asked for. */
export function lazyServers(
  {
    root,
    env,
    sandboxing,
  }: Pick<AttachedServersParts, 'env'> & {
    readonly root: string;
    readonly sandboxing: Sandboxing;
  },
  cards: () => Promise<readonly ServerCard[]>,
): AttachedServers & { read(): Promise<void> } {
  let known: AttachedServers | undefined;
  const servers = lazy(async () => {
    const [{ attachServers }, found] = await Promise.all([import('./tools/attachedServers.ts'), cards()]);
    known = attachServers({
      ...acceptedServers(found),
      demandSame: (name) => demandSameFiles(root, found, name),
      workspace: realpathSync(root),
      env,
      enclose: () => encloseServers(realpathSync(root), sandboxing),
    });
    return known;
  });
  const read = async () => (await servers.get()).start();
  return {
    ...lazyPort(servers, { calls: ['attachedTools'], ends: ['close'] }),
    read,
    start: () => void read(),
    trouble: (tool) => known?.trouble(tool) ?? null,
  };
}

/** Servers serve every phase, so they may read the workspace and write nothing of it. */
async function encloseServers(workspace: string, { sandbox, always }: Sandboxing): Promise<Enclose | null> {
  if (!(await always())) return null;
  const scope = { workspace, writes: [], mayWrite: () => false, commits: false };
  return (program) => sandbox.enclose(program, scope);
}

/** INVARIANT: a server that no human accepted is not started, whatever stands in the config. */
function acceptedServers(cards: readonly ServerCard[]): Pick<AttachedServersParts, 'servers' | 'refused'> {
  const entries = cards
    .filter(({ trusted }) => trusted)
    .map(({ name, entry }) => [name, entry as unknown as AttachedServer]);
  const refused = cards
    .filter(({ trusted }) => !trusted)
    .map(({ name }) => [
      name,
      `no human has accepted server \`${name}\` as the config has it; a human runs \`phasegate trust --servers\` and starts the server anew`,
    ]);
  return { servers: Object.fromEntries(entries), refused: Object.fromEntries(refused) };
}

/** A server that went away is started again, and its script may have been rewritten, or have come, since it was accepted. */
function demandSameFiles(root: string, cards: readonly ServerCard[], name: string): void {
  const card = cards.find((one) => one.name === name);
  if (card === undefined) throw new Error('the config has no such server');
  const [before, now] = [card.files, filesOf(root, card.entry)];
  const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].find(
    (path) => before[path] !== now[path],
  );
  if (changed === undefined) return;
  const how = before[changed] === undefined ? 'was not there when' : 'changed since';
  throw new Error(
    `\`${changed}\`, which it starts, ${how} it was accepted; a human runs \`phasegate trust --servers\` and starts the server anew`,
  );
}

/** The servers of the config as a human is to accept them: their entries, and the files of the project these name. */
export async function configuredServers(root: string): Promise<readonly ConfiguredServer[]> {
  const { servers } = await loadConfig(root);
  return Object.entries(servers).map(([name, server]) => {
    const entry = server as unknown as JsonObject;
    return { name, entry, files: filesOf(root, entry) };
  });
}

function filesOf(root: string, entry: JsonObject): Readonly<Record<string, string>> {
  return 'command' in entry ? namedFiles(root, entry as unknown as StartedWith) : {};
}
