import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AttachedServer, ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import {
  openScriptedModel,
  type ScriptedModel,
} from '../../packages/phasegate/src/clients/openScriptedModel.ts';
import type { Script } from '../../packages/phasegate/src/clients/script.ts';
import { type ClientEnd, startClient } from '../../packages/phasegate/src/clients/startClient.ts';
import { stateDirFor } from '../../packages/phasegate/src/config.ts';
import { makeProject, PROGRAM, TESTED, type TestProject } from '../e2e/cli.ts';

/** Where `npm run test:clients` has put real clients; undefined in every other run. */
const BIN = process.env.PHASEGATE_CLIENTS_BIN;

/** Whether that client is there to be tested. */
export function isThere(name: ClientName): boolean {
  return BIN !== undefined && (process.env.PHASEGATE_CLIENTS_THERE ?? '').split(',').includes(name);
}

/** How long one client may take; a busy machine is not a failure. */
export const CLIENT_MS = 180_000;

/** A project on a machine where the command and the clients are installed. */
export function machineWith(files: Readonly<Record<string, string>> = TESTED): TestProject {
  const project = makeProject(files);
  const bin = join(project.base, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'phasegate'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
  chmodSync(join(bin, 'phasegate'), 0o755);
  const path = [bin, BIN, dirname(process.execPath), project.env.PATH].join(':');
  // The state is where the home says: not every client passes other variables on to what it starts.
  const env = { PATH: path, HOME: project.base, USER: 'maria' };
  return { ...project, env, stateDir: stateDirFor(project.root, env) };
}

/** What came of a script that a real client was played. */
export interface Session {
  readonly end: ClientEnd;
  readonly model: ScriptedModel;
  /** What the tools of the main conversation answered, in order. */
  readonly results: readonly string[];
}

/** What a client is played, and what it is given beside what its folder holds. */
export interface Play {
  readonly script: Script;
  readonly prompt?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly server?: AttachedServer;
  readonly limitMs?: number;
}

/** Starts a real client in a project and plays it a script; it knows nothing of Phasegate but what is in its folder. */
export async function play(
  name: ClientName,
  project: TestProject,
  { script, prompt = 'Do what is to be done.', environment = {}, server, limitMs = CLIENT_MS }: Play,
): Promise<Session> {
  const kind = CLIENTS[name];
  const model = await openScriptedModel(kind.protocol, script);
  onTestFinished(() => model.close());
  const launch = kind.arrange({
    program: join(BIN ?? '', name),
    project: project.root,
    home: project.base,
    files: mkdtempSync(join(project.base, 'files-')),
    model: model.url,
    prompt,
    server,
  });
  const end = await startClient(launch, {
    cwd: project.root,
    path: project.env.PATH ?? '',
    limitMs,
    environment: { ...project.env, ...launch.environment, ...environment },
  });
  const main = model.exchanges.filter(({ thread }) => thread === 'main');
  return { end, model, results: main.flatMap(({ results }) => results.map(({ text }) => text)) };
}

/** What the model was told in place of a result, by a hook: a client puts at most a few words of its own before it. */
export function refusalsIn({ model }: Session): readonly string[] {
  const texts = model.exchanges.flatMap(({ results }) => results.map(({ text }) => text));
  return texts.filter((text) => /^[^\n]*\[phasegate\]/.test(text));
}

/** What a session came to, for the message of a failed test. */
export function log({ model, end }: Session): string {
  const lines = model.exchanges.map(({ thread, turn, results, texts }) => {
    return [
      `${thread} ${turn}`,
      ...results.map(({ text }) => text.slice(0, 400)),
      ...texts.map((text) => `> ${text.slice(0, 200)}`),
    ].join('\n  ');
  });
  return [...lines, end.stderr.slice(0, 2000)].join('\n');
}
