import { type Command, isJsonObject, type Json } from '@phasegate/core';

/** Puts a keyed hash in the place of what looks like a secret. */
export interface Masking {
  /** The same value, with masks in all its texts. */
  mask<T extends Json>(value: T): T;
}

/** Builds it. The same secret has the same mask, so that it can be followed; nobody without the key can try words. */
export function createMasking(
  /** Keyed, hex. */
  keyed: (secret: string) => string,
  /** The author's own patterns. */
  patterns: readonly string[] = [],
): Masking {
  const own = patterns.map((pattern) => `(?:${pattern})`);
  const all = new RegExp([...KNOWN, ...own].join('|'), 'gu');
  // Only letters, digits and a hyphen: wherever it stands, it is read as one word.
  const masked = (secret: string) => `masked-${keyed(secret).slice(0, 16)}`;
  const inText = (text: string) => (text.length < SHORTEST ? text : text.replace(all, masked));
  const inValue = (value: Json): Json => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map(inValue);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inValue(member as Json)]));
  };
  return { mask: <T extends Json>(value: T) => inValue(value) as T };
}

/** What an agent hands in, with masks in its own words: they are kept with the run, shown to humans and to other agents. */
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
      return { ...command, reason: mask(command.reason) };
    default:
      return command;
  }
}

/** No secret is shorter than this, and most texts are. */
const SHORTEST = 16;

/** Texts whose form says that they are keys. Words such as `password=` are not enough: they stand in code everywhere. */
const KNOWN: readonly string[] = [
  // Amazon, GitHub, GitLab, Slack, Google, Stripe, npm, PyPI; OpenAI and Anthropic.
  String.raw`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
  String.raw`\bgh[pousr]_[A-Za-z0-9]{36,255}\b`,
  String.raw`\bgithub_pat_[A-Za-z0-9_]{40,255}\b`,
  String.raw`\bglpat-[\w-]{20,64}`,
  String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,255}`,
  String.raw`\bAIza[\w-]{35}`,
  String.raw`\b[rs]k_live_[A-Za-z0-9]{16,255}\b`,
  String.raw`\bnpm_[A-Za-z0-9]{36}\b`,
  String.raw`\bpypi-[\w-]{50,}`,
  String.raw`\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{20,255}`,
  // Signed tokens, ours too; private keys; a password in an address.
  String.raw`\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`,
  String.raw`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)`,
  String.raw`(?<=\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,64}:)[^\s/:@]{6,}(?=@)`,
];
