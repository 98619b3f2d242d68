import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import type { HookClient } from './runtime/ports.ts';
import { findServer } from './serverFile.ts';
import { hookSocketFor, isServedBy, requireSocketFolder } from './settings/hookSocket.ts';

/**
 * What the running server answers to an event, or null where there is none, or no whole answer of it: then the event is
 * judged here, by the same store. INVARIANT: it is the server that showed this project's key, at its own socket.
 */
export async function askRunningServer(
  stateDir: string,
  { client, body, run = '', programs = '' }: AskedEvent,
): Promise<JsonObject | null> {
  const path = hookSocketFor(stateDir);
  if (!existsSync(join(stateDir, 'server.json')) || !existsSync(path) || !/^[\w-]*$/.test(run)) return null;
  try {
    requireSocketFolder(path);
    const found = await findServer(stateDir);
    if (found === null || !isServedBy(path, found.pid)) return null;
    const value = JSON.parse(await posted(path, `/api/v1/hooks/${client}`, { body, run, programs })) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** What is put to it. */
export interface AskedEvent {
  readonly client: HookClient;
  readonly body: string;
  readonly run?: string | undefined;
  /** PATH of the client. */
  readonly programs?: string | undefined;
}

const PATIENCE_MS = 9_000;

function posted(
  socketPath: string,
  path: string,
  { body, run, programs }: { readonly body: string; readonly run: string; readonly programs: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-phasegate-run': run,
      'x-phasegate-path': Buffer.from(programs).toString('latin1'),
    };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const asked = request({ socketPath, path, method: 'POST', headers, agent: false, signal }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(Buffer.concat(parts).toString('utf8'))
          : reject(new Error(`the server answered ${response.statusCode}`)),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
