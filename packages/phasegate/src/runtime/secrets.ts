import { compilePattern, type LinearPattern, MASK, type Span, type StepsLeft } from '@phasegate/core/model';

/** Finds what looks like a secret. */
export interface Secrets {
  /**
   * Where in the text, in order and apart from each other; null where finding out takes more steps than there are left.
   * Masks are not found again.
   */
  spans(text: string, steps: StepsLeft): readonly Span[] | null;
}

/**
 * Secrets by their form, and by patterns of the author's.
 *
 * INVARIANT: no text of an agent's meets an engine that goes back and tries again: everybody would wait for it. All is
 * matched in steps that are counted.
 */
export function secretsOf(own: readonly string[]): Secrets {
  const authors = own.map(compiled);

  return {
    spans(text, steps) {
      const found: Span[] = [];
      const keys = mayHold(text) ? [known(), ...authors] : authors;
      for (const key of keys) {
        const spans = spansIn(key, text, steps);
        if (spans === null) return null;
        for (const span of spans) found.push(span);
      }
      const addresses = text.includes(IN_ADDRESS) ? spansIn(address(), text, steps) : [];
      if (addresses === null) return null;
      for (const span of addresses) found.push(passwordIn(text, span));
      return found.length === 0 ? found : outsideMasks(merged(found), masksIn(text));
    },
  };
}

/** Nearly all texts have none, and that is cheaper to find out than where they are. */
function spansIn(pattern: LinearPattern, text: string, steps: StepsLeft): readonly Span[] | null {
  const isThere = pattern.test(text, steps);
  if (isThere === null) return null;
  return isThere ? pattern.spans(text, steps) : [];
}

/** Nearly no text has any of the words without which there is no key, and finding that out needs no pattern. */
function mayHold(text: string): boolean {
  return KNOWN.some(({ words }) => words.some((word) => text.includes(word)));
}

/** Made when a text first needs it: most commands of a short life meet none. */
function known(): LinearPattern {
  ofKeys ??= compiled(KNOWN.map(({ source }) => `(?:${source})`).join('|'));
  return ofKeys;
}

function address(): LinearPattern {
  ofAddresses ??= compiled(ADDRESS);
  return ofAddresses;
}

let ofKeys: LinearPattern | undefined;
let ofAddresses: LinearPattern | undefined;

function compiled(source: string): LinearPattern {
  const found = compilePattern(source);
  if (!found.ok) throw new TypeError(`the patterns of secrets cannot be matched: ${found.reason}`);
  return found.pattern;
}

/** The password of an address ends before its last character, and begins behind the colon after its user. */
function passwordIn(text: string, { from, to }: Span): Span {
  return { from: text.indexOf(':', text.indexOf('://', from) + 3) + 1, to: to - 1 };
}

/** Overlapping spans as one. */
function merged(spans: readonly Span[]): readonly Span[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const last = found.at(-1);
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

function masksIn(text: string): readonly Span[] {
  return [...text.matchAll(MASKS)].map(({ index, 0: mask }) => ({ from: index, to: index + mask.length }));
}

/** Without those that are a mask or a part of one; one that begins or ends inside of a mask has all of it. */
function outsideMasks(spans: readonly Span[], masks: readonly Span[]): readonly Span[] {
  if (masks.length === 0) return spans;
  const found: Span[] = [];
  let at = 0;
  for (const { from, to } of spans) {
    while (at < masks.length && (masks[at] as Span).to <= from) at += 1;
    const touched: Span[] = [];
    for (let one = at; one < masks.length && (masks[one] as Span).from < to; one += 1)
      touched.push(masks[one] as Span);
    const [first] = touched;
    if (first !== undefined && first.from <= from && to <= first.to) continue;
    const last = touched.at(-1);
    found.push({ from: Math.min(from, first?.from ?? from), to: Math.max(to, last?.to ?? to) });
  }
  return merged(found);
}

const MASKS = new RegExp(MASK, 'gu');

/** What a key is written in: characters of base64, in words as long as keys have them, apart by blanks and new lines. */
const APART = String.raw`(?:\s|\\[nr])`;
const KEY_WORDS = `${APART}*(?:[A-Za-z0-9+/]{16,}=*${APART}+)*[A-Za-z0-9+/]{16,}=*`;
const KEY_HEADERS = `(?:${APART}+(?:Proc-Type: 4,ENCRYPTED|DEK-Info: [A-Z0-9-]+,[0-9A-F]+))*`;
const KEY_BEGINS = `-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----${KEY_HEADERS}`;
/** What is shorter than such a word belongs to a key only where that ends behind it. */
const KEY_ENDS = `${APART}*[A-Za-z0-9+/]{0,15}=*${APART}*-----END (?:[A-Z]+ ){0,3}PRIVATE KEY-----`;

/**
 * Texts whose form says that they are keys. Words such as `password=` are not enough: they stand in code everywhere.
 *
 * INVARIANT: none of them takes characters by which a shell does something. A human reads command lines with masks in
 * them, and what is behind a mask cannot be seen.
 */
const KNOWN: readonly Form[] = [
  // Amazon, GitHub, GitLab, Slack, Google, Stripe, npm, PyPI; OpenAI and Anthropic.
  { words: ['AKIA', 'ASIA'], source: String.raw`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b` },
  { words: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], source: String.raw`\bgh[pousr]_[A-Za-z0-9]{36,}\b` },
  { words: ['github_pat_'], source: String.raw`\bgithub_pat_\w{40,}\b` },
  { words: ['glpat-'], source: String.raw`\bglpat-[\w-]{20,}` },
  { words: ['xox'], source: String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,}` },
  { words: ['AIza'], source: String.raw`\bAIza[\w-]{35}` },
  { words: ['k_live_'], source: String.raw`\b[rs]k_live_[A-Za-z0-9]{16,}\b` },
  { words: ['npm_'], source: String.raw`\bnpm_[A-Za-z0-9]{36}\b` },
  { words: ['pypi-'], source: String.raw`\bpypi-[\w-]{50,}` },
  { words: ['sk-'], source: String.raw`\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{20,}` },
  // Signed tokens, ours too; private keys.
  { words: ['eyJ'], source: String.raw`\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}` },
  {
    words: ['PRIVATE KEY-----'],
    source: `${KEY_BEGINS}(?:${KEY_WORDS}|(?:${KEY_WORDS})?${KEY_ENDS})`,
  },
];

/** What a kind of key looks like. INVARIANT: a text that the pattern matches holds one of the words. */
interface Form {
  readonly words: readonly string[];
  readonly source: string;
}

/** An address with a password: masked is only that. */
const ADDRESS = String.raw`\b[a-z][a-z0-9+.-]+://[^\s/:@]*:[^\s/:@$\x60();|&<>{}'"\\]{6,}@`;
const IN_ADDRESS = '://';
