import type { Blocker, Command, Run, ToolUse, Verdict } from '@phasegate/core/engine';
import { own } from '@phasegate/core/model';
import type { Outlook, ReplayKind } from './replayReport.ts';

/** A decision of the engine as a verdict and where it leads. */
export function outlookOf(verdict: Verdict, run: Run | null): Outlook {
  return judged(verdict, run === null ? 'no run' : standing(run));
}

/** A verdict on a tool call; in a permissive workflow a refused one is let through. */
export function toolOutlook(verdict: Verdict, permissive: boolean): Outlook {
  if (verdict.allowed || !permissive) return judged(verdict, '');
  return judged({ allowed: true, wouldRefuse: verdict.blockers }, '');
}

/** What two outlooks have to do with each other, and why. */
export function compared(
  was: Outlook,
  would: Outlook,
): { readonly kind: ReplayKind; readonly reason: string } {
  const [before, after] = [RANKS[was.verdict], RANKS[would.verdict]];
  if (after < before) return { kind: 'now_refused', reason: reasons(would) };
  if (after > before) return { kind: 'now_allowed', reason: `was refused: ${reasons(was)}` };
  const same = sameReasons(was, would);
  if (was.leads !== would.leads) {
    const way = `led to ${was.leads}, would lead to ${would.leads}`;
    return { kind: 'other_way', reason: same ? way : `${way}; ${reasons(would)}` };
  }
  return same ? { kind: 'same', reason: '' } : { kind: 'other_reason', reason: reasons(would) };
}

/** What was asked for, in words. */
export function askedIn(command: Command): string {
  switch (command.kind) {
    case 'complete':
    case 'report_failure': {
      const verb = command.kind === 'complete' ? 'complete' : 'report the failure of';
      const item = command.item === undefined ? '' : `, item \`${command.item}\``;
      const outcome = 'outcome' in command ? `, outcome \`${command.outcome}\`` : '';
      return `${verb} \`${command.phase}\`${item}${outcome}`;
    }
    case 'fetch_task':
      return `read task ${command.task} of \`${command.phase}\``;
    case 'decide':
      return `choose \`${command.option}\` at gate \`${command.gate}\``;
    case 'answer':
      return `answer question ${command.question}`;
    default:
      return WORDS[command.kind];
  }
}

/** A tool call in words. */
export function askedOf({ tool, input }: ToolUse): string {
  const what = own(input, 'command') ?? own(input, 'path') ?? own(input, 'paths');
  return what === undefined ? `use \`${tool}\`` : `use \`${tool}\` on \`${String(what)}\``;
}

const RANKS: Readonly<Record<Outlook['verdict'], number>> = { refused: 0, let_through: 1, allowed: 2 };

const WORDS = {
  ask: 'ask a human',
  report_blocked: 'report the phase as blocked',
  resume: 'resume the run',
  stop: 'stop the run',
  override: 'override the phase',
  migrate: 'migrate the run',
  fence: 'settle what was changed outside the scope',
  claim: 'claim the run',
  release: 'release the run',
  expire: 'close a gate whose time is up',
  escalate: 'hand the run to a human',
} as const;

function judged(verdict: Verdict, leads: string): Outlook {
  const blockers = verdict.allowed ? (verdict.wouldRefuse ?? []) : verdict.blockers;
  const kept = blockers.map(({ code, message }: Blocker) => ({ code, message }));
  if (!verdict.allowed) return { verdict: 'refused', blockers: kept, leads };
  return { verdict: kept.length > 0 ? 'let_through' : 'allowed', blockers: kept, leads };
}

function standing(run: Run): string {
  switch (run.status) {
    case 'waiting':
      return run.wait.for === 'gate'
        ? `gate \`${run.wait.gate}\` behind phase \`${run.phase}\``
        : `questions in phase \`${run.phase}\``;
    case 'escalated':
      return `a human in phase \`${run.phase}\` (${run.escalation.reason})`;
    case 'completed':
      return 'the end';
    case 'stopped':
      return 'a stop';
    default:
      return `phase \`${run.phase}\``;
  }
}

/** Which tools a phase allows is said in the refusal of any other: what counts for a call is the rule. */
function sameReasons(was: Outlook, would: Outlook): boolean {
  const tool = was.leads === '' && would.leads === '';
  const told = ({ blockers }: Outlook) =>
    blockers.map(({ code, message }) => (tool ? code : `${code} ${message}`)).sort();
  return told(was).join('\n') === told(would).join('\n');
}

function reasons({ blockers }: Outlook): string {
  return blockers.map(({ code, message }) => `${code}: ${message}`).join('; ');
}
