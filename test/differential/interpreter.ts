/**
 * A second interpreter of the model, for tests only: what a command does to a run, said in the plainest way. One
 * mutable state, one function per command, no events, no views. Neither it nor the files it stands on share code
 * with the engine (a test reads them and sees that only types are imported), so a mistake has to be made twice to go
 * unnoticed. A reason is a text: its code, then what it is about; the same reasons in order are the same refusal.
 *
 * Left out, and not generated: JSON Schemas of artifacts, conditions other than `path === literal`, an expected way at
 * a phase with a human gate, elicited answers, migrations.
 */
import type { Command, Facts, JsonObject, Phase, Principal, Workflow } from '@phasegate/core';
import { RESERVED } from './names.ts';
import type { Done, Of, State, Told, Would } from './state.ts';
import {
  begin,
  claimRun,
  codesOf,
  end,
  escalate,
  goOn,
  mayReport,
  need,
  needItem,
  needPhase,
  needWorker,
  object,
  phaseOf,
  refuse,
  set,
  stuck,
  tell,
  unrefused,
  wasDone,
  worked,
} from './state.ts';
import { failing, fits, missing, sorted } from './values.ts';
import { enter, finish, join, overrideTo, settle } from './ways.ts';

/** A command with all it is judged by; `at` is in seconds. */
export type Asked = { command: Command; by: Principal; at: number; shown: string | undefined; facts: Facts };

/** Begins a run, or says why there is none. */
export function start(workflow: Workflow, given: JsonObject, holder: string | null, facts: Facts) {
  const s = begin(workflow, holder);
  const wrong = Object.keys(given).filter((key) => !Object.hasOwn(workflow.params, key));
  for (const [name, param] of Object.entries(workflow.params)) {
    const value = Object.hasOwn(given, name) ? given[name] : param.default;
    if (value === undefined ? param.required : !fits(param, value)) wrong.push(name);
    else if (value !== undefined) s.params[name] = value;
  }
  const told = tell(() => {
    need(wrong.length === 0, ...wrong.map((name) => `param_invalid ${name}`));
    return enter(s, facts, workflow.entry, { s, state: {}, done: [] });
  });
  return { told, state: told.codes.length === 0 ? s : null };
}

/** Lets a command happen to a run, or not, and says what came of it. */
export function act(s: State, asked: Asked): Told {
  const { command, by } = asked;
  return tell(() => {
    if (/^(decide|answer|resume|stop|override)$/.test(command.kind)) need(by.kind === 'human', 'not_a_human');
    if (/^(complete|report_failure|ask|report_blocked)$/.test(command.kind))
      needWorker(s, by, 'item' in command ? command.item : undefined);
    return (ACTS[command.kind as Kind] as (s: State, c: Command, asked: Asked) => Would)(s, command, asked);
  });
}

/** What a handler decides nobody else may say, which is another reason than that there is no way for it. */
const saysItself = ({ work }: Phase) => (work.kind === 'handler' ? ' for its handler decides' : '');

type Kind = Exclude<Command['kind'], 'migrate' | 'fence'>;

const ACTS: { readonly [K in Kind]: (s: State, c: Of<K>, asked: Asked) => Would } = {
  complete(s, c, asked) {
    const phase = needPhase(s, c.phase, c.item);
    const by = asked.by.name;
    const { evidence, word, unfit, extra } = sorted(phase, c.evidence);
    const most = extra.length > 20 ? [...extra.slice(0, 20), 'and more'] : extra;
    const undeclared = most.map((name) => `undeclared_evidence ${name}`);
    need(extra.length === 0 || s.workflow.enforcement.mode === 'permissive', ...undeclared);
    const would = codesOf(undeclared);
    const done: Done = { phase, evidence, word, outcome: c.outcome ?? 'ok', update: {}, by, would };
    const isSayable = c.outcome === undefined || mayReport(phase, c.outcome);
    if (!isSayable) refuse(s, [`outcome_not_allowed ${c.outcome}${saysItself(phase)}`], worked(s, c.item));
    const item = needItem(s, c.item);
    if (item === 'all') return join(s, asked, done, c.target);
    const failure_reason = (c.reason ?? '').trim();
    if (c.outcome === 'fail' && failure_reason === '') refuse(s, ['reason_required fail'], worked(s, c.item));
    const failure = { ...done, evidence: { ...evidence, failure_reason } };
    if (c.outcome === 'fail') return finish(s, asked, failure, { item, expected: c.target });
    const unread = phase.tasks.map((_, index) => index + 1).filter((task) => !s.fetched.includes(task));
    const formal = [...missing(phase, evidence), ...unfit].map((about) => `incomplete_checkpoint ${about}`);
    if (unread.length > 0) formal.push(`tasks_not_fetched ${unread}`);
    would.push(...object(s, formal, { counted: false, item }));
    done.letThrough = formal.length > 0;
    if (phase.work.kind === 'handler') {
      const fact = asked.facts[`${phase.id}/handler`];
      const result = fact?.kind === 'handler' ? fact.result : { ok: false as const, reason: 'nobody looked' };
      if (!result.ok) return refuse(s, [`handler_failed ${result.reason}`], { counted: true, item });
      const taken = Object.keys(result.state).filter((key) => isTaken(s, key));
      if (taken.length > 0) return refuse(s, [`handler_failed ${taken}`], { counted: true, item });
      Object.assign(done, { outcome: result.outcome, update: result.state });
      const isLost = result.outcome !== 'ok' && phase.next.kind !== 'outcomes';
      if (isLost) refuse(s, [`outcome_not_allowed ${result.outcome}`], { counted: true, item });
      if (result.outcome === 'fail') return finish(s, asked, done, { item, expected: c.target });
    }
    const work = done.outcome === 'skip' ? [] : phase.postconditions;
    const failed = failing(asked.facts, 'leave', item ? work : [...work, ...phase.blockers]);
    would.push(...object(s, failed, { counted: true, item }));
    done.letThrough ||= failed.length > 0;
    return finish(s, asked, done, { item, expected: c.target });
  },
  report_failure(s, c) {
    needPhase(s, c.phase, c.item);
    const item = needItem(s, c.item);
    if (isBlank(c.reason)) refuse(s, ['reason_required failure'], worked(s, c.item));
    const counted = { counted: true, item: item === 'all' ? undefined : item };
    return refuse(s, [`work_failed ${c.reason.trim()}`], counted);
  },
  decide(s, c, asked) {
    const { gate } = s;
    need(gate !== null, 'run_not_waiting');
    ACTS.expire(s, { kind: 'expire' }, asked);
    const { options, approvers, quorum } = gate.done.phase.humanGate as NonNullable<Phase['humanGate']>;
    const option = options.find(({ label }) => label === c.option);
    const by = asked.by.name;
    need(c.gate === gate.name, 'gate_unknown');
    need(approvers.length === 0 || approvers.includes(by), 'not_an_approver');
    need(option, 'option_unknown');
    need(!option.requiresInput || !isBlank(c.input), 'input_required');
    need(asked.shown !== undefined && c.shown === asked.shown, 'shown_changed');
    need(!gate.votes.some((vote) => vote.by === by), 'already_voted');
    const votes = [...gate.votes, { by, option: c.option }];
    if (votes.filter((vote) => vote.option === c.option).length < quorum) return set(gate, { votes });
    return settle(s, asked, gate.done, option);
  },
  expire(s, _, { at }) {
    const timeout = s.gate?.done.phase.humanGate?.timeout;
    if (!s.gate || !timeout || at < s.gate.since + timeout.afterSeconds) return undefined;
    if (timeout.afterwards === 'stop') end(s, 'stopped');
    else escalate(s, 'gate_timed_out');
    return need(false, 'gate_timed_out') as undefined;
  },
  fetch_task(s, c, { by }) {
    const isOwn = by.kind !== 'agent' || s.holder === by.name;
    need(isOwn || [...s.items.values()].some(({ holder }) => holder === by.name), 'not_your_run');
    const isWork = s.status === 'active' && by.kind === 'agent';
    const isKnown = c.phase === s.phase || (isOwn && wasDone(s, c.phase));
    if (!isKnown && isWork && isOwn) refuse(s, [`phase_sequence_violation ${c.phase}`]);
    need(isKnown, 'phase_sequence_violation');
    need(phaseOf(s, c.phase)?.tasks[c.task - 1], 'task_unknown');
    if (isWork && c.phase === s.phase && !s.fetched.includes(c.task)) s.fetched.push(c.task);
    return undefined;
  },
  claim(s, c, { by }) {
    need(by.kind === 'agent', 'not_an_agent');
    need(s.status === 'queued' || (s.status === 'active' && c.item !== undefined), 'run_not_queued');
    const item = s.items.get(c.item ?? '');
    need(item || c.item === undefined, 'item_unknown');
    need(!item || item.status === 'pending', 'item_done');
    need(!item?.holder, 'item_held');
    if (s.status === 'queued') claimRun(s, by.name);
    return item && set(item, { holder: by.name });
  },
  release(s, c, { by }) {
    const isLost = c.cause !== 'given_back';
    need(by.kind === 'engine' || (!isLost && by.kind === 'agent' && by.name === c.holder), 'not_your_run');
    const held = c.item === undefined ? s : s.items.get(c.item);
    need(s.phase !== null && held?.holder === c.holder, 'not_your_run');
    const isCrash = isLost && (held !== s || s.status === 'active');
    const isEnough = isCrash && ++held.crashes > (s.workflow.enforcement.maxReclaims ?? 3);
    const isShared = [...s.items.values()].some(({ holder }) => holder !== null && holder !== c.holder);
    if (held === s && !isShared) set(s, { epoch: s.epoch + 1, fetched: [] });
    for (const one of held === s ? [s, ...s.items.values()] : [held])
      if (one.holder === c.holder) one.holder = null;
    if (s.status === 'active') goOn(s);
    if (isEnough && held !== s) held.status = 'failed';
    if (isEnough && held === s) escalate(s, 'crashes');
    return stuck(s, 'crashes');
  },
  ask(s, { questions }) {
    const count = questions.length;
    if (count < 1 || count > 3) refuse(s, ['question_invalid count']);
    const bad = questions.findIndex(
      ({ options, text }) => isBlank(text) || options.length < 2 || options.length > 3,
    );
    if (bad >= 0) refuse(s, [`question_invalid ${bad}`]);
    return set(s, { status: 'waiting', questions: { count, answered: [] } });
  },
  answer(s, { question, text }) {
    const { questions } = s;
    need(questions, 'run_not_waiting');
    need(
      question > 0 && question <= questions.count && !questions.answered.includes(question),
      'question_unknown',
    );
    need(!isBlank(text), 'input_required');
    questions.answered.push(question);
    return questions.answered.length === questions.count ? (goOn(s) ?? stuck(s, 'attempts')) : undefined;
  },
  resume(s) {
    need(s.status === 'escalated', 'run_not_escalated');
    for (const item of s.items.values()) {
      if (item.status === 'failed') set(item, { status: 'pending', attempts: 0 });
      set(item, { crashes: 0, ...unrefused() });
    }
    s.owed.delete(String(s.phase));
    return goOn(set(s, { attempts: 0, crashes: 0, ...unrefused() }) ?? s);
  },
  stop(s, c) {
    need(s.phase !== null, 'run_ended');
    need(!isBlank(c.reason), 'reason_required');
    return end(s, 'stopped');
  },
  override(s, c, asked) {
    need(s.phase !== null, 'run_ended');
    need(c.phase === s.phase && c.epoch === s.epoch, 'shown_changed');
    need(!isBlank(c.reason), 'reason_required');
    return overrideTo(s, asked, phaseOf(s, s.phase) as Phase, c.to);
  },
  escalate(s, c, { by }) {
    need(by.kind === 'engine' && s.phase !== null && s.status !== 'escalated', 'run_not_active');
    escalate(s, c.reason);
    return need(false, 'escalated') as undefined;
  },
  report_blocked(s, c) {
    if (isBlank(c.reason)) refuse(s, ['reason_required blocked']);
    return escalate(s, 'blocked');
  },
};

const isTaken = (s: State, key: string) => RESERVED.test(key) || Object.hasOwn(s.workflow.params, key);
const isBlank = (text: string | undefined) => (text ?? '').trim() === '';
