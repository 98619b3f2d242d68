import { type Command, isJsonObject, type Json, type StartRequest, type Verdict } from '@phasegate/core';

/** Puts a keyed hash in the place of what looks like a secret. */
export interface Masking {
  /** The same value, with masks in all its texts and names. Masked once more, it stays as it is. */
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
  const all = new RegExp([MASK, ...KNOWN, ...own].join('|'), 'gu');
  const isMask = new RegExp(`^${MASK}$`, 'u');
  // Only letters, digits and a hyphen: wherever it stands, it is read as one word.
  const masked = (found: string) => (isMask.test(found) ? found : `masked-${keyed(found).slice(0, 16)}`);
  const inText = (text: string) => (text.length < SHORTEST ? text : text.replace(all, masked));
  const inValue = (value: Json): Json => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map(inValue);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [inText(key), inValue(member as Json)]),
    );
  };
  return { mask: <T extends Json>(value: T) => inValue(value) as T };
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
    ...(hasSecret([target, named(target)]) ? ['the target'] : []),
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

/** What stands in the place of a secret. */
const MASK = String.raw`masked-[0-9a-f]{16}(?![\w-])`;

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
