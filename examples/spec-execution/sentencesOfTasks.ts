/** Shorter texts say nothing that only one phase could say. */
const SHORTEST = 25;

/** Goals, notes, criteria and gates of a `tasks.md`, by phase. The names of phases are no secret. */
export function sentencesOfTasks(text: string): ReadonlyMap<number, readonly string[]> {
  const sentences = new Map<number, string[]>();
  let phase: number | undefined;
  for (const line of text.split('\n')) {
    const heading = /^#{2,3} (?:Phase (\d+))?/.exec(line);
    if (heading !== null) {
      phase = heading[1] === undefined ? undefined : Number(heading[1]);
      continue;
    }
    const said = line.replace(/^\s*-\s+(?:\[.\]\s+)?/, '').replace(/^\*\*[^*]+\*\*:?\s*/, '');
    if (phase === undefined || said.length < SHORTEST) continue;
    sentences.set(phase, [...(sentences.get(phase) ?? []), said]);
  }
  return sentences;
}
