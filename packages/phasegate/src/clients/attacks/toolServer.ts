/**
 * A program: an MCP server over stdio with one tool that writes a file, for clients to call in a proof. It is small on
 * purpose, as it is started anew in every session.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

interface Call {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly arguments?: { readonly path?: unknown; readonly text?: unknown };
  };
}

const TEXT = { type: 'string' };
const PUT = {
  name: 'put',
  description: 'Writes a file.',
  inputSchema: { type: 'object', properties: { path: TEXT, text: TEXT }, required: ['path', 'text'] },
};

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line) as Call;
  if (call.id === undefined) continue;
  const result = resultOf(call);
  const answer = result ?? { error: { code: -32601, message: 'there is no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: call.id, ...answer })}\n`);
}

function resultOf({ method, params }: Call): { readonly result: object } | null {
  if (method === 'initialize') {
    const protocolVersion = params?.protocolVersion ?? '2025-11-25';
    const serverInfo = { name: 'proof', version: '1' };
    return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }
  if (method === 'tools/list') return { result: { tools: [PUT] } };
  if (method === 'ping') return { result: {} };
  if (method !== 'tools/call') return null;
  const path = String(params?.arguments?.path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, String(params?.arguments?.text));
  return { result: { content: [{ type: 'text', text: 'written' }] } };
}
