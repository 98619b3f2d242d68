import { oneLine } from '@phasegate/core/model';
import type { UnprovenAnchors } from '@phasegate/core/ports';

/** What could not be checked, and what would tell. It is neither broken nor verified. */
export function unprovenText({ anchors, first, archives }: UnprovenAnchors): string {
  const [which, were] = anchors === 1 ? ['1 anchor', 'it was'] : [`${anchors} anchors`, 'the first was'];
  const [missing, them] = archives.length === 1 ? ['archive', 'it'] : ['archives', 'them'];
  const files = archives.slice(0, MOST_TOLD).map((file) => `\`${oneLine(file)}\``);
  if (archives.length > MOST_TOLD) files.push(`${archives.length - MOST_TOLD} more`);
  return `${which} could not be checked: ${were} made at ${first}, when a run was under way that is archived by now; give its ${missing} with \`--archive FILE\`, ${them} being ${files.join(', ')}`;
}

const MOST_TOLD = 5;
