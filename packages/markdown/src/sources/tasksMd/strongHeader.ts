import { gateTitle } from './gateTitle.ts';
import { groupHeader, phaseHeader, taskHeader } from './headers.ts';
import { labelKind, labelsOf } from './labels.ts';
import { bulletOf, headingOf } from './markup.ts';

/** Whether a line can only be the start of a phase or a task. `#` alone is more often a comment in some code. */
export function isStrongHeader(raw: string): boolean {
  const heading = headingOf(raw);
  if (heading !== null) {
    const { level, text } = heading;
    if (level < 2) return false;
    return phaseHeader(text) !== null || groupHeader(text) !== null || taskHeader(text)?.named === true;
  }
  const bullet = bulletOf(raw);
  return bullet !== null && bullet.box !== 'none' && taskHeader(bullet.text)?.strong === true;
}

/** Whether a line is a heading that documents of this kind have besides phases and tasks. */
export function isDocumentHeading(raw: string): boolean {
  const heading = headingOf(raw);
  if (heading === null || heading.level < 2) return false;
  const { level, text } = heading;
  if (gateTitle(text) !== null || /^[^\x21-\x7E]*phase\s+\d/i.test(text)) return true;
  return (
    level === 2 &&
    /^[^\x21-\x7E]*(?:(?:task |phase )?dependenc|risk|success|acceptance|testing|timeline|summary|quality|validation|definition of done)/i.test(
      text,
    )
  );
}

/** Whether a line starts with a label every task has, such as `**Acceptance Criteria:**`. */
export function startsKnownLabel(raw: string): boolean {
  const [first] = labelsOf(raw.trim().replace(/^[-*+][ \t]+/, ''));
  return first !== undefined && raw.includes('**') && labelKind(first.label) !== 'other';
}
