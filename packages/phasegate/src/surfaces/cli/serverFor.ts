import type { Arguments, CliCommand, Server } from './command.ts';
import type { Environment } from './environment.ts';
import { usageError } from './usage.ts';

/** A command about to be run. */
export interface Asked {
  readonly name: string;
  readonly command: Pick<CliCommand, 'server'>;
  readonly args: Pick<Arguments, 'text'>;
  readonly env: Environment;
}

/**
 * The server a command is to use, or null. Nobody who names one is served from elsewhere: a command that cannot use it
 * says so, unless it is about files and programs here and the server is only in the environment.
 */
export function serverFor({ name, command, args, env }: Asked): Server | null {
  const server = namedServer(args.text('url'), env.PHASEGATE_URL);
  if (server === null) return null;
  const { url, from } = server;
  const how = from === '--url' ? 'leave out `--url`' : 'unset PHASEGATE_URL';
  if (command.server === undefined || (command.server === 'ignored' && from === '--url')) {
    throw usageError(
      `\`phasegate ${name}\` works where the project is, and \`${from}\` names a server`,
      `${how}, and run it on the machine of the project`,
    );
  }
  if (command.server === 'used' && args.text('project') !== undefined) {
    throw usageError(`\`--project\` names a folder and \`${from}\` a server: only one can be meant`, how);
  }
  // Not repeated in the message: it may hold what does not belong there.
  if (!(/^https?:\/\//i.test(url) && URL.canParse(url)) && !/^unix:\/./.test(url)) {
    throw usageError(
      `\`${from}\` is not an http or https address, and not \`unix:\` with the path of a socket`,
      'write it as `phasegate serve` prints it: `http://127.0.0.1:8000`',
    );
  }
  return server;
}

function namedServer(given: string | undefined, environment: string | undefined): Server | null {
  if (given !== undefined) return { url: given, from: '--url' };
  return (environment ?? '') === '' ? null : { url: environment ?? '', from: 'PHASEGATE_URL' };
}
