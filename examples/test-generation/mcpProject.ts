import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** The JSON a tool answered. */
export type Answer = Readonly<Record<string, unknown>>;

/** What one call of a tool gave. */
export interface Called {
  readonly answer: Answer;
  /** The text a client puts before its model. */
  readonly text: string;
}

/** A copy of an example in a folder of its own, with a home of its own. */
export interface McpProject {
  /** Calls a tool in the server process that runs; starts one where none does. */
  call(tool: string, args: object): Promise<Called>;
  /** The list of tools, as it goes over the wire. */
  toolList(): Promise<string>;
  /** Ends the server process. The next call has another one. */
  restart(): Promise<void>;
  /** Server processes so far. */
  readonly processes: number;
  read(path: string): string;
  write(path: string, text: string): void;
  remove(path: string): void;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));

/** Copies an example's folders to the system's place for temporary files. */
export function makeMcpProject(example: string, folders: readonly string[]): McpProject {
  const base = mkdtempSync(join(realpathSync(tmpdir()), `phasegate-${basename(example)}-`));
  const root = join(base, 'project');
  for (const folder of folders) cpSync(join(example, folder), join(root, folder), { recursive: true });
  const { NODE_COMPILE_CACHE = '' } = process.env;
  const env = {
    PATH: dirname(process.execPath),
    HOME: base,
    XDG_STATE_HOME: join(base, 'state'),
    ...(NODE_COMPILE_CACHE === '' ? {} : { NODE_COMPILE_CACHE }),
  };
  let client: Client | undefined;
  let processes = 0;

  const connect = async () => {
    // Every other process is spoken to in the protocol's newest version, the rest as older clients do.
    const newest = processes++ % 2 === 1;
    const made = new Client(
      { name: 'phasegate-example', version: '1.0.0' },
      newest ? { versionNegotiation: { mode: 'auto' } } : {},
    );
    await made.connect(
      new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp'], cwd: root, env }),
    );
    return made;
  };
  const restart = async () => {
    await client?.close();
    client = undefined;
  };
  return {
    async call(tool, args) {
      client ??= await connect();
      const result = await client.callTool({ name: tool, arguments: { ...args } });
      const [content] = result.content;
      const text = content?.type === 'text' ? content.text : '';
      if (result.isError === true) throw new Error(`${tool} failed: ${text}`);
      return { answer: (result.structuredContent ?? {}) as Answer, text };
    },
    async toolList() {
      client ??= await connect();
      return JSON.stringify((await client.listTools()).tools);
    },
    restart,
    get processes() {
      return processes;
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    remove: (path) => rmSync(join(root, path), { recursive: true }),
    async close() {
      await restart();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
