import type { JsonObject } from '@phasegate/core';
import {
  actRequest,
  challenge,
  challengeRequest,
  passkeyList,
  passkeyOptions,
  passkeyPath,
  passkeyRequest,
} from '@phasegate/wire/schemas';
import { getPath } from 'hono/utils/url';
import type { RestSettings } from '../parts.ts';
import { creationOptions, readRegistration, requestOptions } from '../passkeys/registration.ts';
import { RequestRefused } from '../problem.ts';
import { type Call, type Endpoint, empty, endpoint, reply } from './endpoint.ts';
import { signerOf } from './principals.ts';

/** The passkeys of humans: made by a page with the passphrase, and used by a page, for one act each time. */
export const PASSKEY_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/passkeys',
    operationId: 'listPasskeys',
    tag: 'people',
    who: ['human'],
    summary: 'List passkeys',
    description: "Your own, and for an admin everybody's; and the address of the pages they can be used on.",
    answers: { 200: { description: 'the passkeys', schema: passkeyList } },
    async handle({ caller, parts: { project, settings } }) {
      const { name } = caller.session;
      const humans = await project.humans.list();
      const all = humans.some((human) => human.name === name && human.role === 'admin');
      const passkeys = (await project.passkeys.list()).filter(({ human }) => all || human === name);
      const { origin, problem } = placeOf(settings);
      return reply(200, {
        origin,
        ...(problem === undefined ? {} : { problem }),
        passkeys: passkeys.map(({ id, human, label, origin: of, addedAt }) => ({
          id,
          human,
          label,
          origin: of,
          added_at: addedAt,
        })),
      });
    },
  }),
  endpoint({
    method: 'post',
    path: '/passkeys/options',
    operationId: 'offerPasskey',
    tag: 'people',
    who: ['human'],
    summary: 'What to make a passkey by',
    description: 'For a browser, good for three minutes and one try. Changes nothing.',
    asks: true,
    answers: { 200: { description: 'the options', schema: passkeyOptions } },
    async handle({ caller, parts: { project, settings, challenges } }) {
      const { id, name, operator } = caller.session;
      if (operator) throw new RequestRefused('not_permitted', "a passkey is a human's, and none is set up");
      const origin = demandOrigin(settings);
      const known = (await project.passkeys.list()).filter((one) => one.human === name);
      const nonce = challenges.make(id, 'register');
      return reply(200, {
        nonce,
        options: creationOptions({ origin, human: name, challenge: nonce, known }),
      });
    },
  }),
  endpoint({
    method: 'post',
    path: '/passkeys',
    operationId: 'addPasskey',
    tag: 'people',
    who: ['human'],
    summary: 'Register a passkey',
    description:
      'One that the browser made by the options, for yourself. Needs `passphrase`: the key it opens signs the passkey, and a passkey counts by that signature.',
    body: passkeyRequest,
    answers: { 204: { description: 'it can be used' } },
    async handle({ caller, body, parts: { project, settings, challenges } }) {
      const by = signerOf(caller.session);
      const origin = demandOrigin(settings);
      if (!(await challenges.spend(caller.session.id, 'register', body.nonce))) {
        throw new RequestRefused('request_invalid', 'the options were used already or are too old', {
          hint: 'ask for new ones and make the passkey again',
        });
      }
      const made = {
        id: body.id,
        clientDataJson: body.client_data_json,
        attestationObject: body.attestation_object,
        transports: body.transports ?? [],
      };
      const read = await readRegistration(made, { origin, challenge: body.nonce });
      await project.passkeys.add({ ...read, label: body.label }, by);
      return empty(204);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/passkeys/{id}',
    operationId: 'removePasskey',
    tag: 'people',
    who: ['human'],
    summary: 'Remove a passkey',
    description:
      "Your own, or as an admin anybody's. What it signed stays signed; its votes at open gates are void.",
    params: passkeyPath,
    body: actRequest,
    answers: { 204: { description: 'it proves nothing any more' } },
    async handle({ caller, params, parts: { project } }) {
      const human = signerOf(caller.session);
      if (!(await project.passkeys.list()).some(({ id }) => id === params.id)) {
        throw new RequestRefused('route_unknown', 'there is no such passkey');
      }
      await project.passkeys.remove(params.id, human);
      return empty(204);
    },
  }),
  endpoint({
    method: 'post',
    path: '/passkeys/challenge',
    operationId: 'challengePasskey',
    tag: 'people',
    who: ['human'],
    summary: 'What a passkey signs to prove an act',
    description:
      'The challenge is a hash of the act: what is signed by it, or all of its request, with your name and a number that is used once. It is good for three minutes, this session and that act. Send the assertion as `passkey` in the body of the act. Changes nothing.',
    body: challengeRequest,
    asks: true,
    answers: { 200: { description: 'the challenge', schema: challenge } },
    handle: challengeAct,
  }),
];

async function challengeAct({ caller, body, parts }: Call<'human', unknown, unknown, ChallengeBody>) {
  const { session } = caller;
  const { project, settings, challenges } = parts;
  const origin = demandOrigin(settings);
  const own = (await project.passkeys.list()).filter(({ human }) => human === session.name);
  const known = own.filter((passkey) => passkey.origin === origin);
  if (known.length === 0) throw new RequestRefused('not_permitted', noneHere(own, origin));
  const path = pathOf(body.path);
  const text = await parts.textOf({ method: body.method, path, query: {}, body: body.body }, session);
  const nonce = challenges.make(session.id, 'act');
  const made = await project.passkeys.challenge(text, nonce);
  return reply(200, { nonce, options: requestOptions({ origin, challenge: made, known }) });
}

interface ChallengeBody {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body: JsonObject;
}

/** As the path of the act itself will be read. */
function pathOf(path: string): string {
  const whole = `http://localhost${BASE_PATH}${path}`;
  if (!path.startsWith('/') || !URL.canParse(whole) || /[?#]/.test(path)) {
    const message = 'must be a path under `/api/v1`, without a query';
    throw new RequestRefused('request_invalid', `\`path\` ${message}`, {
      fields: [{ field: 'path', message }],
    });
  }
  return getPath(new Request(whole));
}

const BASE_PATH = '/api/v1';

function noneHere(own: readonly { readonly origin: string }[], origin: string): string {
  const [first] = own;
  return first === undefined
    ? 'you have no passkey; register one on the page of people'
    : `your passkeys are for pages of ${first.origin}, and this is ${origin}`;
}

function placeOf({ passkeys }: RestSettings): NonNullable<RestSettings['passkeys']> {
  return passkeys ?? { origin: null, problem: 'this server has no name that passkeys could be for' };
}

function demandOrigin(settings: RestSettings): string {
  const { origin, problem } = placeOf(settings);
  if (origin !== null) return origin;
  throw new RequestRefused('not_permitted', `passkeys cannot be used here: ${problem}`, {
    hint: 'give the passphrase',
  });
}
