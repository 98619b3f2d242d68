import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanContext,
  type SpanStatus,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';
import type { RestEnv } from './parts.ts';
import { createTracing, type Tracing } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

afterEach(() => trace.disable());

describe('tracing that is on', () => {
  test("makes a span of each request, in the caller's trace", async () => {
    const { spans, app } = traced(createTracing(true));

    await app.request('/runs/r-1', { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });

    expect(spans).toMatchObject([
      {
        name: 'GET /runs/:id',
        ended: true,
        parent: { traceId: TRACE, spanId: PARENT, isRemote: true },
        attributes: {
          'http.route': '/runs/:id',
          'http.response.status_code': 200,
          'http.request.method': 'GET',
        },
      },
    ]);
  });

  test.each([
    'nonsense',
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
  ])('begins a trace of its own where the header is none: %s', async (traceparent) => {
    const { spans, app } = traced(createTracing(true));

    await app.request('/runs/r-1', { headers: { traceparent } });

    expect(spans).toMatchObject([{ ended: true, parent: undefined }]);
  });

  test('makes a span of each command, with what came of it', async () => {
    const tracing = createTracing(true);
    const { spans } = traced(tracing);

    await tracing.command(
      'transition',
      { 'phasegate.run': 'r-1' },
      {
        run: async () => 'refused',
        attributes: (result) => ({ verdict: result }),
      },
    );

    expect(spans).toMatchObject([
      { name: 'transition', ended: true, attributes: { 'phasegate.run': 'r-1', verdict: 'refused' } },
    ]);
  });

  test('of a server has the request and the command in it, with run and verdict', async () => {
    const { spans } = traced(createTracing(false));
    const door = openDoor({ settings: { tracing: true } });
    const { authorization, run } = await door.holder('ada');

    await door.app.request('/api/v1/tools/check', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"tool":"write_files","input":{"path":"a.txt","content":""}}',
    });

    expect(spans).toMatchObject([
      { name: 'POST /api/v1/tools/check', ended: true },
      {
        name: 'check',
        ended: true,
        attributes: { 'phasegate.run': run, 'phasegate.tool': 'write_files', 'phasegate.allowed': false },
      },
    ]);
  });

  test('ends the span of a command that throws, and marks it', async () => {
    const tracing = createTracing(true);
    const { spans } = traced(tracing);
    const work = { run: () => Promise.reject(new Error('no')), attributes: () => ({}) };

    await expect(tracing.command('claim', {}, work)).rejects.toThrow('no');
    expect(spans).toMatchObject([{ ended: true, status: { code: 2 } }]);
  });
});

test('tracing that is off is nothing: no middleware, no span, no look at the result', async () => {
  const tracing = createTracing(false);
  const { spans } = traced(tracing);

  const result = await tracing.command(
    'check',
    {},
    {
      run: async () => 7,
      attributes: () => {
        throw new Error('looked');
      },
    },
  );

  expect(result).toBe(7);
  expect(tracing.request).toBeNull();
  expect(spans).toEqual([]);
});

interface Seen {
  name: string;
  ended: boolean;
  readonly parent: SpanContext | undefined;
  readonly attributes: Attributes;
  status: SpanStatus | undefined;
}

/** A tracer provider that remembers its spans, registered as any would be. */
function traced(tracing: Tracing) {
  const spans: Seen[] = [];
  const startSpan: Tracer['startSpan'] = (name, options, parent: Context = context.active()) => {
    const seen: Seen = {
      name,
      ended: false,
      parent: trace.getSpanContext(parent),
      attributes: { ...options?.attributes },
      status: undefined,
    };
    spans.push(seen);
    const span: Partial<Span> = {
      updateName: (next) => {
        seen.name = next;
        return span as Span;
      },
      setAttributes: (attributes) => {
        Object.assign(seen.attributes, attributes);
        return span as Span;
      },
      setStatus: (status) => {
        seen.status = status;
        return span as Span;
      },
      end: () => {
        seen.ended = true;
      },
    };
    return span as Span;
  };
  const tracer = { startSpan } as Tracer;
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  const app = new Hono<RestEnv>();
  if (tracing.request !== null) app.use(tracing.request);
  app.get('/runs/:id', (c) => c.text('here'));
  return { spans, app };
}
