import type { AuditFound } from '@phasegate/wire';
import type { Tone } from '../parts/Status.tsx';

/** A record in words. */
export interface DescribedRecord {
  readonly title: string;
  readonly tone: Tone;
  /** Words of others, or null where the title says it all. */
  readonly detail: string | null;
}

/** What a record says, for anyone who reads a timeline. What is not known here is shown by its name. */
export function describeRecord(
  record: Pick<AuditFound['records'][number], 'event' | 'data'>,
): DescribedRecord {
  const data = isObject(record.data) ? record.data : {};
  const [title, tone, detail] = (WORDS[record.event] ?? unknown)(data, record.event);
  return { title, tone, detail: detail ?? null };
}

type Data = Readonly<Record<string, unknown>>;
type Words = (data: Data, event: string) => readonly [string, Tone, (string | null)?];

const unknown: Words = (_, event) => [event.replaceAll('_', ' '), 'grey'];

const WORDS: Readonly<Record<string, Words>> = {
  run_started: (data) => ['Run started', 'blue', text(data.goal)],
  run_claimed: (data) => [`Claimed by ${text(data.holder)}`, 'blue'],
  run_released: (data) => [`Given up by ${text(data.holder)}`, 'amber', text(data.cause)],
  item_claimed: (data) => [`Item ${text(data.item)} claimed by ${text(data.holder)}`, 'blue'],
  item_released: (data) => [
    `Item ${text(data.item)} given up by ${text(data.holder)}`,
    'amber',
    text(data.cause),
  ],
  item_completed: (data) => [`Item ${text(data.item)} completed`, 'green'],
  task_fetched: (data) => [`Task ${text(data.task)} of ${text(data.phase)} read`, 'grey'],
  phase_refused: (data) => [`${text(data.phase)} refused`, 'red', blockersOf(data)],
  phase_overridden: (data) => {
    const override = isObject(data.override) ? data.override : {};
    return [
      `${text(override.by)} led the run past ${text(override.phase)}, which is not completed`,
      'red',
      text(override.reason),
    ];
  },
  phase_completed: (data) => [
    data.outcome === 'overridden'
      ? `${text(data.phase)} left by an override`
      : `${text(data.phase)} completed: ${text(data.outcome)}`,
    data.outcome === 'ok' ? 'green' : data.outcome === 'overridden' ? 'red' : 'amber',
    data.next === null ? 'the run ends here' : `next: ${text(data.next)}`,
  ],
  gate_opened: (data) => [`Gate opened after ${text(data.phase)}`, 'amber'],
  gate_decided: (data) => {
    const decision = isObject(data.decision) ? data.decision : {};
    return [`${text(decision.by)} chose “${text(decision.option)}”`, 'green', text(decision.input)];
  },
  gate_timed_out: (data) => [`Gate ${text(data.gate)} ran out of time`, 'red'],
  gate_closed: (data) => [`Gate ${text(data.gate)} closed`, 'amber', text(data.reason)],
  fence_settled: (data) => [
    `Changed files: ${text(data.action)} by ${text(data.by)}`,
    'green',
    listOf(data.paths),
  ],
  question_asked: (data) => ['The agent asked', 'amber', questionsOf(data.questions)],
  question_answered: (data) => {
    const answer = isObject(data.answer) ? data.answer : {};
    return [`${text(answer.by)} answered`, 'green', text(answer.text)];
  },
  run_escalated: (data) => {
    const escalation = isObject(data.escalation) ? data.escalation : {};
    return ['Handed to a human', 'red', text(escalation.message)];
  },
  run_resumed: (data) => [`Resumed by ${text(data.by)}`, 'green', text(data.note)],
  run_stopped: (data) => [`Stopped by ${text(data.by)}`, 'grey', text(data.reason)],
  run_migrated: (data) => [`Moved to another version of the workflow by ${text(data.by)}`, 'amber'],
  tool_judged: (data) => {
    const asked = inputOf(data.input);
    if (data.allowed === true) return [`${text(data.tool)} allowed`, 'green', asked];
    const through = data.let_through === true ? ' (let through: permissive)' : '';
    return [
      `${text(data.tool)} denied${through}`,
      'red',
      [asked, text(data.message)].filter(Boolean).join(' · '),
    ];
  },
  tool_executed: (data) => {
    const receipt = isObject(data.receipt) ? data.receipt : data;
    const failed = receipt.ok === false;
    const exit = typeof receipt.exit_code === 'number' ? `exit code ${receipt.exit_code}` : null;
    return [
      `${text(receipt.tool)} carried out${failed ? ' and failed' : ''}`,
      failed ? 'amber' : 'blue',
      exit,
    ];
  },
  command_refused: (data) => ['Command refused', 'red', blockersOf(data)],
  token_refused: (data) => ['Token refused', 'red', text(data.reason)],
  credential_failed: (data) => ['Credential refused', 'red', text(data.reason ?? data.human)],
  signed_out: (data) => [`Session of ${text(data.of)} ended`, 'grey', text(data.how).replaceAll('_', ' ')],
  signed_in: (data) => [`Signed in by ${text(data.by)}`, 'blue'],
  human_added: (data) => [`Human ${text(data.human)} added`, 'amber', text(data.role)],
  human_removed: (data) => [`Human ${text(data.human)} removed`, 'amber'],
  run_ended: (data) => [`Run ended: ${text(data.status)}`, 'grey'],
};

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string'
    ? value
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}

function blockersOf({ blockers, message }: Data): string {
  if (!Array.isArray(blockers)) return text(message);
  return blockers.map((blocker) => (isObject(blocker) ? text(blocker.message) : text(blocker))).join('\n');
}

function questionsOf(questions: unknown): string {
  if (!Array.isArray(questions)) return '';
  return questions.map((question) => (isObject(question) ? text(question.text) : '')).join('\n');
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.map(text).join(', ') : text(value);
}

/** What a call was about: its path or command first. */
function inputOf(input: unknown): string {
  if (!isObject(input)) return text(input);
  const first = input.path ?? input.command ?? input.paths ?? input.url;
  return first === undefined ? (Object.keys(input).length === 0 ? '' : text(input)) : listOf(first);
}
