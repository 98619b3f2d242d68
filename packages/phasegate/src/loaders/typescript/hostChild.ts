import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Json } from '@phasegate/core';
import type { DefinedWorkflow } from '@phasegate/sdk';
import { answerOf, toJson } from './answerOf.ts';
import { type ContextDatabase, openContextDatabase } from './contextDatabase.ts';
import { contextOf } from './contextOf.ts';
import { CodeChanged, guardModules } from './guardModules.ts';
import {
  DESCRIBE,
  type Described,
  type HostAnswer,
  type HostFailure,
  type HostRequest,
  MAX_ANSWER_BYTES,
  type Opening,
} from './hostProtocol.ts';

// The process a workflow's code runs in. It has no keys and no way to the state: only this channel.

const send = process.send?.bind(process);
// The module shares this process, but not the channel.
Reflect.deleteProperty(process, 'send');
process.on('disconnect', () => process.exit(0));

let workflow: DefinedWorkflow | undefined;
let printed = false;
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (...args: unknown[]) => {
  printed = true;
  return (write as (...parts: unknown[]) => boolean)(...args);
};

process.on('message', (request: HostRequest) => {
  void answer(request).then((reply) => send?.(reply));
});

async function answer(request: HostRequest): Promise<HostAnswer> {
  const { id } = request;
  try {
    const value = request.kind === 'open' ? await openModule(request.opening) : await callFunction(request);
    if (JSON.stringify(value).length > MAX_ANSWER_BYTES) {
      return {
        id,
        ok: false,
        failure: { kind: 'threw', reason: `returned more than ${MAX_ANSWER_BYTES} bytes` },
      };
    }
    return { id, ok: true, value };
  } catch (error) {
    return { id, ok: false, failure: failureOf(error) };
  }
}

async function openModule(opening: Opening): Promise<Json> {
  // Before any code of the author's runs: what opens databases must not be theirs to replace.
  await import('../../database/index.ts');
  guardModules(opening);
  const exports: Record<string, unknown> = await import(pathToFileURL(opening.module).href);
  workflow = workflowOf(exports);
  return null;
}

class UnknownFunction extends Error {}

function workflowOf(exports: Record<string, unknown>): DefinedWorkflow {
  const named = [exports.default, exports.WORKFLOW].filter((value) => value !== undefined);
  const candidates = new Set(named.length > 0 ? named : Object.values(exports).filter(isWorkflow));
  const [first, ...more] = candidates;
  if (more.length > 0) throw new UnknownFunction('exports more than one workflow; a file holds exactly one');
  if (isWorkflow(first)) return first;
  const what = first === undefined ? 'exports no workflow' : 'exports something else than a workflow';
  throw new UnknownFunction(`${what}; its default export must be what \`defineWorkflow\` returned`);
}

function isWorkflow(value: unknown): value is DefinedWorkflow {
  return (
    typeof value === 'object' && value !== null && (value as DefinedWorkflow).kind === 'phasegate.workflow'
  );
}

async function callFunction({ ref, context, known, database }: HostCall): Promise<Json> {
  if (workflow === undefined) throw new UnknownFunction('no workflow is loaded');
  if (ref === DESCRIBE) return describe(workflow);
  const run = Object.hasOwn(workflow.functions, ref) ? workflow.functions[ref] : undefined;
  const kind = workflow.kinds[ref];
  // Helpers are for `ctx.db` alone; the engine never asks one.
  if (run === undefined || kind === undefined || kind === 'helper')
    throw new UnknownFunction(`the workflow has no function \`${ref}\``);
  const code = workflow;
  const params = Object.keys(code.draft.params ?? {});
  let open: ContextDatabase | undefined;
  // Opened by the first look at it: a question that is not about the database must not fail for want of one.
  const db = () => {
    if (database !== undefined) open ??= openContextDatabase(database, code);
    return open?.db ?? null;
  };
  const given = contextOf(context, {
    known: { params, ...known },
    ...(code.draft.database === undefined ? {} : { db }),
  });
  try {
    return answerOf(kind, await run(given as unknown as Parameters<typeof run>[0]));
  } finally {
    open?.close();
  }
}

type HostCall = Extract<HostRequest, { kind: 'call' }>;

function describe({ draft, problems, functions }: DefinedWorkflow): Json {
  const described: Described = { draft, problems, functions: Object.keys(functions).length, printed };
  return toJson(described, 'workflow', []);
}

function failureOf(error: unknown): HostFailure {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof CodeChanged) return { kind: 'code_changed', reason };
  if (error instanceof UnknownFunction) return { kind: 'unknown_function', reason };
  const name = error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : '';
  return { kind: 'threw', reason: `${name}${reason}`.slice(0, 2000), ...placeOf(error) };
}

function placeOf(error: unknown): Pick<HostFailure, 'at'> {
  const frame = /(file:\/\/[^\s)]+):(\d+):(\d+)/.exec(error instanceof Error ? String(error.stack) : '');
  if (frame === null) return {};
  return {
    at: { file: fileURLToPath(frame[1] as string), line: Number(frame[2]), column: Number(frame[3]) },
  };
}
