import { isJsonObject, type Json, type JsonObject, own, PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { isFarTooDeep } from '../../limits/jsonDepth.ts';
import { hasMoreValues } from '../../limits/jsonWidth.ts';
import type { HookClient, HookEvent, Hooks } from '../../runtime/ports.ts';
import { type ClientAdapter, isFault, textIn } from './adapter.ts';
import { ADAPTERS } from './adapters.ts';
import type { Pairing } from './pairing.ts';
import { callsIn, isRead } from './transcripts.ts';
import { trueCaller } from './trueCaller.ts';

/** One event as it came in. */
export interface HookRequest {
  /** Whose hook it is by its settings; another client may have run it. */
  readonly client: HookClient;
  /** The client's own JSON; null where it was larger than is read. */
  readonly body: string | null;
  /** PHASEGATE_RUN of the client's environment. */
  readonly run?: string | undefined;
  /** PATH of the client, by which its shell finds programs. */
  readonly programs?: string | undefined;
  /** By which settings the hook was started; those of the project where nothing is said. */
  readonly scope?: string | undefined;
}

/** What it is answered with. */
export interface HookMeans {
  readonly hooks: Pick<Hooks, 'handle'>;
  /** Below what any client waits for. */
  readonly deadlineMs?: number;
  /** Knows what was told twice. Left out, everything is answered. */
  readonly pairing?: Pairing;
  /** Told what went wrong where the client is only told no. */
  onError?(error: unknown): void;
}

/** The largest event that is read. */
export const HOOK_LIMIT = 8 * 1024 * 1024;

const DEADLINE_MS = 8_000;

/**
 * Answers one event in the words of the client it came from. INVARIANT: whatever goes wrong, the answer is a complete
 * JSON object that lets no tool run: clients take an answer they cannot read for a yes.
 */
export async function answerHook(request: HookRequest, means: HookMeans): Promise<JsonObject> {
  const named = ADAPTERS[request.client];
  const payload = payloadOf(request.body);
  if (typeof payload === 'string') return named.deny(faultText(payload));
  const adapter = ADAPTERS[trueCaller(request.client, payload)];
  const event = adapter.read(payload);
  if (isFault(event)) return adapter.deny(faultText(event.fault));
  const fault = tooLongIn(event) ?? halvesIn(event) ?? unknownIn(event, payload);
  if (fault !== null) return adapter.deny(faultText(fault));
  const { run = '', programs = '', scope } = request;
  const given = { ...event, ...(run === '' ? {} : { run }), ...(programs === '' ? {} : { programs }) };
  const told = { scope: scope === 'user' ? 'user' : 'project', payload } as const;
  const isRepeated = means.pairing?.isSecond(given, told) === true;
  if (isRepeated && !COMPARING.has(event.event)) return {};
  return inTime(adapter, withWritten(isRepeated ? { ...given, isRepeated } : given, payload), means);
}

/** Events at which a transcript is compared, each time they are told. */
const COMPARING: ReadonlySet<HookEvent['event']> = new Set(['stop', 'subagent_stop', 'session_end']);

/** What stands in the audit of every call is short, or somebody could fill it. */
function tooLongIn({ tool, agentId, parent, source, transcript, cwd }: HookEvent): string | null {
  const names = [tool?.name, tool?.callId, agentId, parent, source];
  if (names.some((name) => (name?.length ?? 0) > LONGEST_NAME))
    return `a name or id in the event is longer than ${LONGEST_NAME} characters`;
  const isLong = [transcript, cwd].some((path) => (path?.length ?? 0) > LONGEST_PATH);
  return isLong ? `a path in the event is longer than ${LONGEST_PATH} characters` : null;
}

/** What a store cannot keep as it is would never be what was sealed. */
function halvesIn({ tool, agentId, parent, source, transcript, cwd }: HookEvent): string | null {
  const texts = [tool?.name, tool?.callId, agentId, parent, source, transcript, cwd];
  return texts.every((text) => text?.isWellFormed() !== false)
    ? null
    : 'a name, id or path in the event holds half of a character';
}

/** An event that nobody knows and that speaks of a tool may be the one before it, of another version. */
function unknownIn({ event }: HookEvent, payload: JsonObject): string | null {
  const isAboutTool = event === 'other' && OF_TOOLS.some((name) => own(payload, name) !== undefined);
  return isAboutTool ? 'the event is not one that is known, and it is about a tool' : null;
}

const OF_TOOLS = ['tool_name', 'tool_input', 'toolName', 'toolArgs', 'tool', 'args'];

const LONGEST_NAME = 500;
const LONGEST_PATH = 4096;

/** An event with the calls its client has written down, read when somebody asks. */
function withWritten(event: HookEvent, payload: JsonObject): HookEvent {
  if (event.written !== undefined || !isRead(event.client)) return event;
  const ofSubagent = event.event === 'subagent_stop' ? textIn(payload, 'agent_transcript_path') : undefined;
  const isSubagent = ofSubagent !== undefined || event.agentId !== undefined;
  if (isSubagent && ofSubagent === undefined) return event;
  return {
    ...event,
    async written(known) {
      const file = ofSubagent ?? event.transcript ?? known;
      if (file === null) return undefined;
      const calls = await callsIn(event.client, file, event.sessionId);
      return calls === null ? null : { isSubagent, isWhole: true, calls };
    },
  };
}

async function inTime(adapter: ClientAdapter, event: HookEvent, means: HookMeans): Promise<JsonObject> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const ms = means.deadlineMs ?? DEADLINE_MS;
    timer = setTimeout(() => reject(new Error(`it was not decided within ${ms / 1000} seconds`)), ms);
  });
  try {
    return adapter.answer(await Promise.race([means.hooks.handle(event), late]), event);
  } catch (error) {
    means.onError?.(error);
    // What only looks or leaves is not held up by our trouble; what acts is.
    return HARMLESS.has(event.event) ? {} : adapter.deny(faultText(reasonIn(error)));
  } finally {
    clearTimeout(timer);
  }
}

/** Events that let nothing happen by being answered. */
const HARMLESS: ReadonlySet<HookEvent['event']> = new Set([
  'session_start',
  'prompt',
  'after_tool',
  'tool_selection',
  'subagent_start',
  'subagent_stop',
  'compacting',
  'compacted',
  'session_end',
  'other',
]);

function payloadOf(body: string | null): JsonObject | string {
  if (body === null) return `the event is larger than ${HOOK_LIMIT / 1024 / 1024} MB, which is not judged`;
  // To read it would keep every other client waiting.
  const bytes = Buffer.from(body);
  if (isFarTooDeep(bytes)) return 'the event is nested too deeply';
  if (hasMoreValues(bytes, MOST_VALUES)) return `the event has more than ${MOST_VALUES} values`;
  let value: Json;
  try {
    value = JSON.parse(body) as Json;
  } catch {
    return 'the event is not JSON';
  }
  return isJsonObject(value) ? value : 'the event is not a JSON object';
}

/** Far more than any call has that a person could look at. */
const MOST_VALUES = 100_000;

function reasonIn(error: unknown): string {
  if (error instanceof PhasegateError) return `${error.message} (${error.code})`;
  return error instanceof Error ? error.message : 'something went wrong';
}

function faultText(reason: string): string {
  return `[phasegate] not allowed, because it could not be judged: ${oneLine(reason)}. Next: tell the human to run \`phasegate doctor\``;
}
