import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { loadConfig } from './config.ts';
import type { ConfiguredServer, ServerCard } from './runtime/ports.ts';
import type { AttachedServers, AttachedServersParts } from './tools/attachedServers.ts';
import type { AttachedServer } from './tools/connectServer.ts';

/** The servers the config names that a human accepted, attached when a tool of theirs is first asked for. */
export function lazyServers(
  { root, env }: Pick<AttachedServersParts, 'env'> & { readonly root: string },
  cards: () => Promise<readonly ServerCard[]>,
): AttachedServers & { read(): Promise<void> } {
  let made: Promise<AttachedServers> | undefined;
  let known: AttachedServers | undefined;
  const get = async () => {
    made ??= Promise.all([import('./tools/attachedServers.ts'), cards()]).then(([{ attachServers }, found]) =>
      attachServers({
        ...acceptedServers(found),
        demandSame: (name) => demandSameFiles(root, found, name),
        workspace: realpathSync(root),
        env,
      }),
    );
    known = await made;
    return known;
  };
  return {
    read: async () => (await get()).start(),
    start: () => void get().then((servers) => servers.start()),
    attachedTools: async () => (await get()).attachedTools(),
    trouble: (tool) => known?.trouble(tool) ?? null,
    close: async () => {
      if (made !== undefined) await (await made).close();
    },
  };
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

/** A server that went away is started again, and its script may have been rewritten since it was accepted. */
function demandSameFiles(root: string, cards: readonly ServerCard[], name: string): void {
  const card = cards.find((one) => one.name === name);
  const { command } = (card?.entry ?? {}) as { readonly command?: readonly string[] };
  const now = namedFiles(root, command ?? []);
  const changed = Object.entries(card?.files ?? {}).find(([path, digest]) => now[path] !== digest);
  if (changed === undefined) return;
  throw new Error(`\`${changed[0]}\`, which it starts, changed since it was accepted`);
}

/** The servers of the config as a human is to accept them: their entries, and the files of the project these name. */
export async function configuredServers(root: string): Promise<readonly ConfiguredServer[]> {
  const { servers } = await loadConfig(root);
  return Object.entries(servers).map(([name, server]) => {
    const words = 'command' in server ? server.command : [];
    return { name, entry: server as unknown as JsonObject, files: namedFiles(root, words) };
  });
}

/** A script that lies in the project is what is started, as much as the line that names it. */
function namedFiles(root: string, words: readonly string[]): Readonly<Record<string, string>> {
  const here = realpathSync(root);
  const found = words.flatMap((word): readonly (readonly [string, string])[] => {
    const place = resolve(here, word.replace(/^--?[\w-]+=/, ''));
    if (!place.startsWith(`${here}${sep}`) || statSync(place, { throwIfNoEntry: false })?.isFile() !== true)
      return [];
    return [[place.slice(here.length + 1), hash('sha256', readFileSync(place), 'hex')]];
  });
  return Object.fromEntries(found);
}
