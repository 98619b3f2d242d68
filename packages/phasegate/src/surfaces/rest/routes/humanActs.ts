import type { z } from '@hono/zod-openapi';
import type { Command, Submitted } from '@phasegate/core';
import { encodeRun, type Run, type Stepped, spellNext } from '@phasegate/wire';
import {
  answerRequest,
  decisionRequest,
  gateCard,
  overrideRequest,
  refusal,
  resumeRequest,
  run,
  runPath,
  stopRequest,
} from '@phasegate/wire/schemas';
import { type Call, type Endpoint, endpoint, reply } from './endpoint.ts';
import { looksOf } from './looks.ts';
import { humanOf, signerOf } from './principals.ts';
import { refusalOf, refuse } from './refusal.ts';
import { HTTP } from './spell.ts';

const answers = { 200: { description: 'the run as it is now', schema: run } } as const;
const problems = { 409: { description: 'refused', schema: refusal } };

/** A human's verbs on a run. No agent's credential opens any of them. */
export const HUMAN_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/runs/{id}/gate',
    operationId: 'getGate',
    tag: 'decisions',
    who: ['human'],
    summary: 'What is to be decided',
    description:
      'The card of the gate the run waits at, with what the agent submitted and the context the author chose, and `shown`: the hash a decision must carry.',
    params: runPath,
    answers: { 200: { description: 'the card', schema: gateCard } },
    problems: { 409: { description: 'the run waits at no gate', schema: refusal } },
    async handle({ caller, params, parts, instance }) {
      const view = await parts.project.as(humanOf(caller)).view(params.id);
      const card = await looksOf(caller, () => parts.project.gateCard(params.id));
      if (card !== null) return reply(200, { gate: card.gate, card: card.card, shown: card.shown });
      const message = `run \`${params.id}\` is ${view.status} and waits at no gate`;
      const next_action = spellNext(view, HTTP.human);
      const code = 'run_not_waiting';
      const blockers = [{ code, message, next_action }];
      return refuse({ error: code, message, run_status: view.status, instance, blockers, next_action });
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/decisions',
    operationId: 'decide',
    tag: 'decisions',
    who: ['human'],
    summary: 'Decide at a gate',
    description:
      'Signs the choice with the key of the signed-in human, or with the passkey that proves it, over run, gate, option, input, the hash of what was shown, and the name. Where the card is no longer the one shown, the answer is 409 `shown_changed`. Without a human set up it is 403 `no_human`.',
    params: runPath,
    body: decisionRequest,
    answers,
    problems,
    signs: ({ caller, params, body, parts }) =>
      parts.project.toSign.decide(params.id, choiceIn(body), caller.session.name),
    async handle(call) {
      const { caller, params, body, parts } = call;
      return told(call, await parts.project.decide(params.id, choiceIn(body), signerOf(caller.session)));
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/answers',
    operationId: 'answer',
    tag: 'decisions',
    who: ['human'],
    summary: 'Answer a question of an agent',
    description: 'By one of its options, or in other words. The run goes on when every question is answered.',
    params: runPath,
    body: answerRequest,
    answers,
    problems,
    async handle(call) {
      const { caller, params, body, parts, instance } = call;
      const view = await parts.project.as(humanOf(caller)).view(params.id);
      const { question, option, text } = body;
      const asked = view.questions[question - 1];
      if (asked !== undefined && option !== undefined && !asked.options.includes(option)) {
        const known = asked.options.map((label) => `\`${label}\``).join(', ');
        const message = `the question has no option \`${option}\`: it has ${known}`;
        const next_action = spellNext(view, HTTP.human);
        const blockers = [{ code: 'option_unknown', message, next_action }];
        const run_status = view.status;
        return refuse({ error: 'option_unknown', message, run_status, instance, blockers, next_action });
      }
      return act(call, { kind: 'answer', question, text: option ?? text ?? '' });
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/resume',
    operationId: 'resume',
    tag: 'decisions',
    who: ['human'],
    summary: 'Let an escalated run go on',
    description: 'Its attempts are back at 0, and the agent is shown the note.',
    params: runPath,
    body: resumeRequest,
    answers,
    problems,
    handle: (call) =>
      act(call, { kind: 'resume', ...(call.body.note === undefined ? {} : { note: call.body.note }) }),
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/stop',
    operationId: 'stop',
    tag: 'decisions',
    who: ['human'],
    summary: 'End a run',
    description: 'For good; its tokens are dead at once.',
    params: runPath,
    body: stopRequest,
    answers,
    problems,
    handle: (call) => act(call, { kind: 'stop', reason: call.body.reason }),
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/override',
    operationId: 'override',
    tag: 'decisions',
    who: ['human'],
    summary: 'Break the glass',
    description:
      'Leads the run past the phase it is in, although its evidence, its checks or its gate say no. The phase is not completed and nothing is approved: it is among `overrides` of the run from then on, with the name and the reason, which are signed. With `epoch`, the run that was displayed: where it has moved since, the answer is 409 `shown_changed`.',
    params: runPath,
    body: overrideRequest,
    answers,
    problems,
    signs: ({ caller, params, body, parts }) =>
      parts.project.toSign.override(params.id, orderIn(body), humanOf(caller)),
    async handle(call) {
      const { caller, params, body, parts } = call;
      return told(call, await parts.project.override(params.id, orderIn(body), signerOf(caller.session)));
    },
  }),
];

function choiceIn({ gate, option, input, shown }: z.output<typeof decisionRequest>) {
  return { gate, option, shown, ...(input === undefined ? {} : { input }) };
}

function orderIn({ reason, to, epoch }: z.output<typeof overrideRequest>) {
  return { reason, ...(to === undefined ? {} : { to }), ...(epoch === undefined ? {} : { epoch }) };
}

type HumanCall = Call<'human', { readonly id: string }>;
type Told = Response | { readonly status: 200; readonly body: Stepped<Run, typeof HTTP.human> };

async function act(call: HumanCall, command: Command): Promise<Told> {
  const { caller, params, parts } = call;
  return told(call, await parts.project.as(humanOf(caller)).submit(params.id, command));
}

function told({ instance }: HumanCall, submitted: Submitted): Told {
  const refused = refusalOf(submitted, { instance, reader: 'human' });
  return refused ?? reply(200, encodeRun(submitted.view, HTTP.human));
}
