import { COMMIT, SQLITE } from './profiled.ts';

/** Time spent in one place, not counting what it called, in microseconds. */
export interface Share {
  readonly name: string;
  readonly self: number;
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** As V8 writes it. */
export interface Profile {
  /** Callers before those they call. */
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** A profile of V8 by rooms and by functions, most first. */
export function byPlace({ nodes, samples, timeDeltas }: Profile): {
  readonly rooms: readonly Share[];
  readonly functions: readonly Share[];
  readonly microseconds: number;
} {
  const self = new Map<number, number>();
  for (const [index, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  const rooms = new Map<string, number>();
  const functions = new Map<string, number>();
  let microseconds = 0;
  const owners = ownersOf(nodes);
  for (const { id } of nodes) {
    const { functionName, url, lineNumber } = owners.get(id) as Frame;
    // The profiler’s own.
    if (url === 'node:inspector') continue;
    const time = self.get(id) ?? 0;
    microseconds += time;
    const room = roomOf(functionName, url);
    rooms.set(room, (rooms.get(room) ?? 0) + time);
    const place = `${functionName || '(nameless)'}  ${fileOf(url)}:${lineNumber + 1}`;
    const shown = url === '' || url.includes('/bench/profile/') ? room : place;
    functions.set(shown, (functions.get(shown) ?? 0) + time);
  }
  return { rooms: mostFirst(rooms), functions: mostFirst(functions), microseconds };
}

/** What is not written in JavaScript counts as its caller’s, but for what V8 names itself. */
function ownersOf(nodes: Profile['nodes']): ReadonlyMap<number, Frame> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const owners = new Map<number, Frame>();
  for (const { id, callFrame, children = [] } of nodes) {
    const owner = owners.get(id) ?? callFrame;
    owners.set(id, owner);
    for (const child of children) {
      const found = frames.get(child) ?? callFrame;
      const native = found.url === '' && !found.functionName.startsWith('(');
      owners.set(child, native ? owner : found);
    }
  }
  return owners;
}

const SPECIAL: Readonly<Record<string, string>> = {
  [COMMIT]: 'SQLite: commits, with the wait for the disk',
  [SQLITE]: 'SQLite: all other statements',
  '(garbage collector)': 'garbage collection',
  '(program)': 'Node and V8 themselves',
  // Between turns V8 is told that it has nothing to do, also while the parser reads what came.
  '(idle)': 'waiting, and reading from sockets outside of JavaScript',
};

/** What Node’s own modules are there for. */
const NODE: readonly (readonly [RegExp, string])[] = [
  [/^node:(?:_http|net$|events$|internal\/(?:streams?|http|net))/, 'Node’s HTTP, sockets and streams'],
  [/^node:(?:fs|path|internal\/fs)/, 'Node’s files and paths'],
  [/^node:(?:timers|internal\/(?:timers|process|async_hooks))/, 'Node’s turns and promises'],
  [/^node:(?:buffer|internal\/(?:buffer|encoding))/, 'Node’s buffers'],
];

function roomOf(functionName: string, url: string): string {
  const special = SPECIAL[functionName];
  if (special !== undefined && (url === '' || url.includes('/bench/'))) return special;
  if (url === '') return 'Node and V8 themselves';
  if (url.startsWith('node:internal/crypto')) return 'hashes and signatures';
  if (url.startsWith('node:')) return NODE.find(([names]) => names.test(url))?.[1] ?? 'Node’s other modules';
  const file = fileOf(url);
  return file.split('/').slice(0, -1).join('/') || file;
}

/** Of our own files their place in the sources, of others that of their package. */
function fileOf(url: string): string {
  const [, own] = /\/packages\/(.*)$/.exec(url) ?? [];
  if (own !== undefined) return own.replace('/dist/', '/').replace(/\.js$/, '.ts');
  const [, others] = /\/node_modules\/(.*)$/.exec(url) ?? [];
  return others ?? url.replace(/^.*\/bench\//, 'bench/');
}

function mostFirst(times: ReadonlyMap<string, number>): readonly Share[] {
  return [...times].map(([name, self]) => ({ name, self })).sort((one, other) => other.self - one.self);
}
