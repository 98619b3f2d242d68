import {
  type Command,
  isJsonObject,
  type Json,
  type JsonObject,
  type StartRequest,
  type Verdict,
} from '@phasegate/core';
import { maskOf, type StepsLeft } from '@phasegate/core/model';
import { secretsOf } from './secrets.ts';

/** Puts a keyed hash in the place of what looks like a secret. */
export interface Masking {
  /** The same value, with masks in all its texts and names. Masked once more, it stays as it is. */
  mask<T extends Json>(value: T): T;
}

/** Builds it. The same secret has the same mask, so that it can be followed; nobody without the key can try words. */
export function createMasking(
  /** Keyed, hex. */
  keyed: (secret: string) => string,
  /** The author's own patterns. Throws where one cannot be matched in bounded time. */
  patterns: readonly string[] = [],
  /** Secrets that are known by their very words. */
  words: readonly string[] = [],
): Masking {
  const secrets = secretsOf(patterns);
  const masked = (secret: string) => maskOf(keyed(secret), secret.length);
  const inText = (given: string, steps: StepsLeft) => {
    if (given.length < SHORTEST) return given;
    const text = words.reduce((rest, word) => rest.replaceAll(word, () => masked(word)), given);
    const found = secrets.spans(text, steps);
    // When in doubt it is a secret: but it is said how much is not shown.
    if (found === null) return masked(text);
    let [out, at] = ['', 0];
    for (const { from, to } of found) {
      out += text.slice(at, from) + masked(text.slice(from, to));
      at = to;
    }
    return at === 0 ? text : out + text.slice(at);
  };
  const inValue = (value: Json, steps: StepsLeft): Json => {
    if (typeof value === 'string') return inText(value, steps);
    if (Array.isArray(value)) return inList(value, steps);
    return isJsonObject(value) ? inObject(value, steps) : value;
  };
  // Nearly nothing has a secret in it, and what has none is given back as it is: a copy would be made for each call.
  const inList = (list: readonly Json[], steps: StepsLeft): Json => {
    let copy: Json[] | undefined;
    for (let at = 0; at < list.length; at += 1) {
      const one = list[at] as Json;
      const masked = inValue(one, steps);
      if (masked === one) continue;
      copy ??= [...list];
      copy[at] = masked;
    }
    return copy ?? (list as Json);
  };
  const inObject = (object: JsonObject, steps: StepsLeft): Json => {
    const keys = Object.keys(object);
    let copy: [string, Json][] | undefined;
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as string;
      const member = object[key] as Json;
      const name = inText(key, steps);
      const masked = inValue(member, steps);
      if (copy === undefined) {
        if (name === key && masked === member) continue;
        copy = keys.slice(0, at).map((before) => [before, object[before] as Json]);
      }
      copy.push([name, masked]);
    }
    return copy === undefined ? object : Object.fromEntries(copy);
  };
  return { mask: <T extends Json>(value: T) => inValue(value, { left: STEPS_FOR_A_VALUE }) as T };
}

/** What somebody submits, with masks in their own words: they are kept with the run, shown to humans and to agents. */
export function maskedCommand<C extends Command>(command: C, { mask }: Masking): C {
  switch (command.kind) {
    case 'complete': {
      const { evidence, reason } = command;
      return {
        ...command,
        evidence: mask(evidence),
        ...(reason === undefined ? {} : { reason: mask(reason) }),
      };
    }
    case 'ask':
      return { ...command, questions: mask(command.questions as unknown as Json) };
    case 'report_blocked':
    case 'report_failure':
    case 'stop':
    // Masked before it was signed, too.
    case 'override':
    case 'fence':
      return { ...command, reason: mask(command.reason) };
    case 'answer':
      return { ...command, text: mask(command.text) };
    case 'resume':
      return command.note === undefined ? command : { ...command, note: mask(command.note) };
    // Masked before it was signed, too: one that was signed with the secret in it is signed by nobody.
    case 'decide':
      return command.input === undefined ? command : { ...command, input: mask(command.input) };
    case 'escalate':
      return { ...command, message: mask(command.message) };
    default:
      return command;
  }
}

/**
 * A request to start a run with masks in its goal, which nothing is decided on. Params and the target are: conditions
 * read them and programs are given them, so a mask would be taken for the value. With a secret in one of them it is
 * refused.
 */
export function maskedStart(
  request: StartRequest,
  { mask }: Masking,
  /** How a target may be called in the run. */
  named: (target: string) => string,
): { readonly request: StartRequest } | { readonly refused: Verdict & { readonly allowed: false } } {
  const hasSecret = (value: Json) => JSON.stringify(mask(value)) !== JSON.stringify(value);
  const params = Object.entries(request.params ?? {});
  const target = request.target ?? '';
  const [found] = [
    ...(target !== '' && hasSecret([target, named(target)]) ? ['the target'] : []),
    ...params.filter(([name, value]) => hasSecret([name, value])).map(([name]) => `param \`${mask(name)}\``),
  ];
  if (found !== undefined) return { refused: secretRefused(found) };
  const { goal } = request;
  return { request: goal === undefined ? request : { ...request, goal: mask(goal) } };
}

function secretRefused(where: string): Verdict & { readonly allowed: false } {
  const message = `${where} looks like a secret: it would be kept in the audit for ever, and shown to all who see the run`;
  const text =
    'start again without it: put the secret where its program finds it, such as a variable of its environment, and give the name of that';
  return {
    allowed: false,
    blockers: [{ code: 'param_invalid', message, nextAction: { act: 'start', text } }],
  };
}

/** No secret is shorter than this, and most texts are. */
const SHORTEST = 16;

/** Some tenths of a second, for texts that were made to cost them; the whole of a large answer takes a part of it. */
const STEPS_FOR_A_VALUE = 10_000_000;
