import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditRecord, isJsonObject, type JsonObject, own } from '@phasegate/core';
import { expect } from 'vitest';
import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';
import { serveHere } from '../e2e/serveHere.ts';
import { type Served, serve } from '../e2e/server.ts';
import { bearer, type Got, type Sent, wireTo } from './wire.ts';

/** The passphrase of the human of every siege. */
export const PASSPHRASE = 'open sesame';

/** The real server of a project of its own, with what a test needs to attack it and to look at what came of it. */
export interface Siege {
  readonly project: TestProject;
  readonly server: Served;
  /** A human's session, as a bearer. */
  readonly human: string;
  send(sent: Sent): Promise<Got>;
  /** As the human. */
  ask(method: string, path: string, body?: JsonObject): Promise<Got>;
  /** Makes a key. */
  agent(name: string): Promise<string>;
  /** Queues a run and gives its id. */
  queue(workflow: string): Promise<string>;
  /** Claims what is queued. */
  claim(name: string, key: string): Promise<{ readonly run: string; readonly token: string }>;
  /** Everything that was recorded behind this place in the feed, and the place it ends at. */
  records(after?: number): Promise<readonly FeedRecord[]>;
  /** What must not change: runs, agents with their leases, and the workspace. */
  everything(): Promise<string>;
  /** The server answers, its chains verify, and it has told its log no fault and none of these secrets. */
  expectUnharmed(secrets: readonly string[]): Promise<void>;
}

/** A record with its place in the feed. */
export type FeedRecord = AuditRecord & { readonly id: number };

/** What a siege is laid to. */
export interface SiegeOptions {
  readonly files: Readonly<Record<string, string>>;
  /** Whether a human with a passphrase is set up; else anyone who has the link is the operator. */
  readonly human?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the server logs every request. */
  readonly verbose?: boolean;
  /** Whether the server is in this process: for what is about its answers alone. */
  readonly here?: boolean;
}

/** Starts a server. */
export async function laySiege(options: SiegeOptions): Promise<Siege> {
  const { files, human = false, env = {}, verbose = false, here = false } = options;
  const project = makeProject(files);
  if (human) {
    const secret = { passphrase: PASSPHRASE, env };
    for (const words of [
      ['humans', 'add', 'maria'],
      ['trust', '--yes'],
    ]) {
      const { code, stderr } = await phasegate(project, words, secret);
      expect(code, stderr).toBe(0);
    }
  }
  const words = verbose ? ['--verbose'] : [];
  const server = await (here ? serveHere(project, words) : serve(project, words, env));
  const send = wireTo(server.url);
  const session = await signIn(server, send);
  const ask = (method: string, path: string, body?: JsonObject) =>
    send({
      method,
      path: `/api/v1${path}`,
      headers: [bearer(session)],
      ...(body === undefined ? {} : { body }),
    });

  return {
    project,
    server,
    human: session,
    send,
    ask,
    async agent(name) {
      return textAt(expectStatus(await ask('POST', '/agents', { name }), 201).body, 'key');
    },
    async queue(workflow) {
      return textAt(expectStatus(await ask('POST', '/runs', { workflow, queue: true }), 201).body, 'run');
    },
    async claim(name, key) {
      const path = '/api/v1/tasks/claim';
      const got = await send({ method: 'POST', path, headers: [bearer(key)], body: { agent_id: name } });
      const { body } = expectStatus(got, 200);
      return { run: textAt(own(body, 'task'), 'id'), token: textAt(body, 'phase_token') };
    },
    async records(after = 0) {
      const found: FeedRecord[] = [];
      for (let from: unknown = after; typeof from === 'number'; ) {
        const { body } = expectStatus(await ask('GET', `/audit?limit=1000&after=${from}`), 200);
        found.push(...(body.records as unknown as readonly FeedRecord[]));
        from = body.next_after;
      }
      return found;
    },
    async everything() {
      const { body: runs } = await ask('GET', '/runs?limit=1000');
      const { body: agents } = await ask('GET', '/agents');
      return JSON.stringify({ runs, agents, files: filesIn(project.root) }, null, 1);
    },
    async expectUnharmed(secrets) {
      expect((await send({ path: '/readyz' })).body).toEqual({ status: 'ready' });
      expect((await ask('GET', '/audit/verify')).body).toMatchObject({ ok: true, findings: [] });
      const log = server.stderr();
      expect(log.includes('"answered"')).toBe(verbose);
      const faults = log
        .split('\n')
        .filter((line) => /^\s+at |\\n\s+at |"level":"error"|unhandled/i.test(line));
      expect(faults).toEqual([]);
      for (const secret of [session, PASSPHRASE, ...secrets])
        expect(log.includes(secret), secret).toBe(false);
    },
  };
}

/** The answer, where it has this status; else fails with all of it. */
export function expectStatus(got: Got, status: number): Got {
  expect(got.status, got.text.slice(0, 500)).toBe(status);
  return got;
}

/** Text in an answer. */
export function textAt(value: unknown, key: string): string {
  const text = isJsonObject(value) ? own(value, key) : undefined;
  if (typeof text !== 'string') throw new Error(`there is no \`${key}\` in ${JSON.stringify(value)}`);
  return text;
}

/** Asks again until something holds; gives up long after it should have. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = Date.now(); !(await holds()); ) {
    if (Date.now() - start > 20_000) throw new Error(`waited too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Every file below a folder with what is in it; links as where they lead. */
export function filesIn(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(path)}`;
    else if (entry.isDirectory()) Object.assign(found, filesIn(path));
    else if (entry.isFile()) found[path] = readFileSync(path, 'latin1');
  }
  return found;
}

async function signIn({ signIn: link }: Served, send: (sent: Sent) => Promise<Got>): Promise<string> {
  const code = link === null ? null : (new URL(link).searchParams.get('code') ?? '');
  const body = code === null ? { name: 'maria', passphrase: PASSPHRASE } : { code };
  const got = await send({ method: 'POST', path: '/api/v1/session', body: { ...body, bearer: true } });
  return textAt(expectStatus(got, 201).body, 'session');
}
