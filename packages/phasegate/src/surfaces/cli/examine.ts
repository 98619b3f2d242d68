import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { OpenProject, People, Project, ServerState, Serving } from '../../runtime/ports.ts';
import { type ExaminedClient, examineSettings } from '../../settings/examineSettings.ts';
import { readRecord } from '../../settings/settingsRecord.ts';
import { type Attempt, attempt } from './attempt.ts';
import type { Invocation } from './command.ts';
import { examineGuarded } from './examineGuarded.ts';
import { examineProof } from './examineProof.ts';
import { examineWorkspace } from './examineWorkspace.ts';
import { broken, type Finding } from './finding.ts';
import { foreignEntry } from './setUp/attachClient.ts';
import { describeServer } from './text/describeServer.ts';
import { VERSION } from './version.ts';

/** Looks at everything Phasegate stands on; a fault of one thing never hides the others. */
export async function examine(invocation: Invocation): Promise<readonly Finding[]> {
  const findings: Finding[] = [nodeVersion(), await sqlite()];
  const project = await attempt(() => invocation.project());
  if (!project.ok) return [...findings, broken('project', project.error)];
  const { root, stateDir } = project.value;
  // Looking must not make anything: a state directory that is not there yet stays so.
  const made = await exists(stateDir);
  const looked = await attempt(() => project.value.exists());
  const there = !looked.ok || looked.value;
  if (!looked.ok) findings.push(broken('project', looked.error));
  else findings.push(there ? { name: 'project', status: 'ok', message: root } : noProject(root));
  // Where nothing was ever set up, there is one thing to do, and the rest comes with it.
  if (!there && !made) return findings;
  findings.push(...(await stateDirectory(project.value)));
  const opened = made ? await attempt(() => invocation.open()) : undefined;
  if (opened !== undefined) findings.push(...(await store(project.value, opened)));
  else findings.push(NO_HUMAN);
  findings.push(...(await workflows(project.value, opened?.ok ? opened.value : undefined)));
  if (opened?.ok) {
    const { value } = opened;
    findings.push(
      ...(await servers(value)),
      ...(await examineGuarded(value, project.value)),
      ...(await webhooks(value)),
    );
    findings.push(...(await workspace(value)));
    findings.push(
      ...(await archives(value)),
      await sandbox(value),
      ...(await proofs(invocation, value, project.value)),
    );
    findings.push(...(await pause(value)), ...(await sessions(value)));
  }
  if (made) findings.push(...(await background(invocation, stateDir)));
  findings.push(...held(invocation, project.value), ...(await client(root)));
  findings.push({ name: 'ring', status: 'ok', message: RING });
  return findings;
}

/** What is attached in no other way. */
const RING =
  'served, by MCP or the command line alone; `hooked` in sessions of a client that was proven, `sandboxed` with `--sandbox`';

function noProject(root: string): Finding {
  const message = `${root} has neither a Phasegate config nor a workflow`;
  return { name: 'project', status: 'missing', message, next_step: 'phasegate init' };
}

const NO_HUMAN: Finding = {
  name: 'human',
  status: 'missing',
  message: 'none is set up: any workflow starts, and nobody can decide at a gate',
  next_step: 'phasegate humans add NAME',
};

function nodeVersion(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const enough = major > 22 || (major === 22 && minor >= 16);
  if (!enough) return { name: 'node', status: 'broken', message: `${node} is too old: 22.16 is needed` };
  const strips = major > 22 || minor >= 18;
  const limit = strips ? '' : '; TypeScript workflows need 22.18';
  return { name: 'node', status: 'ok', message: `${node}${limit}` };
}

async function sqlite(): Promise<Finding> {
  const looked = await attempt(async () => {
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(':memory:');
    try {
      const version = database.prepare('SELECT sqlite_version() AS version').get()?.version;
      const fts5 = database.prepare("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used").get()?.used;
      return { version: String(version), fts5: fts5 === 1 };
    } finally {
      database.close();
    }
  });
  if (!looked.ok) return broken('sqlite', looked.error);
  const { version, fts5 } = looked.value;
  return {
    name: 'sqlite',
    status: 'ok',
    message: `${version}, full-text search ${fts5 ? 'built in' : 'missing'}`,
  };
}

async function stateDirectory(project: Project): Promise<readonly Finding[]> {
  const path = project.stateDir;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    return [{ name: 'state', status: 'ok', message: `${path} (made with the first run)` }];
  }
  if (!found.isDirectory())
    return [{ name: 'state', status: 'broken', message: `${path} is not a directory` }];
  const findings = [privacy('state', path, found.mode)];
  const keys = await attempt(async () => project.keysFile());
  if (!keys.ok) return [...findings, broken('keys', keys.error)];
  // A platform may hand out a file that nodes share as a link; in the state directory there is none.
  const look = dirname(keys.value) === path ? lstat : stat;
  const keysFound = await look(keys.value).catch(() => undefined);
  if (keysFound !== undefined) findings.push(privacy('keys', keys.value, keysFound.mode));
  return findings;
}

function privacy(name: string, path: string, mode: number): Finding {
  const bits = (mode & 0o777).toString(8).padStart(4, '0');
  if ((mode & 0o077) === 0) return { name, status: 'ok', message: `${path} (mode ${bits})` };
  return {
    name,
    status: 'broken',
    message: `${path} has mode ${bits}: others can read it`,
    next_step: `chmod go-rwx ${path}`,
  };
}

async function store(project: Project, opened: Attempt<OpenProject>): Promise<readonly Finding[]> {
  if (!opened.ok) return [broken('store', opened.error)];
  const humans = await attempt(() => opened.value.humans.list());
  if (!humans.ok) return [broken('store', humans.error)];
  const names = humans.value.map(({ name }) => name);
  const human: Finding =
    names.length === 0 ? NO_HUMAN : { name: 'human', status: 'ok', message: names.join(', ') };
  const where = project.runsIn();
  const message = where === null ? 'opens' : `${where} opens`;
  const writes = await attempt(() => opened.value.takesWrites());
  if (!writes.ok) return [broken('store', writes.error), human];
  if (!writes.value) return [{ ...READ_ONLY, message: `${message}, and ${READ_ONLY.message}` }, human];
  return [{ name: 'store', status: 'ok', message }, human];
}

const READ_ONLY: Finding = {
  name: 'store',
  status: 'broken',
  message: 'takes no writes: it is a replica, or set to read-only',
  next_step: 'phasegate migrate-store --moved --to URL --anchor FILE, with the primary server',
};

/** What the config attaches; nothing is started to look at it. */
async function servers(open: People): Promise<readonly Finding[]> {
  const cards = await attempt(() => open.trust.servers.cards());
  if (!cards.ok) return [broken('servers', cards.error)];
  return cards.value.map(({ name: server, trusted }): Finding => {
    const name = `server ${server}`;
    if (trusted) return { name, status: 'ok', message: 'in the config, started by `phasegate serve`' };
    const message = 'in the config, not accepted by a human: it is not started';
    return { name, status: 'optional', message, next_step: 'phasegate trust --servers' };
  });
}

async function archives(open: OpenProject): Promise<readonly Finding[]> {
  const looked = await attempt(async () => (await import('./examineArchives.ts')).examineArchives(open));
  return looked.ok ? looked.value : [broken('archives', looked.error)];
}

/** Whether programs can be held; tried out, as what is installed is often not allowed to work. */
async function workspace(open: OpenProject): Promise<readonly Finding[]> {
  const looked = await attempt(() => examineWorkspace(open));
  return looked.ok ? looked.value : [broken('workspace', looked.error)];
}

async function sandbox(open: OpenProject): Promise<Finding> {
  const name = 'sandbox';
  const looked = await attempt(() => open.sandboxes.state());
  if (!looked.ok) return broken(name, looked.error);
  const state = looked.value;
  if (state.works) {
    return { name, status: 'ok', message: `${state.by}: \`phasegate run --sandbox\` holds whole clients` };
  }
  const message = `${state.reason}: workflows that need the ring \`sandboxed\` do not start`;
  return { name, status: 'optional', message, next_step: state.nextStep };
}

/** The server that hooks are judged by. */
async function background({ machine }: Invocation, stateDir: string): Promise<readonly Finding[]> {
  const { background: server } = machine ?? {};
  if (server === undefined) return [];
  const looked = await attempt(() => server.look(stateDir));
  if (!looked.ok) return [broken('server', looked.error)];
  return [serverFinding(looked.value), ...elsewhere(looked.value, readRecord(stateDir)?.http?.url)];
}

/** Hooks by HTTP know one address; the server may have had to take another. */
function elsewhere(seen: ServerState, asked: string | undefined): readonly Finding[] {
  if (asked === undefined || seen.state !== 'running') return [];
  if (new URL(asked).port === new URL(seen.entry.url).port) return [];
  const message = `hooks ask at ${new URL(asked).origin}, where the server is not: calls are refused, or something else answers`;
  return [{ name: 'hooks by HTTP', status: 'broken', message, next_step: 'phasegate down' }];
}

function serverFinding(seen: ServerState): Finding {
  const name = 'server';
  switch (seen.state) {
    case 'running': {
      const message = `${describeServer(seen.entry)}, proven by its key`;
      if (seen.entry.socket !== undefined) return { name, status: 'ok', message };
      return {
        name,
        status: 'broken',
        message: `${message}; hooks cannot reach it`,
        next_step: 'phasegate down',
      };
    }
    case 'none':
      return {
        name,
        status: 'ok',
        message: 'not running; hooks of clients start it, as `phasegate up` does',
      };
    case 'silent':
      return {
        name,
        status: 'broken',
        message: `${seen.entry === null ? 'a process' : `process ${seen.entry.pid}`} has its place and does not answer: hooks block`,
        next_step: seen.entry === null ? 'phasegate doctor' : `kill ${seen.entry.pid}`,
      };
    case 'impostor':
      return {
        name,
        status: 'broken',
        message: `what answers at ${seen.entry.url} is not the server of this project: it does not have its key`,
        next_step: 'phasegate up',
      };
  }
}

/** What clients were proven to be held by, and whether that still counts. */
async function proofs(invocation: Invocation, open: OpenProject, at: Project): Promise<readonly Finding[]> {
  const looked = await attempt(() => open.proofs.all());
  if (!looked.ok) return [broken('proofs', looked.error)];
  return looked.value.map((kept) => examineProof(kept, settingsOf(invocation, at)));
}

/** Sessions that nobody holds for a while. */
async function pause({ hooks }: OpenProject): Promise<readonly Finding[]> {
  const looked = await attempt(() => hooks.pause());
  if (!looked.ok) return [broken('pause', looked.error)];
  if (looked.value === null) return [];
  const { by, reason, from, until } = looked.value;
  const message = `sessions without a run are free from ${from} until ${until}, by ${oneLine(by)}: ${oneLine(reason)}`;
  return [{ name: 'pause', status: 'optional', message, next_step: 'phasegate pause --end' }];
}

const NO_HOOKS: Finding = {
  name: 'hooks',
  status: 'optional',
  message: 'no client asks before its tool calls; `phasegate init --client NAME` sets one up',
};

/** The sessions of clients that were heard of in the last day and have not ended; the last of them first. */
async function sessions({ hooks }: OpenProject): Promise<readonly Finding[]> {
  const looked = await attempt(() => hooks.sessions());
  if (!looked.ok) return [broken('sessions', looked.error)];
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const live = looked.value.filter(({ ended, lastAt }) => !ended && lastAt > since);
  return live
    .sort((one, other) => (one.lastAt < other.lastAt ? 1 : -1))
    .slice(0, 10)
    .map(({ client: name, session, run, ring, lastAt }) => ({
      name: `session ${name} ${oneLine(session)}`,
      status: 'ok',
      message: `${run === null ? 'no run' : `run ${run}`}, ring ${ring}, last heard of at ${lastAt}`,
    }));
}

/** The settings by which clients ask first, as they are now. */
function held(invocation: Invocation, project: Project): readonly Finding[] {
  const clients = settingsOf(invocation, project);
  if (clients.length === 0) return [NO_HOOKS];
  return clients.map(
    ({ client: name, title, problems, holdsIn }): Finding =>
      problems.length === 0
        ? {
            name: `hooks ${name}`,
            status: 'ok',
            message: `${title}, started in ${holdsIn}, asks before every tool call`,
          }
        : {
            name: `hooks ${name}`,
            status: 'broken',
            message: `${title}: ${problems.join('; ')}`,
            next_step: 'phasegate init',
          },
  );
}

function settingsOf({ env }: Invocation, { root, stateDir }: Project): readonly ExaminedClient[] {
  return examineSettings({ root, stateDir, home: env.HOME, version: VERSION });
}

/** What a client starts under our name. */
async function client(root: string): Promise<readonly Finding[]> {
  const foreign = await foreignEntry(root);
  return foreign === null ? [] : [{ name: 'client', status: 'optional', message: foreign }];
}

/** Receivers that something was given up on for. */
async function webhooks(open: Serving): Promise<readonly Finding[]> {
  const looked = await attempt(async () => ({
    known: await open.webhooks.list(),
    letters: await open.webhooks.deadLetters(),
  }));
  if (!looked.ok) return [broken('webhooks', looked.error)];
  const { known, letters } = looked.value;
  return known.flatMap(({ id, url, failures }): readonly Finding[] => {
    const dead = letters.filter(({ webhook }) => webhook === id);
    const last = dead.at(-1);
    if (last === undefined) return [];
    const trying = failures === 0 ? '' : `; the next one has failed ${failures} times`;
    const count = dead.length === 1 ? '1 record was' : `${dead.length} records were`;
    const message = `${url}: ${count} not delivered, last record ${last.record} (${last.message})${trying}`;
    return [
      { name: `webhook ${id}`, status: 'optional', message, next_step: 'phasegate audit tail --as NAME' },
    ];
  });
}

async function workflows(project: Project, open: People | undefined): Promise<readonly Finding[]> {
  const listed = await attempt(() => project.catalog.list());
  if (!listed.ok) return [broken('workflows', listed.error)];
  if (listed.value.length === 0) {
    return [{ name: 'workflows', status: 'missing', message: 'none found', next_step: 'phasegate init' }];
  }
  const humans = open === undefined ? [] : await open.humans.list().catch(() => []);
  const findings: Finding[] = [];
  for (const { id, path, problems } of listed.value) {
    const name = `workflow ${id}`;
    const shared = problems.find(({ code }) => code === 'duplicate_workflow');
    if (shared !== undefined) {
      const message = `${path}: ${shared.message}`;
      findings.push({ name, status: 'broken', message, next_step: `phasegate validate ${shellWord(path)}` });
      continue;
    }
    const loaded = await attempt(() => project.catalog.load(path));
    if (!loaded.ok && loaded.error instanceof PhasegateError && loaded.error.unaccepted !== undefined) {
      const { workflow, closure } = loaded.error.unaccepted;
      const message = `${path}: not accepted, so none of it was run and it does not start: closure ${closure}`;
      const next_step = `phasegate trust ${shellWord(workflow)}`;
      findings.push({ name, status: 'missing', message, next_step });
    } else if (!loaded.ok) {
      findings.push({ ...broken(name, loaded.error), next_step: `phasegate validate ${shellWord(path)}` });
    } else if (open !== undefined && humans.length > 0) {
      findings.push(await trustOf(open, path, name));
    } else {
      findings.push({ name, status: 'ok', message: `${path}: valid` });
    }
  }
  return findings;
}

async function trustOf(open: People, path: string, name: string): Promise<Finding> {
  const card = await attempt(() => open.trust.workflows.card(path));
  if (!card.ok) return broken(name, card.error);
  if (card.value.trusted) return { name, status: 'ok', message: `${path}: valid, trusted` };
  return {
    name,
    status: 'missing',
    message: `${path}: valid, not trusted: it does not start`,
    next_step: `phasegate trust ${shellWord(card.value.workflow)}`,
  };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
