import {
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Context as TraceContext,
  trace,
} from '@opentelemetry/api';
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { RestEnv } from './parts.ts';

/** What a span says about its work. */
export type SpanFields = Readonly<Record<string, string | number | boolean>>;

/** Spans around requests and commands; anyone who registers a tracer provider sees them. */
export interface Tracing {
  /** Around each request; null when tracing is off. */
  readonly request: MiddlewareHandler<RestEnv> | null;
  /** Around one piece of work; `attributes` says afterwards what came of it. */
  command<T>(name: string, fields: SpanFields, work: Work<T>): Promise<T>;
}

/** Work, and what to say about its result. */
export interface Work<T> {
  run(): Promise<T>;
  attributes(result: T): SpanFields;
}

/** Chosen once: when off, a command is its work and nothing else. */
export function createTracing(on: boolean): Tracing {
  if (!on) return { request: null, command: (_name, _fields, work) => work.run() };
  // Asked for at every span: a provider may be registered after the server was built.
  const tracer = () => trace.getTracer('phasegate');
  return {
    request: async (c, next) => {
      const parent = remoteParent(c.req.header('traceparent')) ?? context.active();
      const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': c.req.method } };
      const span = tracer().startSpan(c.req.method, options, parent);
      await within(span, parent, async () => {
        await next();
        const route = routePath(c, -1);
        span.updateName(`${c.req.method} ${route}`);
        span.setAttributes({ 'http.route': route, 'http.response.status_code': c.res.status });
        if (c.res.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      });
    },
    command: (name, fields, work) => {
      const parent = context.active();
      const span = tracer().startSpan(name, { attributes: { ...fields } }, parent);
      return within(span, parent, async () => {
        const result = await work.run();
        span.setAttributes({ ...work.attributes(result) });
        return result;
      });
    },
  };
}

async function within<T>(span: Span, parent: TraceContext, act: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), act);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-|$)/;

/** The caller's span, after W3C Trace Context; null for a header that is not one. */
function remoteParent(header: string | undefined): TraceContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || header?.startsWith('ff')) return null;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
