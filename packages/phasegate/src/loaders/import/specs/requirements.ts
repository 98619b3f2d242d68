import { type Marked, markedLines } from './markdownKeys.ts';

/** A requirement and when it is met. */
export interface Requirement {
  readonly name: string;
  readonly line: number;
  readonly criteria: string[];
}

const REQUIREMENT = /^(?:Requirement|User Story|Bug|Property)\b/i;
const NUMBERED = /^\*\*((?:FR|NFR|SC)-\d+[a-z]?)\*\*\s*:?\s*(.*)$/i;

/**
 * The requirements of a specification: sections called `Requirement` or `User Story` with the lists and scenarios in
 * them, and numbered ones such as `FR-001`.
 */
export function requirementsIn(text: string): readonly Requirement[] {
  const found: Requirement[] = [];
  let open: { readonly requirement: Requirement; readonly level: number } | null = null;
  let group = '';
  for (const marked of markedLines(text)) {
    if (marked.kind === 'heading') {
      const change = /^(ADDED|MODIFIED|REMOVED|RENAMED)\b/.exec(marked.text)?.[1];
      if (change !== undefined) group = `${change.toLowerCase()}: `;
      if (REQUIREMENT.test(marked.text)) {
        const requirement = { name: `${group}${marked.text}`, line: marked.line, criteria: [] };
        found.push(requirement);
        open = { requirement, level: marked.level };
      } else if (open !== null && marked.level <= open.level) open = null;
      else if (open !== null && /^Scenario\b/i.test(marked.text)) open.requirement.criteria.push(marked.text);
      continue;
    }
    if (marked.kind === 'label') continue;
    const numbered = NUMBERED.exec(marked.text);
    if (numbered !== null) {
      found.push({ name: numbered[1] ?? '', line: marked.line, criteria: [plain(numbered[2] ?? '')] });
    } else if (open !== null) add(open.requirement, marked);
  }
  return found;
}

function add({ criteria }: Requirement, { text }: Marked): void {
  const last = criteria.at(-1);
  // The steps of a scenario are one criterion.
  if (last !== undefined && /^Scenario\b/i.test(last))
    criteria[criteria.length - 1] = `${last}; ${plain(text)}`;
  else criteria.push(plain(text));
}

function plain(text: string): string {
  return text.replace(/\*\*/g, '').trim();
}
