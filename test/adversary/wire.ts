import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Json, JsonObject } from '@phasegate/core';
import { atEndOfFile } from '../atEndOfFile.ts';

/** A request as an attacker makes it: any header, as often as wanted, from any address of this machine. */
export interface Sent {
  readonly method?: string;
  readonly path: string;
  /** In this order and spelling. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Sent as JSON, unless it is text already. */
  readonly body?: Json;
  /** One of 127.0.0.0/8: limits count by address. */
  readonly from?: string;
}

/** What came back. */
export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as a JSON object; empty where it is none. */
  readonly body: JsonObject;
}

let addresses = 0;

/** An address of this machine that nothing has come from yet. */
export function newAddress(): string {
  addresses += 1;
  return `127.77.${addresses >> 8}.${addresses & 255}`;
}

/** Sends requests to one server over connections that are kept. */
export function wireTo(url: string): (sent: Sent) => Promise<Got> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  atEndOfFile(() => agent.destroy());
  const { host } = new URL(url);
  return (sent) => {
    const { body } = sent;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const headers = [...(sent.headers ?? [])];
    const has = (name: string) => headers.some(([given]) => given.toLowerCase() === name);
    if (!has('host')) headers.push(['Host', host]);
    if (text !== undefined && !has('content-type')) headers.push(['Content-Type', 'application/json']);
    if (text !== undefined && !has('content-length') && !has('transfer-encoding')) {
      headers.push(['Content-Length', String(Buffer.byteLength(text))]);
    }
    const asked = request(url, {
      agent,
      method: sent.method ?? 'GET',
      path: sent.path,
      headers: headers.flat(),
      setHost: false,
      ...(sent.from === undefined ? {} : { localAddress: sent.from }),
    });
    asked.end(text);
    return answerTo(asked);
  };
}

/** The whole answer to a request. */
export function answerTo(asked: ClientRequest): Promise<Got> {
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: objectIn(text),
        }),
      );
    });
  });
}

/** An open socket to a server, for what no HTTP client would send. */
export function dial(url: string, from = newAddress()): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: from }, () => {
      // A server that hangs up in the middle is what is expected of it.
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
    atEndOfFile(() => socket.destroy());
  });
}

/** Sends bytes as they are and gives everything that comes back until the server hangs up. */
export async function converse(url: string, bytes: string): Promise<string> {
  const socket = await dial(url);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(bytes);
  await closed;
  return text;
}

/** The header of a bearer. */
export function bearer(secret: string): readonly [string, string] {
  return ['Authorization', `Bearer ${secret}`];
}

function objectIn(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
