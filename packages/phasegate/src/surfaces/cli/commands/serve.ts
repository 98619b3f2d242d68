import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { Project, RunningServer, ServeRequest, UnlockedHuman } from '../../../runtime/ports.ts';
import { Cancelled } from '../cancelled.ts';
import type { Arguments, CliCommand, Invocation } from '../command.ts';
import { durationOption } from '../durationOption.ts';
import { problemLine } from '../failure.ts';
import { passphraseFrom } from '../passphrase.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate serve`: one process on one port for agents and humans. */
export const serve: CliCommand = {
  usage: [
    'serve [--database URL] [--port N] [--host H] [--socket FILE] [--tls-cert FILE --tls-key FILE] [--behind-proxy] [--allow-host NAME…] [--public-url URL] [--metrics-token-file FILE] [--idle TIME] [--verbose]',
  ],
  details:
    'Serves REST under /api/v1, MCP at /mcp, events, health and metrics until it is asked to end (Ctrl-C, SIGTERM):\n' +
    'then what is under way is finished and leases are kept. Hosts other than loopback need TLS or --behind-proxy.\n' +
    'Prints the address, and a link that signs a human in once; where a human is set up, only after the passphrase.',
  examples: [
    'phasegate serve',
    'phasegate serve --port 0 --json',
    'phasegate serve --socket "$XDG_RUNTIME_DIR/phasegate.sock"',
    'phasegate serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host build.example.com',
    'phasegate serve --public-url https://build.example.com --metrics-token-file /etc/phasegate/metrics-token',
  ],
  options: {
    port: { type: 'text', value: 'N', summary: "0 picks a free one (default: the config's, else 8000)" },
    host: { type: 'text', value: 'H', summary: 'the address to listen on (default 127.0.0.1)' },
    socket: { type: 'text', value: 'FILE', summary: 'a socket to listen on as well, for this user alone' },
    'tls-cert': { type: 'text', value: 'FILE', summary: 'certificate chain, PEM' },
    'tls-key': { type: 'text', value: 'FILE', summary: 'private key, PEM' },
    'behind-proxy': { type: 'flag', summary: 'a proxy in front speaks TLS' },
    'allow-host': { type: 'texts', value: 'NAME', summary: 'a further name the server is called by' },
    'public-url': {
      type: 'text',
      value: 'URL',
      summary: 'where clients find the server, as a proxy serves it',
    },
    'metrics-token-file': { type: 'text', value: 'FILE', summary: 'holds the token that opens /metrics' },
    idle: {
      type: 'text',
      value: 'TIME',
      summary: 'end when nothing has used it for this time (default: never)',
    },
    background: {
      type: 'flag',
      summary: 'as `phasegate up` starts it: no link is printed, and any free port will do',
    },
    database: {
      type: 'text',
      value: 'URL',
      summary: 'where runs are kept: postgres://USER@HOST/NAME (default: as before, else a file)',
    },
    verbose: { type: 'flag', summary: 'log every request' },
    ...HUMAN_OPTIONS,
  },
  positionals: [],
  async run(invocation) {
    const { args, out, machine } = invocation;
    if (machine === null) throw usageError('nothing can be served from here');
    const request = { ...requestOf(args), tracing: invocation.env.PHASEGATE_TRACING === '1' };
    const passphrase = passphraseFrom(args, 'passphrase-fd');
    const stopping = machine.stopping();
    const project = await invocation.project();
    const database = args.text('database');
    if (database !== undefined) project.keepRunsIn(database);
    project.demandPlaces();
    if (hasPassword(database)) await out.log(SEEN);
    const server = await machine.openServer({
      ...request,
      project,
      log: (line) => void out.log(line),
      settled: () => tellWorkflows(invocation, project),
    });
    try {
      // Only now: keys that the database refuses are not to be handed to other nodes.
      const notice = await project.keysNotice();
      if (notice !== null) await out.log(notice);
      await tellGuarded(invocation, server);
      // What it prints goes to a file there, where a link that signs in does not belong.
      if (!args.flag('background')) await greet(invocation, server, { passphrase, stopping });
      await Promise.race([aborted(stopping), server.idle]);
    } finally {
      await server.close();
    }
    return 0;
  },
};

const SEEN =
  'every user of this machine can read the password in `--database` among the processes; name the address in PHASEGATE_DATABASE instead';

function hasPassword(address: string | undefined): boolean {
  return address !== undefined && URL.canParse(address) && new URL(address).password !== '';
}

type Wanted = Omit<ServeRequest, 'project' | 'log'>;

function requestOf(args: Arguments): Wanted {
  const port = args.text('port');
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65536)) {
    throw usageError(
      `\`--port\` needs a number from 0 to 65535, not \`${port}\``,
      'leave it out for the port of the config (default 8000); 0 takes any that is free',
    );
  }
  const [cert, key] = [args.text('tls-cert'), args.text('tls-key')];
  if ((cert === undefined) !== (key === undefined)) {
    throw usageError('`--tls-cert` and `--tls-key` belong together');
  }
  const idle = args.text('idle') === undefined ? undefined : durationOption(args, 'idle', '1h');
  const [host, publicUrl] = [args.text('host'), args.text('public-url')];
  const metricsTokenFile = args.text('metrics-token-file');
  const socket = args.text('socket');
  return {
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(host === undefined ? {} : { host }),
    ...(socket === undefined ? {} : { socket: resolve(socket) }),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    ...(publicUrl === undefined ? {} : { publicUrl: publicOrigin(publicUrl) }),
    ...(metricsTokenFile === undefined ? {} : { metricsTokenFile }),
    ...(idle === undefined ? {} : { idleMs: idle.ms }),
    anyPort: args.flag('background'),
    behindProxy: args.flag('behind-proxy'),
    allowHosts: args.texts('allow-host').map((name) => hostName(name)),
    verbose: args.flag('verbose'),
  };
}

/** Links, sign-in and cookies are made for the root of a host; a path before them would break every one. */
function publicOrigin(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href) {
    throw usageError(
      `\`--public-url\`: \`${given}\` is not a scheme and a host; write it like \`https://build.example.com\`, without a path`,
    );
  }
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (url.protocol === 'http:' && !isThisMachine(name)) {
    throw usageError(
      `\`--public-url\`: over plain \`http\` everybody on the way to \`${name}\` reads what is sent there; use \`https\``,
    );
  }
  hostName(name, '--public-url');
  return url.origin;
}

/** A name that begins like an address of this machine is anybody's. */
function isThisMachine(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Agents that are started here may be sent to one of these with their keys: it must be a name or an address, and no more. */
function hostName(given: string, option = '--allow-host'): string {
  const bare = given.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const isName =
    NAME.test(bare) && URL.canParse(`https://${bare}/`) && new URL(`https://${bare}/`).host === bare;
  if (isName || isIP(bare) !== 0) {
    if (!EVERYWHERE.has(bare)) return bare;
    throw usageError(`\`${option}\`: \`${given}\` is every address and none; name the one that clients use`);
  }
  throw usageError(
    `\`${option}\`: \`${given}\` is not a host name; leave out scheme, port, path and wildcards`,
  );
}

const NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::', '0:0:0:0:0:0:0:0']);

/** A definition that is wrong is told when the server starts, and does not keep the others from being served. */
async function tellWorkflows({ out }: Invocation, { catalog }: Project): Promise<void> {
  const { checked, problems, unaccepted } = await catalog.validate([]);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const wrong = new Set(errors.map(({ file }) => file)).size;
  const count = `${checked.length} workflow${checked.length === 1 ? '' : 's'}`;
  const skipped = unaccepted.length === 0 ? '' : `, ${unaccepted.length} not accepted`;
  const said = wrong === 0 ? (skipped === '' ? ', all valid' : '') : `, ${wrong} with problems`;
  await out.log(`${count}${said}${skipped}${wrong + unaccepted.length === 0 ? '' : ':'}`);
  for (const problem of errors) await out.log(`  ${problemLine(problem)}`);
  for (const { workflow, path, closure } of unaccepted) {
    await out.log(
      `  ${path}: not accepted, so not run and not started: closure ${closure} (phasegate trust ${shellWord(workflow)})`,
    );
  }
}

/** What changed while no server ran keeps programs from being run, and that should not be a surprise. */
async function tellGuarded({ out }: Invocation, { open }: RunningServer): Promise<void> {
  const cards = await open.trust.guarded.cards();
  if (cards.length === 0) return;
  await out.log('changed while nobody looked, so no program is run before a human accepts it:');
  for (const { path, change } of cards)
    await out.log(`  ${oneLine(path)}: ${change} (phasegate trust --guarded)`);
}

interface Greeting {
  readonly passphrase: string | undefined;
  readonly stopping: AbortSignal;
}

async function greet(invocation: Invocation, server: RunningServer, greeting: Greeting): Promise<void> {
  const { out } = invocation;
  const { url, origin, pid } = server;
  const found = origin === url ? '' : `, for clients at ${origin}`;
  if (!out.json) await out.result({}, () => `serving at ${url}${found}`);
  const { human, why } = await whoSignsIn(invocation, server, greeting);
  const sign_in = human === undefined ? null : await server.signInLink(human);
  if (out.json) {
    const elsewhere = origin === url ? {} : { public_url: origin };
    return out.result({ url, ...elsewhere, pid, sign_in }, () => '');
  }
  await out.result({}, () => (sign_in === null ? why : `sign in, once and within ten minutes: ${sign_in}`));
}

/** Who the link is for: null before a human is set up, undefined where nobody proved who they are. */
async function whoSignsIn(
  invocation: Invocation,
  { open, origin }: RunningServer,
  { passphrase, stopping }: Greeting,
): Promise<{ readonly human: UnlockedHuman | null | undefined; readonly why: string }> {
  if ((await open.humans.list()).length === 0) return { human: null, why: '' };
  const why = `sign in with your passphrase at ${origin}/sign-in`;
  const humans = async () => open.humans;
  // A credential that was given and is wrong ends the command; a typing error at the terminal does not.
  if (passphrase !== undefined) {
    return { human: await unlockHuman(invocation, { read: passphrase, humans }), why };
  }
  if (invocation.prompts === null) return { human: undefined, why };
  try {
    return { human: await Promise.race([unlockHuman(invocation, { humans }), aborted(stopping)]), why };
  } catch (error) {
    if (!(error instanceof PhasegateError || error instanceof Cancelled)) throw error;
    return { human: undefined, why: `${error.message}; ${why}` };
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
