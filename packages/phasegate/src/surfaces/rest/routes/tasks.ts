import { type Json, PhasegateError } from '@phasegate/core';
import {
  ALL_COMPLETE,
  encodeClaim,
  encodeGate,
  encodeLeniency,
  encodeRun,
  encodeTask,
  type Stepped,
  spellNext,
  type Task,
} from '@phasegate/wire';
import {
  agentSelf,
  type ClaimedAnswer,
  claimed,
  claimRequest,
  orRunChanged,
  released,
  releaseRequest,
  type TransitionedAnswer,
  tokenRequest,
  transitioned,
  transitionRefused,
  transitionRequest,
  transitionWaits,
} from '@phasegate/wire/schemas';
import type { Claimed, IdentifiedAgent, Transition } from '../../../runtime/ports.ts';
import { demandSameAgent } from '../callers.ts';
import { begunAt } from './begunAt.ts';
import { type Endpoint, empty, endpoint, reply } from './endpoint.ts';
import { refusalOf } from './refusal.ts';
import { HTTP } from './spell.ts';

/** Work for agents: claiming it, and leaving its phases. */
export const TASK_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/agent',
    operationId: 'whoAmI',
    tag: 'tasks',
    who: ['agent'],
    summary: 'Whose key this is',
    description: 'The name to claim by, and what the agent can do, where that was said when it was added.',
    answers: { 200: { description: 'the agent', schema: agentSelf } },
    async handle({ caller }) {
      const { principal, capabilities } = caller.agent;
      return reply(200, { name: principal.name, capabilities });
    },
  }),
  endpoint({
    method: 'post',
    path: '/tasks/claim',
    operationId: 'claimTask',
    tag: 'tasks',
    who: ['agent'],
    summary: 'Claim the next task',
    description:
      'Hands out the queued run, or the open item of a parallel phase, that this agent can do: highest priority first, then the oldest, each once. It comes with a phase token and a lease that any call renews. `agent_id` must be the agent the key belongs to. Where the agent was given capabilities, `capabilities` can only narrow them. With `task_id` that run is claimed, or it is said why not; one this agent holds already is given to it again. With `workspace: own` the agent works in files that the server cannot see, and gets only runs in which the engine decides on what is handed in and what humans say.',
    body: claimRequest,
    answers: {
      200: { description: 'the task and the token for it', schema: claimed },
      204: { description: 'nothing is queued for this agent' },
    },
    async handle({ caller, body, parts }) {
      const { principal } = caller.agent;
      demandSameAgent(caller, body.agent_id);
      const able = capabilitiesOf(caller.agent, body.capabilities);
      const { claims: all } = parts.project;
      const claims = body.workspace === 'own' ? all.away : all;
      const found =
        body.task_id === undefined
          ? await claims.claim(principal, able)
          : await claims.claimRun(body.task_id, principal, able);
      return found === null ? empty(204) : reply(200, describeClaimed(found));
    },
  }),
  endpoint({
    method: 'post',
    path: '/tasks/token',
    operationId: 'renewToken',
    tag: 'tasks',
    who: ['agent'],
    summary: 'A fresh token for what this agent holds',
    description:
      'The same epoch, a new token: after a human acted, after a restart, or near expiry. Only the holder of the lease gets one.',
    body: tokenRequest,
    answers: { 200: { description: 'the task and a fresh token', schema: claimed } },
    async handle({ caller, body, parts }) {
      const { principal } = caller.agent;
      const fresh = await parts.project.claims.token(
        body.task_id,
        principal,
        ...(body.item === undefined ? [] : [body.item]),
      );
      return reply(200, describeClaimed(fresh));
    },
  }),
  endpoint({
    method: 'post',
    path: '/tasks/release',
    operationId: 'releaseTask',
    tag: 'tasks',
    who: ['agent'],
    summary: 'Give a task back',
    description:
      'The run goes back to the queue at its last checkpoint, with everything that was completed. Its tokens are dead at once. It does not count as a crash, unless `lost` says that it was one.',
    body: releaseRequest,
    answers: { 200: { description: 'the task is back in the queue', schema: released } },
    async handle({ caller, body, parts }) {
      const cause = body.lost === true ? 'exited' : 'given_back';
      const { principal } = caller.agent;
      if (!(await parts.project.claims.release(body.task_id, principal, cause)))
        throw new PhasegateError('not_permitted', `\`${principal.name}\` does not hold this run`);
      const next_action = `POST /api/v1/tasks/claim with {"agent_id": ${JSON.stringify(principal.name)}}`;
      return reply(200, { task_id: body.task_id, released: true as const, next_action });
    },
  }),
  endpoint({
    method: 'post',
    path: '/tasks/transition',
    operationId: 'requestTransition',
    tag: 'tasks',
    who: ['token'],
    summary: 'Complete the phase of the token',
    description:
      'Submits the artifacts of the current phase. The engine checks them, asks every check and blocker, and routes. `target` is what the agent expects; where the way leads elsewhere the answer is 409 `not_the_next_phase` and the phase is not left. With a token for an item, that item is completed; if it was the last one and the way leads elsewhere than `target`, the item stays completed.',
    body: transitionRequest,
    answers: {
      200: { description: 'the phase was left; at the end `phase` is null', schema: transitioned },
      202: {
        description: 'the checks have passed and a human decides now; the token is good for reading',
        schema: transitionWaits,
      },
    },
    problems: {
      409: {
        description: 'refused, with every blocker, or the run has moved on; the phase is not left',
        schema: orRunChanged(transitionRefused),
      },
    },
    async handle({ caller, body, parts, instance }) {
      const { target, artifacts, outcome, reason, item, phase, at } = body;
      const transition = await parts.project.claims.transition(caller.admitted, {
        artifacts,
        ...(target === undefined ? {} : { target }),
        ...(outcome === undefined ? {} : { outcome }),
        ...(reason === undefined ? {} : { reason }),
        ...(item === undefined ? {} : { item }),
        ...(phase === undefined ? {} : { phase }),
        ...begunAt(at),
      });
      const refused = refusalOf(transition, { instance, reader: 'agent', more: { allowed: false } });
      if (refused !== null) return refused;
      const { view } = transition;
      if (view.status !== 'waiting') return reply(200, describeTransition(transition));
      const gate = view.gate === null ? null : encodeGate(view.gate, HTTP.agent);
      const waits = { allowed: true as const, status: view.status, phase: view.phase ?? '', gate };
      return reply(202, {
        ...waits,
        ...encodeLeniency(transition.verdict, view, HTTP.agent),
        next_action: spellNext(view, HTTP.agent),
      });
    },
  }),
];

/** What an agent was given bounds what it may say of itself. */
function capabilitiesOf(agent: IdentifiedAgent, said: readonly string[] | undefined): readonly string[] {
  if (agent.capabilities === null) return said ?? [];
  const given = agent.capabilities;
  return said === undefined ? given : given.filter((capability) => said.includes(capability));
}

function describeTransition(transition: Transition): TransitionedAnswer {
  const { view, next, outcome, verdict } = transition;
  const ended = view.status === 'completed';
  return {
    allowed: true,
    status: view.status,
    phase: view.phase,
    ...(next === null ? {} : { phase_token: next.token, expires_at: next.tokenExpiresAt }),
    ...(next !== null || ended
      ? { task: taskOf(next ?? { view, item: null }) }
      : { task: null, run: encodeRun(view, HTTP.agent) }),
    ...(outcome.kind === 'phase_completed' ? { phase_completed: outcome.phase } : {}),
    ...(outcome.kind === 'item_completed' && outcome.item !== null ? { item_completed: outcome.item } : {}),
    ...(ended ? { message: ALL_COMPLETE } : {}),
    ...encodeLeniency(verdict, view, HTTP.agent),
    next_action: spellNext(next?.view ?? view, HTTP.agent),
  };
}

/** What was claimed, with its token. */
function describeClaimed(claimed: Claimed): ClaimedAnswer {
  return encodeClaim(taskOf(claimed), claimed.token, claimed.tokenExpiresAt);
}

function taskOf({ view, item }: Pick<Claimed, 'view' | 'item'>): Stepped<Task, typeof HTTP.agent> {
  const { key, value = null } = item ?? {};
  return encodeTask(view, key === undefined ? null : { key, value: value as Json }, HTTP.agent);
}
