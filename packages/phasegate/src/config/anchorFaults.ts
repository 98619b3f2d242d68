import { isJsonObject, type Json } from '@phasegate/core';
import { parseDuration, unknownKey } from '@phasegate/core/model';
import type { ConfigFault } from './configFault.ts';

/** What is wrong with the config's `anchors`: where they are kept outside, and how often one is made. */
export function anchorFaults(value: Json, key: string): readonly ConfigFault[] {
  if (!isJsonObject(value)) return [fault([key], '`anchors` must be a map with `file` or `git_note`')];
  const faults = Object.entries(value).flatMap(([name, member]) => memberFaults(key, name, member as Json));
  if (faults.length > 0 || value.file !== undefined || value.git_note === true) return faults;
  return [fault([key], '`anchors` names no place: add `file` or `git_note: true`')];
}

function memberFaults(key: string, name: string, member: Json): readonly ConfigFault[] {
  const path = [key, name];
  switch (name) {
    case 'file': {
      const isPlace = typeof member === 'string' && /^(?:\/|~\/)[^\0]/.test(member);
      return isPlace ? [] : [fault(path, '`anchors.file` must be a path from `/` or `~/`')];
    }
    case 'git_note':
      return typeof member === 'boolean' ? [] : [fault(path, '`anchors.git_note` must be true or false')];
    case 'every': {
      const seconds = typeof member === 'string' ? parseDuration(member) : null;
      const isTime = seconds !== null && seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS;
      return isTime ? [] : [fault(path, '`anchors.every` must be a time from `1m` to `7d`, such as `1h`')];
    }
    default: {
      const message = unknownKey(name, ['file', 'git_note', 'every']);
      return [{ path, code: 'unknown_key', message }];
    }
  }
}

const LEAST_SECONDS = 60;
const MOST_SECONDS = 7 * 86_400;

function fault(path: readonly string[], message: string): ConfigFault {
  return { path, code: 'bad_value', message };
}
