import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateDirFor } from '../../packages/phasegate/src/config.ts';

/** The folder of the fixture that the code of 0.1.0 made. */
export const FIXTURE = fileURLToPath(new URL('0.1.0', import.meta.url));

/** What stands in `made.json`: how to speak to the state as those who made it. All secrets are for tests alone. */
export interface Made {
  /** The commit whose code made it. */
  readonly commit: string;
  /** ISO time at which it was finished. Leases and tokens live for a day from about then. */
  readonly at: string;
  /** Name → id. */
  readonly runs: Readonly<Record<string, string>>;
  /** Human → passphrase. */
  readonly humans: Readonly<Record<string, string>>;
  /** Agent → key. */
  readonly agents: Readonly<Record<string, string>>;
  /** Name of a run → the phase token its agent held in the end. */
  readonly tokens: Readonly<Record<string, string>>;
}

/** A project in a folder of its own, and what commands on it find in their environment. */
export interface Place {
  readonly base: string;
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Reads what there is to know of the fixture. */
export function readMade(): Made {
  return JSON.parse(readFileSync(join(FIXTURE, 'made.json'), 'utf8')) as Made;
}

/** Makes a place with the files of a folder in it, and no state. */
export function makePlace(files: string): Place {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-compatibility-'));
  const root = join(base, 'project');
  cpSync(files, root, { recursive: true });
  const env = {
    PATH: [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
    HOME: base,
    USER: 'maria',
    XDG_STATE_HOME: join(base, 'state'),
  };
  // The state of a project is found by the hash of the project's path: it is put where this copy's is looked for.
  return { base, root, env, stateDir: stateDirFor(root, env) };
}

/** Puts the fixture in a place of its own, as it was when it was made. */
export function placeFixture(): Place {
  const place = makePlace(join(FIXTURE, 'project'));
  mkdirSync(dirname(place.stateDir), { recursive: true, mode: 0o700 });
  cpSync(join(FIXTURE, 'state'), place.stateDir, { recursive: true });
  // Git keeps no such modes.
  chmodSync(place.stateDir, 0o700);
  chmodSync(join(place.stateDir, 'keys.json'), 0o600);
  return place;
}
