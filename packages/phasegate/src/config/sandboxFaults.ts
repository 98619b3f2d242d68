import { isJsonObject, type Json } from '@phasegate/core';
import { hostProblem, unknownKey } from '@phasegate/core/model';
import type { ConfigFault } from './configFault.ts';

/** What is wrong with the config's `sandbox`: `on` or `off`, or a map that says more. */
export function sandboxFaults(value: Json, key: string): readonly ConfigFault[] {
  if (value === 'on' || value === 'off') return [];
  if (!isJsonObject(value)) {
    return [{ path: [key], code: 'bad_value', message: '`sandbox` must be `on`, `off` or a map' }];
  }
  return Object.entries(value).flatMap(([name, member]) => memberFaults(key, name, member as Json));
}

function memberFaults(key: string, name: string, member: Json): readonly ConfigFault[] {
  const path = [key, name];
  if (name === 'programs') {
    if (member === 'on' || member === 'off') return [];
    return [{ path, code: 'bad_value', message: '`sandbox.programs` must be `on` or `off`' }];
  }
  if (name === 'hosts') {
    const isHost = (item: Json) => typeof item === 'string' && hostProblem(item) === null;
    if (Array.isArray(member) && member.every(isHost)) return [];
    const message = '`sandbox.hosts` must be a list of hosts: `host`, `*.domain` or `host:port`';
    return [{ path, code: 'bad_value', message }];
  }
  if (name === 'memory') {
    if (typeof member === 'number' && Number.isSafeInteger(member) && isMemory(member)) return [];
    const message = `\`sandbox.memory\` must be a whole number of MB for each process, ${LEAST_MB} to ${MOST_MB}`;
    return [{ path, code: 'bad_value', message }];
  }
  if (name !== 'read' && name !== 'write') {
    const message = `${unknownKey(name, [])}: \`sandbox\` has \`programs\`, \`read\`, \`write\`, \`hosts\` and \`memory\``;
    return [{ path, code: 'unknown_key', message }];
  }
  const isPlace = (item: Json) => typeof item === 'string' && /^(?:\/|~\/)[^\0]/.test(item);
  if (Array.isArray(member) && member.every((item: Json) => isPlace(item) && !isTooMuch(String(item))))
    return [];
  const message = `\`sandbox.${name}\` must be a list of folders, each from \`/\` or \`~/\`, without \`..\``;
  return [{ path, code: 'bad_value', message }];
}

/** With less, hardly any program starts. */
const LEAST_MB = 256;
const MOST_MB = 1_048_576;

function isMemory(megabytes: number): boolean {
  return megabytes >= LEAST_MB && megabytes <= MOST_MB;
}

function isTooMuch(place: string): boolean {
  return place.split('/').includes('..') || ['/', '/proc', '/sys', '/dev', '/run'].includes(place);
}
