import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { isLoopbackHost, isOwnVariable } from '@phasegate/core/contract';
import { unknownKey } from '@phasegate/core/model';
import type { ConfigFault } from './configFault.ts';

/** Everything wrong with the attached servers of a config. */
export function serverFaults(value: Json, key: string): readonly ConfigFault[] {
  if (!isJsonObject(value)) return [fault([key], '`servers` must be a map from a name to a server')];
  return Object.entries(value).flatMap(([name, server]) => {
    const path = [key, name];
    if (!NAME.test(name)) {
      return [
        fault(
          path,
          `\`${name}\` is not a name for a server: letters, digits, \`_\`, \`.\` and \`-\` are taken`,
        ),
      ];
    }
    if (!isJsonObject(server)) return [fault(path, `\`${name}\` must be a map with \`command\` or \`url\``)];
    return oneServer(server, path);
  });
}

type Path = readonly (string | number)[];

/** As in `mcp:NAME/TOOL`. */
const NAME = /^[A-Za-z0-9_.-]+$/;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const KINDS = { command: ['command', 'env'], url: ['url', 'headers_from_env'] } as const;

function oneServer(server: JsonObject, path: Path): readonly ConfigFault[] {
  const kinds = (['command', 'url'] as const).filter((kind) => Object.hasOwn(server, kind));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    return [fault(path, `\`${path.join('.')}\` must have either \`command\` or \`url\``)];
  }
  const known: readonly string[] = KINDS[kind];
  const unknown = Object.keys(server)
    .filter((member) => !known.includes(member))
    .map((member) => ({
      path: [...path, member],
      code: 'unknown_key',
      message: unknownKey(member, known),
    }));
  return [...unknown, ...(kind === 'command' ? commandFaults(server, path) : urlFaults(server, path))];
}

function commandFaults({ command, env = {} }: JsonObject, path: Path): readonly ConfigFault[] {
  const words = Array.isArray(command) && command.length > 0 && command.every(isWord);
  const faults = words
    ? []
    : [fault([...path, 'command'], '`command` must be a list of words that starts with a program')];
  if (!isJsonObject(env)) return [...faults, fault([...path, 'env'], '`env` must map names to texts')];
  const bad = Object.entries(env).filter(
    ([name, value]) => !VARIABLE.test(name) || typeof value !== 'string' || isOwnVariable(name),
  );
  return [
    ...faults,
    ...bad.map(([name]) => fault([...path, 'env', name], `\`env\` cannot set \`${name}\` to that`)),
  ];
}

function urlFaults({ url, headers_from_env: headers = {} }: JsonObject, path: Path): readonly ConfigFault[] {
  const problem = urlProblem(url);
  const faults = problem === null ? [] : [fault([...path, 'url'], `\`url\` ${problem}`)];
  if (!isJsonObject(headers)) {
    return [
      ...faults,
      fault([...path, 'headers_from_env'], '`headers_from_env` must map headers to variables'),
    ];
  }
  const bad = Object.entries(headers).filter(
    ([name, variable]) => !HEADER.test(name) || typeof variable !== 'string' || !VARIABLE.test(variable),
  );
  return [
    ...faults,
    ...bad.map(([name]) => fault([...path, 'headers_from_env', name], `\`${name}\` must name a variable`)),
  ];
}

function urlProblem(url: Json | undefined): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return 'must be a URL';
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'must not hold a credential; use `headers_from_env`';
  if (protocol === 'https:') return null;
  if (protocol !== 'http:') return 'must begin with `https:`';
  return isLoopbackHost(hostname) ? null : 'must begin with `https:` unless it is on this machine';
}

function isWord(value: Json): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

function fault(path: Path, message: string): ConfigFault {
  return { path, code: 'bad_value', message };
}
