import {
  type Blocker,
  type BlockerCode,
  isJsonObject,
  type JsonObject,
  type NextAction,
  own,
  type RunStatus,
} from '@phasegate/core';
import { type Dialect, type Place, spellAction } from './nextCall.ts';

/** Why something was refused, as it crosses a boundary. */
export type WireBlocker = {
  readonly code: BlockerCode | (string & {});
  readonly message: string;
  readonly next_action: string;
  /** The same in parts, for programs. */
  readonly next_step?: NextAction;
} & RuleFields;

/** The rule of the definition that refuses: its name, and the file and line it is written in. */
export type RuleFields = {
  readonly rule?: string;
  readonly rule_at?: string;
};

/** The rule behind a refusal; nothing where it is the engine's own. Of the phase it belongs to nothing is told. */
export function encodeRule({ rule }: Pick<Blocker, 'rule'>): RuleFields {
  if (rule === undefined) return {};
  return { rule: rule.name, ...(rule.at === undefined ? {} : { rule_at: rule.at }) };
}

/** Whom to ask, where the agent can go on: how this surface hands a phase to a human. */
export function encodeAsk(blockers: readonly Blocker[], run: string, dialect: Dialect): AskFields {
  const goesOn = blockers.some(({ nextAction: { act } }) => GOES_ON.has(act));
  return dialect.ask === undefined || !goesOn ? {} : { ask: dialect.ask(run) };
}

/** How to ask a human, in the words of the surface. */
export type AskFields = { readonly ask?: string };

const GOES_ON: ReadonlySet<NextAction['act']> = new Set(['complete_phase', 'get_task', 'use_allowed_tool']);

/** Blockers as they are answered. */
export function encodeBlockers(
  blockers: readonly Blocker[],
  place: Place,
  dialect: Dialect,
): readonly WireBlocker[] {
  return blockers.map(({ code, message, nextAction, rule }) => ({
    code,
    message,
    ...encodeRule(rule === undefined ? {} : { rule }),
    next_action: spellAction(nextAction, place, dialect),
    ...(dialect.steps ? { next_step: { ...nextAction } } : {}),
  }));
}

/** Blockers as the engine has them. */
export function decodeBlockers(blockers: readonly WireBlocker[]): readonly Blocker[] {
  return blockers.map(({ code, message, next_action, next_step, rule, rule_at }) => ({
    code: code as BlockerCode,
    message,
    nextAction: next_step ?? { act: 'none', text: next_action },
    // Which phase it is of is not told.
    ...(rule === undefined
      ? {}
      : { rule: { name: rule, phase: '', ...(rule_at === undefined ? {} : { at: rule_at }) } }),
  }));
}

/** What an answer about a run says comes next. */
export interface WireNext {
  readonly status: RunStatus;
  readonly phase: string | number | null;
  readonly next_action: string;
  readonly next_step?: NextAction | undefined;
}

/** The next act as the engine has it: an answer without its parts gives the act that a run of its status comes to. */
export function decodeNext({ status, phase, next_action: text, next_step }: WireNext): NextAction {
  if (next_step !== undefined) return next_step;
  if (status === 'queued') return { act: 'claim', text };
  if (status === 'waiting' || status === 'escalated') return { act: 'wait_for_human', text };
  if (status !== 'active' || phase === null) return { act: 'none', text };
  return { act: 'complete_phase', phase, text };
}

/** The blockers in an answer that may come from anywhere; what is not one is left out. */
export function readBlockers(answer: JsonObject): readonly WireBlocker[] {
  const list = own(answer, 'blockers');
  const reason = text(answer, 'reason');
  // The verdict on a tool call is one reason, said at its top.
  if (own(answer, 'allowed') === false && list === undefined && reason !== undefined) {
    const code = text(answer, 'code') ?? 'not_permitted';
    return [{ code, message: reason, ...ruleIn(answer), next_action: text(answer, 'next_action') ?? '' }];
  }
  return (Array.isArray(list) ? list.filter(isJsonObject) : []).map((blocker) => ({
    code: text(blocker, 'code') ?? 'internal',
    message: text(blocker, 'message') ?? '',
    ...ruleIn(blocker),
    next_action: text(blocker, 'next_action') ?? '',
    ...stepIn(blocker),
  }));
}

function ruleIn(fields: JsonObject): RuleFields {
  const [rule, at] = [text(fields, 'rule'), text(fields, 'rule_at')];
  return rule === undefined ? {} : { rule, ...(at === undefined ? {} : { rule_at: at }) };
}

function stepIn(blocker: JsonObject): Pick<WireBlocker, 'next_step'> {
  const step = own(blocker, 'next_step');
  if (!isJsonObject(step) || text(step, 'act') === undefined || text(step, 'text') === undefined) return {};
  return { next_step: step as unknown as NextAction };
}

function text(fields: JsonObject, key: string): string | undefined {
  const value = own(fields, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
