import { plainProse } from './plainProse.ts';

const WHO =
  '(?:human|manual|user|person|people|someone|somebody|maintainer|reviewer|owner|stakeholder|lead|manager|management|supervisor|operator|customer|client|team|pm|po|qa|ceo|cto|ciso|boss|director|sponsor|committee|board|admin|administrator|architect|engineer|developer|editor|officer|colleague)s?';
const YES = '(?:approval|sign[- ]?off|consent|go[- ]ahead)s?';
const FROM = `(?:from|by|of) (?:an? |the |your |its |at least |one |two )*${WHO}`;
const NECESSARY = '(?:required?|requires|needed|necessary|mandatory|compulsory|obligatory)';
/** Words that make an approval something to be had. */
const NEEDED = new RegExp(
  `\\b(?:${NECESSARY}|requiring|needs?|must|obtain|get|receive|secure|seek|await|awaits|wait|waits|ask|request|before|only after|until|unless|without|(?:not|never|non)[- ](?:optional|negotiable)|(?:cannot|can't|not|never)(?: be)? (?:skip|bypass|omit|waive)\\w*)\\b`,
);

const HUMAN_YES = new RegExp(`\\b(?:${WHO}(?:'s)?(?: \\w+){0,2} ${YES}|sign[- ]?offs?)\\b`);
const YES_FROM = new RegExp(`\\b${YES} (?:\\w+ )?${FROM}\\b`);
/** Demands in themselves, no matter who is to say yes. */
const DEMANDS = [
  new RegExp(`\\b(?:wait|stop|pause|ask|asks|request|present)\\b(?: \\w+){0,6} for (?:\\w+ )?(?:${YES})\\b`),
  new RegExp(`\\b(?:approval|sign[- ]?off)s?(?: (?:is|are))?(?: \\w+)? ${NECESSARY}\\b`),
  // No yes, no release.
  new RegExp(`\\bno (?:\\w+ )?${YES}, no \\w+`),
  // A human must approve it, and it must be approved by a human.
  new RegExp(
    `\\b${WHO}(?: \\w+)? (?:must|has to|have to|needs? to|shall)(?: \\w+){0,3} (?:approve|sign(?: it)? off)\\b`,
  ),
  new RegExp(
    `\\b(?:must|has to|have to|needs? to|shall) (?:first )?be (?:\\w+ and )?(?:approved|signed off)(?: \\w+)? by (?:an? |the |your )?(?:\\w+ )?${WHO}\\b`,
  ),
  new RegExp(
    `\\b(?:until|unless|only after|only if|only when) (?:an? |the |your )?(?:\\w+ )?${WHO}(?: \\w+)? (?:approves?|approved|signs? off|signed off)\\b`,
  ),
];

/** Tests and documents that are called so, approvals no human gives, and one that is only an example. */
const OTHER = [
  /\b(?:approval|sign[- ]?off)s? (?:tests?|testing|snapshots?|flags?|fields?|status|date|docs?|documents?|templates?)\b/g,
  /\b(?:automated|automatic|agent|bot|ci) approvals?\b/g,
  new RegExp(`\\b(?:example|e\\.g\\.?|such as),? (?:\\w+ ){0,4}${YES}\\b`, 'g'),
];

const NOT = "(?:not|never|no longer|isn't|aren't|wasn't|don't|doesn't|needn't|won't|cannot|can't)";
const ANY_YES = `(?:${WHO}(?:'s)?(?: \\w+){0,2} )?${YES}(?: (?:\\w+ )?${FROM})?(?:,? (?:or|nor|and) (?:\\w+ )?${YES})*`;
const BETWEEN = `(?: (?!(?:${NECESSARY}|must|needs?|not|never)\\b)[\\w-]+){0,6}`;
const FILL = '(?:to |yet |have |has |be |strictly |normally |usually |currently |actually |always )*';
/** What takes a demand back: the negation is said of the demand itself. */
const WAIVED = [
  new RegExp(`\\b${ANY_YES}:?${BETWEEN} ${NOT} ${FILL}${NECESSARY}\\b`, 'g'),
  new RegExp(
    `\\b(?:no|neither|nor) (?:(?:further|additional|other|explicit|formal|prior|separate|extra) )*${ANY_YES}\\b(?!, no )(?:${BETWEEN} ${NECESSARY}\\b)?`,
    'g',
  ),
  new RegExp(`\\b${NOT} ${FILL}(?:needs?|${NECESSARY})\\b:?(?: (?!before\\b)\\w+){0,4}? ${ANY_YES}\\b`, 'g'),
  new RegExp(
    `\\b${NOT} ${FILL}(?:wait|stop|pause|ask|request|seek|get|obtain|await)\\b(?: (?!before\\b)\\w+){0,4}? ${ANY_YES}\\b(?!.*\\bbefore\\b)`,
    'g',
  ),
  new RegExp(
    `\\b${ANY_YES}(?: (?:is )?${NECESSARY})?[:=?-]+ ?(?:no|none|false|n/a|unneeded|unnecessary)[.!]?$`,
    'g',
  ),
  new RegExp(
    `\\bno ${WHO}(?: \\w+)? (?:must|has to|have to|needs? to|shall)(?: \\w+){0,3} (?:approve|sign off)\\b`,
    'g',
  ),
  new RegExp(`\\b${WHO} (?:must|shall|need) not(?: \\w+){0,3} (?:approve|sign off)\\b`, 'g'),
  new RegExp(`\\b${NOT} (?:have|need) to be (?:\\w+ and )?(?:approved|signed off)\\b`, 'g'),
];
/** A waiver with an exception is a demand in that case. */
const EXCEPTION = /\b(?:unless|until|except)\b/;
/** "Without approval" lets go on, unless it is what must not be. */
const WITHOUT = new RegExp(`\\bwithout (?:\\w+ ){0,3}?${ANY_YES}\\b`, 'g');
const FORBIDDEN =
  /\b(?:not|no|never|none|nobody|nothing|cannot|\w+n't|forbidden|prohibited|disallowed|refused|rejected|violat\w+|fail\w*|stop\w*|must)\b/;

/** Whether a sentence demands that a human approves or signs off. */
export function demandsApproval(sentence: string): boolean {
  const text = OTHER.reduce((rest, other) => rest.replace(other, ' '), wordsOf(sentence));
  if (!isDemand(text)) return false;
  if (EXCEPTION.test(text)) return true;
  const left = WAIVED.reduce((rest, waived) => rest.replace(waived, ' '), text);
  return isDemand(FORBIDDEN.test(left) ? left : left.replace(WITHOUT, ' '));
}

function wordsOf(sentence: string): string {
  return plainProse(sentence)
    .replace(/"[^"]*"|“[^”]*”/g, ' ')
    .replace(/[*_#>|`[\]()\\~]+/g, ' ')
    .replace(/-(?=approval)/gi, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[:,.;?!])/g, '')
    .trim()
    .toLowerCase();
}

function isDemand(text: string): boolean {
  const spoken = HUMAN_YES.test(text) || YES_FROM.test(text);
  return (spoken && NEEDED.test(text)) || DEMANDS.some((demand) => demand.test(text));
}
