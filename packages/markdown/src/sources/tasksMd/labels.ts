import { gateTitle } from './gateTitle.ts';

/** What a label says about the text after it. */
export type LabelKind =
  | 'criteria'
  | 'other_criteria'
  | 'estimate'
  | 'actual'
  | 'dependencies'
  | 'purpose'
  | 'status'
  | 'tasks'
  | 'gate'
  | 'other';

/** A label with the text up to the next one. */
export interface Label {
  readonly label: string;
  readonly kind: LabelKind;
  readonly value: string;
}

const LONGEST_LABEL = 120;
const BOLD = /\*\*([^*\n]{1,80}?)(?::\*\*|\*\*[ \t]{0,3}(?:\([^()]{0,80}\)[ \t]{0,3})?:)/g;
const BOLD_LINE = /^\*\*([^*\n]{1,60})\*\*$/;
const PLAIN_LINE = /^([A-Za-z][A-Za-z ]{1,40}?)[ \t]{0,3}:(?:[ \t]+(.*))?$/;

/**
 * The labels a line starts with: `**Label:** value`, `**Label**: value`, several of them on one line, or a known
 * one without bold. Empty when the line does not start with a label.
 */
export function labelsOf(line: string): readonly Label[] {
  const text = line.replace(/^[^\x21-\x7E]+/, '');
  if (!text.startsWith('**')) return plainLabel(text);
  const whole = BOLD_LINE.exec(text)?.[1];
  if (whole !== undefined && !/[.!?]$/.test(whole)) {
    const label = whole.replace(/:$/, '');
    return [{ label, kind: labelKind(label), value: '' }];
  }
  const found = [...text.matchAll(BOLD)].map((match) => {
    const label = match[1] ?? '';
    return { label, kind: labelKind(label), start: match.index, end: match.index + match[0].length };
  });
  // Bold words in the middle of a value are emphasis, unless they are a label we know or stand behind a bar.
  const labels = found.filter(
    ({ kind, start }, index) => index === 0 || kind !== 'other' || /[|·•]\s*$/.test(text.slice(0, start)),
  );
  if (labels[0]?.start !== 0) return [];
  return labels.map(({ label, kind, end }, index) => ({
    label,
    kind,
    value: text
      .slice(end, labels[index + 1]?.start)
      .trim()
      .replace(/(?:[|·•,;\\]|<br ?\/?>)+$/, '')
      .trim(),
  }));
}

/** What a label's words mean. */
export function labelKind(label: string): LabelKind {
  if (label.length > LONGEST_LABEL) return 'other';
  const words = wordsOf(label);
  const known = KINDS.find(([pattern]) => pattern.test(words));
  if (known !== undefined) return known[1];
  return gateTitle(label) === null ? 'other' : 'gate';
}

/**
 * Whether a label among criteria starts something else. `Tests` among groups that are all criteria is one more
 * group; after a plain list it is another list.
 */
export function endsCriteria(label: string, grouped: boolean): boolean {
  const words = wordsOf(label);
  if (labelKind(label) !== 'other' || OTHER_LISTS.test(words)) return true;
  return !grouped && PERHAPS_A_GROUP.test(words);
}

const KINDS: readonly (readonly [RegExp, LabelKind])[] = [
  [/^(?:task )?(?:[\w.-]{1,20} )?acceptance criteria$|^acceptance$/, 'criteria'],
  [/^(?:success|completion|exit|done) criteria$|^definition of done$|^done when$/, 'other_criteria'],
  [
    /^(?:(?:phase|task) )?(?:est(?:imated?)?\.? )?(?:time|effort|duration|hours)(?: estimates?| estimated| required)?$|^(?:estimates?|estimated|est\.?)$|^(?:human|praxis os|ai)(?: baseline| time| effort| estimate)+$|^praxis os$|^timeline$/,
    'estimate',
  ],
  [/^actual (?:time|effort|duration)$/, 'actual'],
  [
    /^(?:task |phase )?(?:dependencies|dependency|depends(?: on)?|prerequisites?|requires|blocked by)$/,
    'dependencies',
  ],
  [/^(?:phase |task )?(?:goals?|objectives?|purpose|description)$/, 'purpose'],
  [/^(?:task |phase |current )?status$/, 'status'],
  [/^(?:phase \S+ )?tasks?(?: list)?$/, 'tasks'],
];

const OTHER_LISTS =
  /^(?:sub ?-?tasks?|checklist|steps?|action(?:s| items| required)|implementation (?:steps?|details?|notes?|plan|approach|guidance)|technical (?:details?|notes?|approach)|approach|deliverables?|outputs?|files?.*|notes?|important|warning|risks?.*|mitigations?|rationale|evidence.*|references?|related.*|traceability|priority|owner|assignee|assigned.*|blockers?|complexity|context|details|examples?|commands?|commit.*|rollback.*|next steps?|results?|known issues?.*|parallel.*|resources?.*|skills?.*|why.*|how.*|what.*|validation (?:commands?|steps?|evidence)|verification (?:commands?|steps?))$/;
const PERHAPS_A_GROUP =
  /^(?:tests?|testing|(?:unit|integration) tests?|test .*|implementation|technical|validation|verification|requirements?.*|code.*)$/;

function plainLabel(text: string): readonly Label[] {
  const match = PLAIN_LINE.exec(text);
  if (match === null) return [];
  const label = match[1] ?? '';
  const kind = labelKind(label);
  // A word and a colon is ordinary prose; only labels that cannot be anything else count without bold.
  const sure = kind === 'criteria' || kind === 'dependencies' || kind === 'other_criteria' || kind === 'gate';
  const short = kind === 'estimate' || kind === 'actual' || kind === 'status';
  if (!sure && !(short && (match[2] ?? '').length < 60)) return [];
  return [{ label, kind, value: (match[2] ?? '').trim() }];
}

function wordsOf(label: string): string {
  return label
    .replace(/\([^()]*\)/g, ' ')
    .replace(/[^\x20-\x7E]+/g, ' ')
    .replace(/[*_`:]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
