import type { GateView, RunStatus, RunView } from '@phasegate/core';
import { changeText, goalAuthor, type OverrideView, type Progress } from '@phasegate/core/engine';
import { linesOf, oneLine, shellWord } from '@phasegate/core/model';
import { spellNext } from '@phasegate/wire';
import type { Output } from '../output.ts';
import type { Paint } from '../paint.ts';
import { SHELL } from '../spell.ts';
import { foreignRest } from './foreignLines.ts';
import { provenLines } from './provenLines.ts';
import { facts } from './table.ts';

/** One run on a screen: where it is, what it waits for, what to do next. */
export function describeRun(
  view: RunView,
  { paint, width }: Pick<Output, 'paint' | 'width'>,
  /** What else can be done next, a line each. */
  further: readonly string[] = [],
): string {
  // Broken here, and marked: what a terminal breaks would go on where only lines of ours begin.
  const said: Said = (text, before = '') => foreignRest(text, { before, width: width - LABEL });
  const rows: [string, string][] = [
    ['run', paint.bold(view.run)],
    ['workflow', view.title === view.workflow ? view.workflow : `${view.workflow}: ${view.title}`],
    ['status', `${paintStatus(view.status, paint)}, ring ${view.ring}${standing(view)}`],
  ];
  if (view.folder !== undefined) rows.push(['folder', oneLine(view.folder)]);
  if (view.target !== null) rows.push(['target', said(oneLine(view.target))]);
  if (view.goal !== undefined) rows.push(['goal', said(view.goal.text, `${goalAuthor(view.goal)}: `)]);
  if (view.current !== null) {
    const { id, name } = view.current;
    rows.push(['phase', String(id) === name ? name : `${id} (${name})`]);
  } else if (view.phase !== null) {
    rows.push(['phase', String(view.phase)]);
  }
  rows.push(['progress', describeProgress(view.progress, view.completedPhases)]);
  if (view.attempts > 0) rows.push(['attempts', String(view.attempts)]);
  if (view.feedback !== null)
    rows.push([
      'feedback',
      linesOf(view.feedback)
        .map((line) => said(line))
        .join('\n'),
    ]);
  for (const one of view.overrides ?? []) rows.push(['overridden', paint.red(overrideText(one, said))]);
  if (view.violations !== undefined) rows.push(['outside', describeViolations(view)]);
  if (view.waitsFor !== undefined) rows.push(['waits for', describeWait(view.waitsFor)]);
  if (view.proven !== undefined) rows.push(['proven', provenLines(view.proven).join('\n')]);
  if (view.gate !== null) rows.push(['gate', describeGate(view.gate, view.run)]);
  if (view.questions.length > 0) rows.push(['questions', describeQuestions(view, said)]);
  if (view.escalation !== null) rows.push(['escalated', describeEscalation(view, said)]);
  if (view.reason !== null) rows.push(['reason', said(view.reason)]);
  if (view.folder?.endsWith(`/${view.run}`) === true && view.phase === null)
    rows.push(['merge', mergeText(view.run)]);
  rows.push(['next', [paint.cyan(spellNext(view, SHELL)), ...further].join('\n')]);
  return facts(rows);
}

/** The longest label, and the blanks behind it. */
const LABEL = 'overridden  '.length;

/** Words of somebody else as they are shown, behind what stands on their line already. */
type Said = (text: string, before?: string) => string;

/** How far a run is, as a bar and in numbers. */
export function describeProgress(
  { completed, total }: Progress,
  phases: readonly (string | number)[],
): string {
  const cells = Math.min(total, 20);
  const filled = total === 0 ? 0 : Math.round((completed / total) * cells);
  const names = phases.length === 0 ? '' : `  ${phases.join(', ')}`;
  return `[${'#'.repeat(filled)}${'-'.repeat(cells - filled)}] ${completed}/${total}${names}`;
}

/** A status in its colour. */
export function paintStatus(status: RunStatus, paint: Paint): string {
  switch (status) {
    case 'active':
    case 'completed':
      return paint.green(status);
    case 'waiting':
    case 'queued':
      return paint.yellow(status);
    case 'escalated':
    case 'stopped':
      return paint.red(status);
  }
}

/** What stands behind the status of a run in which phases were led past. */
export function overriddenMark(overridden: number | undefined, paint: Paint): string {
  if (overridden === undefined || overridden === 0) return '';
  return paint.red(overridden === 1 ? ', 1 phase overridden' : `, ${overridden} phases overridden`);
}

/** A gate with its options and the command that answers it. */
export function describeGate(gate: GateView, runId: string): string {
  const lines = [`${gate.id}: ${gate.prompt}`];
  for (const { label, requiresInput } of gate.options) {
    lines.push(`- ${label}${requiresInput ? ' (needs --input)' : ''}`);
  }
  for (const { by, option } of gate.votes) lines.push(`${by} chose ${option}`);
  if (gate.quorum > 1) lines.push(`${gate.quorum} humans must choose the same`);
  if (gate.approvers.length > 0) lines.push(`for ${gate.approvers.join(', ')}`);
  if (gate.excluded !== undefined)
    lines.push(`a yes of ${gate.excluded.join(', ')} does not count: it is their own work`);
  if (gate.expiresAt !== null) lines.push(`until ${gate.expiresAt}`);
  const first = gate.options[0];
  const option = first === undefined ? 'LABEL' : shellWord(first.label);
  // Without the hash of the card it was printed for, the line would serve for whatever gate is open by then.
  const exact = gate.shown === undefined ? '' : ` --option ${option} --shown ${shellWord(gate.shown)}`;
  lines.push(`a human answers with: phasegate decide ${shellWord(runId)}${exact}`);
  return lines.join('\n');
}

/** A phase that was led past, and never passed. */
function overrideText({ phase, reason, by, at }: OverrideView, said: Said): string {
  return said(reason, `phase ${oneLine(String(phase))}, not completed: ${oneLine(by)}, ${at}: `);
}

/** What the fence refused, each path on its line; names of files are quoted, since an agent chose them. */
/** What is left to do with the worktree of a run that has ended. */
function mergeText(run: string): string {
  return `in the main folder: git merge phasegate/${run}, then phasegate worktree remove ${run}`;
}

function describeWait({ run, workflow, status }: NonNullable<RunView['waitsFor']>): string {
  return `${run} of ${workflow}, which is ${status} and has this workspace`;
}

function describeViolations({ run, violations = [] }: RunView): string {
  const lines = violations.slice(0, MOST_PATHS).map((one) => changeText({ ...one, path: oneLine(one.path) }));
  const more = violations.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  lines.push(`a human looks with: phasegate fence ${shellWord(run)}`);
  return lines.join('\n');
}

const MOST_PATHS = 20;

function describeQuestions({ run, questions, answers }: RunView, say: Said): string {
  const lines = questions.flatMap(({ text, options }, index) => {
    const answer = answers.find(({ question }) => question === index + 1);
    return [
      say(text, `${index + 1}. `),
      ...options.map((option) => say(option, '   - ')),
      ...(answer === undefined ? [] : [say(answer.text, '   answered: ')]),
    ];
  });
  lines.push(`a human answers with: phasegate answer ${shellWord(run)} --question 1 --option LABEL`);
  return lines.join('\n');
}

function describeEscalation({ run, escalation }: RunView, said: Said): string {
  if (escalation === null) return '';
  const lines = [said(escalation.message)];
  for (const { message } of escalation.blockers)
    if (message !== escalation.message) lines.push(said(message, '- '));
  const word = shellWord(run);
  // What was changed is there yet, and would refuse the phase, or escalate the run, again.
  const isOutside = escalation.blockers.some(({ code }) => code === 'scope_violation');
  const isCode = escalation.reason === 'code_changed';
  const first = isOutside ? `phasegate fence ${word}, and then ` : isCode ? 'one of these, and then ' : '';
  lines.push(`a human acts with: ${first}phasegate resume ${word} or phasegate stop ${word} --reason TEXT`);
  return lines.join('\n');
}

function standing({ mode, trusted }: RunView): string {
  return `${mode === 'permissive' ? ', permissive: nothing is blocked' : ''}${trusted ? '' : ', not trusted'}`;
}
