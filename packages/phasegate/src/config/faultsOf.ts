import { isJsonObject, type Json } from '@phasegate/core';
import { compilePattern, unknownKey } from '@phasegate/core/model';
import { anchorFaults } from './anchorFaults.ts';
import type { ConfigFault } from './configFault.ts';
import { sandboxFaults } from './sandboxFaults.ts';
import { serverFaults } from './serverFaults.ts';

type Rule = (value: Json, key: string) => readonly ConfigFault[];

/** Everything wrong with a config's value; nothing when it can be used as it is. */
export function faultsOf(value: Json): readonly ConfigFault[] {
  if (value === null) return [];
  if (!isJsonObject(value)) return [fault([], 'the config must be a map of settings')];
  return Object.entries(value).flatMap(([key, member]) => {
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
    if (rule !== undefined) return rule(member as Json, key);
    return [
      {
        path: [key],
        code: 'unknown_key',
        message: unknownKey(key, Object.keys(RULES)),
      },
    ];
  });
}

const RULES: Readonly<Record<string, Rule>> = {
  workflows: globs,
  docs: globs,
  port: (value, key) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535
      ? []
      : [fault([key], '`port` must be a number from 1 to 65535')],
  database: (value, key) =>
    typeof value === 'string' && value !== '' ? [] : [fault([key], '`database` must be a URL')],
  tools: (value, key) => {
    if (!isJsonObject(value)) return [fault([key], '`tools` must be a map from a group to its tools')];
    return Object.entries(value).flatMap(([group, tools]) => texts(tools as Json, [key, group]));
  },
  checks: (value, key) =>
    isJsonObject(value) ? [] : [fault([key], '`checks` must be a map from a check to its settings')],
  clients: (value, key) => texts(value, [key]),
  servers: serverFaults,
  sandbox: sandboxFaults,
  anchors: anchorFaults,
  secrets: expressions,
};

function expressions(value: Json, key: string): readonly ConfigFault[] {
  const faults = texts(value, [key]);
  if (faults.length > 0) return faults;
  return (value as readonly string[]).flatMap((pattern, index) => {
    const problem = secretProblem(pattern);
    return problem === null ? [] : [fault([key, index], `\`${pattern}\` ${problem}`)];
  });
}

/** They meet texts of agents: what goes back and tries again could be made to do so for ever. */
function secretProblem(pattern: string): string | null {
  const compiled = compilePattern(pattern);
  if (compiled.ok) {
    const isFound = compiled.pattern.test('', { left: Number.MAX_SAFE_INTEGER });
    return isFound === true ? 'matches the empty text, so it would mask everything' : null;
  }
  if (compiled.reason === null) return 'is not a regular expression';
  return `cannot be matched in bounded time: it has ${compiled.reason}; write it without`;
}

function globs(value: Json, key: string): readonly ConfigFault[] {
  const faults = texts(value, [key]);
  if (faults.length > 0) return faults;
  return (value as readonly string[]).flatMap((glob, index) =>
    glob.startsWith('/') || glob.split(/[/\\]/).includes('..')
      ? [{ path: [key, index], code: 'path_outside', message: `\`${glob}\` leaves the project` }]
      : [],
  );
}

function texts(value: Json, path: readonly (string | number)[]): readonly ConfigFault[] {
  if (!Array.isArray(value)) return [fault(path, `\`${path.join('.')}\` must be a list of texts`)];
  return value.flatMap((item: Json, index) =>
    typeof item === 'string' && item !== ''
      ? []
      : [fault([...path, index], `\`${path.join('.')}\` must be a list of texts`)],
  );
}

function fault(path: readonly (string | number)[], message: string): ConfigFault {
  return { path, code: 'bad_value', message };
}
