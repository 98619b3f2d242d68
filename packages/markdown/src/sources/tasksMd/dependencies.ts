import { taskKey } from './headers.ts';

/** The ids a document knows. */
export interface KnownIds {
  /** Key of a task → its id as defined. */
  readonly tasks: ReadonlyMap<string, string>;
  /** All ids in the order of the document. */
  readonly order: readonly string[];
  /** Id of a task → where it stands in that order. */
  readonly places: ReadonlyMap<string, number>;
  /** Lower-case id of a phase → its id. */
  readonly phases: ReadonlyMap<string, string>;
}

/** What a line about dependencies says. */
export interface Dependencies {
  /** Ids of tasks as defined, and `Phase N`. */
  readonly ids: readonly string[];
  /** The author's words, where they say more than ids. */
  readonly note: string;
  /** Ids that are defined nowhere. */
  readonly unknown: readonly string[];
  /** True when the words name nothing that could be resolved. */
  readonly prose: boolean;
}

// A longer range is a slip of the pen, or meant to fill our memory.
const MAX_RANGE = 200;

const TASK_ID = String.raw`(?:task[-_](?:[A-Z]+[-_])*\d+(?:\.\d+)*[a-z]?|P\d+[A-Za-z]?-T\d+(?:\.\d+)?[a-z]?|T\d{3,4}|\d+[A-Za-z]?(?:\.\d+)+[a-z]?|[A-Z]\.\d+)`;
const TO = String.raw`\s*(?:-|–|—|\bto\b|\bthrough\b|\bthru\b|\.\.\.?)\s*`;
const NUMBER = String.raw`\d+[A-Za-z]?(?!\w|\.\d)`;
const LIST = String.raw`${NUMBER}(?:(?:\s*(?:,\s*and\b|,|&|\+|-|–|\band\b|\bto\b|\bthrough\b)\s*)(?:phase\s+)?${NUMBER})*`;
const REFERENCE = new RegExp(
  String.raw`\b(phases?|task\s+groups?|tasks?)\s+(${LIST})|(?<![\w.-])(${TASK_ID})(?!\w)(?:${TO}(?:tasks?\s+)?(${TASK_ID}|\d{3})(?!\w|\.\d))?`,
  'gi',
);
const NONE = /^(?:none|n\/?a|nil|nothing|no (?:hard |external )?dependenc(?:y|ies)|[-–—])(?=$|[\s(,.;:–—-])/i;
const FILLING =
  /\b(?:tasks?|phases?|all|and|or|of|the|from|in|on|to|be|must|complete[d]?|completion|finished|done|requires?|depends?|after|previous(?:ly)?|both|is|are)\b|[\s,.;:&+()*`|/–—-]+/gi;

/** Reads what stands after `Dependencies:`. `None` means none, whatever follows it. */
export function readDependencies(text: string, known: KnownIds): Dependencies {
  const words = text
    .replace(/\*\*|`|\p{Extended_Pictographic}\uFE0F?/gu, '')
    .trim()
    .replace(/\.$/, '');
  const none = NONE.exec(words);
  if (words === '' || none !== null) {
    const note = words.slice(none?.[0].length ?? 0).replace(/^[\s,.;:–—-]+/, '');
    return { ids: [], note: unwrap(note), unknown: [], prose: false };
  }
  // What is in brackets explains; it only counts where nothing outside names anything.
  const outside = words.replace(/\([^()]*\)/g, ' ');
  const plain = REFERENCE.test(outside) ? outside : words;
  REFERENCE.lastIndex = 0;
  const found = new Set<string>();
  const unknown = new Set<string>();
  const bareOnly = plain.replace(REFERENCE, ' ').replace(FILLING, '') === '';
  for (const match of plain.matchAll(REFERENCE)) {
    for (const id of referenced(match, known)) {
      const resolved = resolve(id, known);
      if (resolved !== null) found.add(resolved);
      else if (bareOnly || !/^\d/.test(id)) {
        found.add(id);
        unknown.add(id);
      }
    }
  }
  const said = words.replace(REFERENCE, ' ').replace(FILLING, '') !== '' || found.size === 0;
  return { ids: [...found], note: said ? unwrap(words) : '', unknown: [...unknown], prose: found.size === 0 };
}

function referenced(match: RegExpExecArray, known: KnownIds): readonly string[] {
  const [, noun, list, first, last] = match;
  if (list !== undefined) {
    const isTask = /^tasks?$/i.test(noun ?? '');
    return expandList(list).map((number) => (isTask ? number : `Phase ${number}`));
  }
  if (first === undefined) return [];
  return last === undefined ? [first] : expandRange(first, last, known);
}

/** `1, 2 and 3`, `1-3`. */
function expandList(list: string): readonly string[] {
  const ids: string[] = [];
  const parts = [...list.matchAll(/(-|–|\bto\b|\bthrough\b)?\s*(?:phase\s+)?(\d+[A-Za-z]?)/gi)];
  for (const [, to, id = ''] of parts) {
    const from = Number(ids.at(-1));
    if (to !== undefined && Number.isInteger(from) && Number(id) - from < MAX_RANGE) {
      for (let number = from + 1; number < Number(id); number++) ids.push(String(number));
    }
    ids.push(id);
  }
  return ids;
}

/** The tasks from one id to another: as the document has them, else by counting. */
function expandRange(first: string, last: string, known: KnownIds): readonly string[] {
  const from = known.places.get(known.tasks.get(taskKey(first)) ?? '') ?? -1;
  const to = known.places.get(known.tasks.get(taskKey(last)) ?? '') ?? -1;
  if (from >= 0 && to >= from && to - from < MAX_RANGE) return known.order.slice(from, to + 1);
  const [, stem = '', start = ''] = /^(.*?)(\d+)$/.exec(first) ?? [];
  const [, other = '', end = ''] = /^(.*?)(\d+)$/.exec(last) ?? [];
  const count = Number(end) - Number(start);
  const countable = start !== '' && end !== '' && count >= 0 && count < MAX_RANGE;
  if (!countable || (other !== '' && other.toLowerCase() !== stem.toLowerCase())) return [first, last];
  return Array.from({ length: count + 1 }, (_, step) => {
    return `${stem}${String(Number(start) + step).padStart(start.length, '0')}`;
  });
}

function resolve(id: string, { tasks, phases }: KnownIds): string | null {
  const phase = /^Phase (.+)$/.exec(id)?.[1];
  if (phase === undefined) return tasks.get(taskKey(id)) ?? null;
  const known = phases.get(phase.toLowerCase());
  return known === undefined ? null : `Phase ${known}`;
}

function unwrap(text: string): string {
  return (/^\(([^()]*)\)$/.exec(text)?.[1] ?? text).trim();
}
