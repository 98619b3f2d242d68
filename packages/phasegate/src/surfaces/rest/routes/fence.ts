import { z } from '@hono/zod-openapi';
import { wholeFile } from '@phasegate/core/engine';
import { DIFF_LIMIT, encodeFence, encodeSettled, PAGE_LIMIT, PATH_LIMIT, TEXT_LIMIT } from '@phasegate/wire';
import {
  fenceDiff,
  fenceRequest,
  fenceSettled,
  fenceState,
  gateFiles,
  numberInQuery,
  runPath,
  textUpTo,
} from '@phasegate/wire/schemas';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { looksOf } from './looks.ts';
import { demandOwnRun, humanOf, signerOf } from './principals.ts';
import { refusalOf } from './refusal.ts';

/** What was changed outside a phase's scope. An agent reads of its own run what refuses it, and settles nothing. */
export const FENCE_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/runs/{id}/fence',
    operationId: 'getFence',
    tag: 'fence',
    who: ['human', 'token', 'agent'],
    summary: "What was changed outside a phase's scope",
    description:
      'Compares the workspace with what it was when the phase was entered. What is in `outside` refuses the phase until it is undone or a human settles it. An agent asks about its own run. On a server without a workspace, and for a run that has ended, the answer is 409 `fence_failed`.',
    params: runPath,
    answers: { 200: { description: 'what differs', schema: fenceState } },
    async handle({ caller, params, parts: { project } }) {
      if (caller.kind === 'token') demandOwnRun(caller, params.id);
      // Whether the caller may see the run at all.
      if (caller.kind === 'human') await project.as(humanOf(caller)).view(params.id);
      const report = async () => reply(200, encodeFence(await project.fencing.report(params.id)));
      if (caller.kind === 'human') return looksOf(caller, report);
      const { principal } = caller.kind === 'token' ? caller.admitted : caller.agent;
      await project.as(principal).view(params.id);
      return looksOf(caller, report);
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{id}/fence/diff',
    operationId: 'getFenceDiff',
    tag: 'fence',
    who: ['human'],
    summary: 'How what was changed differs',
    description: `As text, of what is outside the scope or of the paths that are named. At most ${DIFF_LIMIT} characters; \`truncated\` says that there is more.`,
    params: runPath,
    query: z.strictObject({
      paths: textUpTo(TEXT_LIMIT).optional().openapi({
        description:
          'paths or folders, one on each line, `.` for all that changed; left out: all that is outside the scope',
      }),
    }),
    answers: { 200: { description: 'the difference', schema: fenceDiff } },
    async handle({ caller, params, query, parts: { project } }) {
      const paths = (query.paths ?? '').split('\n').filter((path) => path !== '');
      const text = await looksOf(caller, () => project.fencing.diff(params.id, paths));
      const truncated = text.length > DIFF_LIMIT;
      return reply(200, { run: params.id, diff: truncated ? text.slice(0, DIFF_LIMIT) : text, truncated });
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{id}/gate/files',
    operationId: 'getGateFiles',
    tag: 'fence',
    who: ['human'],
    summary: 'What a phase changed until its gate opened',
    description:
      'From the two measures that were taken then, as the card of the gate has it, and from nothing that stands in the workspace now. Every file with both hashes, page by page; with `path`, that file with its difference, for which the card may have had no room.',
    params: runPath,
    query: z.strictObject({
      path: textUpTo(PATH_LIMIT).optional(),
      offset: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER, preset: 0 }),
      limit: numberInQuery({ min: 1, max: PAGE_LIMIT, preset: 100 }),
    }),
    answers: { 200: { description: 'the files', schema: gateFiles } },
    problems: { 409: { description: 'the run waits at no gate, or nothing was measured' } },
    async handle({ caller, params, query, parts: { project } }) {
      const { path, offset, limit } = query;
      const { changesAtGate } = project;
      const found = await looksOf(caller, async () => {
        if (path === undefined) return changesAtGate.files(params.id);
        const file = await changesAtGate.file(params.id, path);
        return file === null ? [] : [file];
      });
      const files = path === undefined ? found.slice(offset, offset + limit) : found;
      const next_offset = path === undefined && offset + limit < found.length ? offset + limit : null;
      return reply(200, { run: params.id, files: files.map(wholeFile), total: found.length, next_offset });
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/fence',
    operationId: 'settleFence',
    tag: 'fence',
    who: ['human'],
    summary: 'Restore, move aside or accept what was changed',
    description:
      '`restore` makes files what they were, `quarantine` moves them out of the workspace, `accept` lets them stay and needs a reason. A path may be a folder. `accept` with `all` accepts every change, and takes a new measure where the old one is missing. `shown` is that of the report that was displayed: it is about exactly what that told, and where the workspace is another by now, the answer is 409 `fence_failed`. Without a human set up it is 403 `no_human`.',
    params: runPath,
    body: fenceRequest,
    answers: { 200: { description: 'what became of each path', schema: fenceSettled } },
    problems: { 409: { description: 'refused, or there is nothing to compare with' } },
    async handle({ caller, params, body, parts, instance }) {
      const { action, paths, reason = '', shown } = body;
      const human = signerOf(caller.session);
      const { submitted, done } = await parts.project.fencing.settle(
        params.id,
        { action, paths, reason, shown },
        human,
      );
      const refused = refusalOf(submitted, { instance, reader: 'human' });
      return refused ?? reply(200, encodeSettled(params.id, action, { done }));
    },
  }),
];
