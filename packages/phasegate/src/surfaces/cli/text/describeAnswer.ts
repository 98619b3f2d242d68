import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { runIdIn } from '@phasegate/core/contract';
import { quoteRest } from '@phasegate/core/engine';
import { linesOf, oneLine } from '@phasegate/core/model';
import type { Paint } from '../paint.ts';
import { evidenceLines } from './evidenceLines.ts';

/** The engine's answer to a completed phase, already in the words of a shell. */
export function describeAnswer(answer: JsonObject, paint: Paint): string {
  if (typeof answer.error === 'string' || answer.checkpoint_passed === false)
    return describeRefusal(answer, paint);
  const lines: string[] = [];
  if (answer.phase_completed !== undefined) lines.push(`phase ${word(answer.phase_completed)} completed`);
  if (answer.workflow_complete === true)
    lines.push(paint.green(word(answer.message ?? 'All phases complete')));
  if (answer.status === 'waiting') lines.push(...gateLines(answer.gate));
  if (answer.item_completed !== undefined)
    lines.push(`item ${oneLine(word(answer.item_completed))} completed`);
  lines.push(...wouldRefuse(answer, paint), ...warnings(answer, paint));
  if (answer.next_phase !== undefined && answer.next_phase !== null) {
    lines.push(`now in phase ${paint.bold(word(answer.next_phase))}`);
    const { next_phase_content: content } = answer;
    if (typeof content === 'string')
      lines.push(
        '',
        content,
        ...evidenceLines(own(answer.checkpoint_criteria, 'required_evidence'), content),
        '',
      );
  }
  lines.push(...nextLine(answer, paint));
  return lines.join('\n');
}

/** A refusal: why, what is missing, and the next legal act. No marks that could be read as success. */
export function describeRefusal(answer: JsonObject, paint: Paint): string {
  const code = typeof answer.error === 'string' ? ` ${paint.dim(`[${answer.error}]`)}` : '';
  const message = word(answer.message ?? answer.reason ?? 'the phase is not complete');
  const reasons = reasonsOf(answer);
  // The engine's message may be the reasons in one line; nobody needs to read them twice.
  const told = reasons.join('; ') === message;
  // Evidence that is missing has a message of its own, which says nothing of the others.
  const isMixed = reasons.length > missingIn(answer).length && missingIn(answer).length > 0;
  const title =
    (told && reasons.length > 1) || isMixed ? `for ${reasons.length} reasons` : quoteRest(message);
  const [first = '', ...rest] = linesOf(title);
  // Before several lines: the first one may end in mid-sentence, and the last one be what a program printed.
  const begun = rest.length === 0 ? ` ${first}${code}` : `${code} ${first}`;
  const lines = [`${paint.red('refused:')}${begun}`, ...rest];
  if (!told || reasons.length > 1) lines.push(...reasons.map((reason) => `  - ${quoteRest(reason)}`));
  lines.push(...rulesOf(answer));
  if (typeof answer.required_action === 'string') lines.push(answer.required_action);
  if (typeof answer.attempt === 'number' && answer.attempt > 0)
    lines.push(`attempts so far: ${answer.attempt}`);
  if (typeof answer.escalation === 'string') lines.push(`escalated: ${quoteRest(answer.escalation)}`);
  if (answer.error === 'scope_violation')
    lines.push(
      `first undo what is outside the scope; or a human looks at it with \`phasegate fence ${runIn(answer)}\``,
    );
  lines.push(...nextLine(answer, paint));
  if (typeof answer.ask === 'string') lines.push(`to ask a human: ${answer.ask}`);
  return lines.join('\n');
}

/** The run a refusal is about, as the commands in it have it. */
function runIn({ run, ask, next_action }: JsonObject): string {
  const said = [run, ask, next_action].filter((one) => typeof one === 'string').join(' ');
  return runIdIn(said) ?? 'RUN';
}

/** Each rule once, with the file and line it is written in. */
function rulesOf({ blockers }: JsonObject): readonly string[] {
  const rules = (Array.isArray(blockers) ? blockers : []).flatMap((item: Json) => {
    const [rule, at] = [own(item, 'rule'), own(item, 'rule_at')];
    return typeof rule === 'string' && typeof at === 'string' ? [`rule: ${rule}, ${oneLine(at)}`] : [];
  });
  return [...new Set(rules)];
}

/** INVARIANT: every reason is told: the next step may be about any of them. */
function reasonsOf(answer: JsonObject): readonly string[] {
  const { blockers } = answer;
  const list = Array.isArray(blockers) ? blockers : missingIn(answer);
  return list.map((item: Json) => word(own(item, 'message') ?? item));
}

function missingIn({ missing_evidence }: JsonObject): readonly Json[] {
  return Array.isArray(missing_evidence) ? missing_evidence : [];
}

function gateLines(gate: Json | undefined): readonly string[] {
  if (!isJsonObject(gate)) return ['the checks passed; the run waits for a human'];
  const options = Array.isArray(gate.options) ? gate.options : [];
  const labels = options.map((option: Json) => `  - ${word(own(option, 'label') ?? option)}`);
  return [`the checks passed; a human must decide at ${word(gate.id)}: ${word(gate.prompt)}`, ...labels];
}

function wouldRefuse({ would_refuse }: JsonObject, paint: Paint): readonly string[] {
  if (!Array.isArray(would_refuse) || would_refuse.length === 0) return [];
  const lines = would_refuse.map(
    (blocker: Json) => `  - ${quoteRest(word(own(blocker, 'message') ?? blocker))}`,
  );
  return [paint.yellow('permissive: this would have been refused'), ...lines];
}

function warnings({ warnings: told }: JsonObject, paint: Paint): readonly string[] {
  if (!Array.isArray(told)) return [];
  return told.map(
    (warning: Json) => `${paint.yellow('warning:')} ${word(own(warning, 'message') ?? warning)}`,
  );
}

function nextLine({ next_action }: JsonObject, paint: Paint): readonly string[] {
  return typeof next_action === 'string' && next_action !== '' ? [`next: ${paint.cyan(next_action)}`] : [];
}

function word(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
