/** A `tasks.md` of this many lines, as specs have them: six phases, criteria, gates, dependencies, prose. */
export function specOf(lines: number): string {
  const phases = 6;
  const tasks = Math.max(1, Math.floor((lines / phases - 12) / LINES_A_TASK));
  const parts = ['# Implementation tasks', '', '**Estimated Duration:** 6 weeks', ''];
  for (let phase = 1; phase <= phases; phase++) {
    parts.push(`## Phase ${phase}: Part ${phase} of the system`, '', `**Goal:** ${PROSE}`, '');
    for (let task = 1; task <= tasks; task++) parts.push(...taskOf(phase, task));
    parts.push(
      '**Validation Gate:**',
      '',
      '- [ ] All tests of the phase pass',
      '- [ ] Coverage is above 80%',
      '',
    );
  }
  while (parts.length < lines) parts.push(PROSE);
  return parts.slice(0, lines).join('\n');
}

const PROSE = 'Build what the design says, with tests first, and keep the old behaviour until the switch.';
const LINES_A_TASK = 14;

function taskOf(phase: number, task: number): readonly string[] {
  return [
    `### Task ${phase}.${task}: Build component ${task}`,
    '',
    '**Estimated Time:** 4 hours',
    '',
    `**Dependencies:** ${task === 1 ? 'None' : `Task ${phase}.${task - 1}`}`,
    '',
    PROSE,
    '',
    '**Acceptance Criteria:**',
    '',
    `- [ ] Component ${task} does what section ${phase}.${task} of the design says`,
    '- [ ] Its errors name the file and the line',
    '- [ ] It has unit tests for every branch',
    '',
  ];
}
