import { oneLine } from '@phasegate/core/model';
import type { UnprovenAnchors } from '@phasegate/core/ports';

/** What could not be checked, and what would tell. It is neither broken nor verified. */
export function unprovenText({ anchors, first, archives, replaced = [] }: UnprovenAnchors): string {
  const [which, were] = anchors === 1 ? ['1 anchor', 'it was'] : [`${anchors} anchors`, 'the first was'];
  const made = `${which} could not be checked: ${were} made at ${first}, when a run was under way that is archived by now`;
  const absent = archives.filter((name) => !replaced.some(({ file }) => file === name));
  const there = atMost(replaced.map(({ file, reason }) => `\`${oneLine(file)}\` ${oneLine(reason)}`));
  const other =
    there.length === 0
      ? []
      : [`${there.join(', ')}: give what was archived there with \`--archive FILE\`, if you have a copy`];
  const [missing, them] = absent.length === 1 ? ['archive', 'it'] : ['archives', 'them'];
  const files = atMost(absent.map((file) => `\`${oneLine(file)}\``));
  const needed =
    files.length === 0
      ? []
      : [`give its ${missing} with \`--archive FILE\`, ${them} being ${files.join(', ')}`];
  return [made, ...other, ...needed].join('; ');
}

function atMost(words: readonly string[]): readonly string[] {
  if (words.length <= MOST_TOLD) return words;
  return [...words.slice(0, MOST_TOLD), `${words.length - MOST_TOLD} more`];
}

const MOST_TOLD = 5;
