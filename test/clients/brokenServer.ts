import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestProject } from '../e2e/cli.ts';

/** How the server of hooks can be broken while a client works. */
export const BROKEN_ANSWERS = {
  'answers 500': (response) => response.writeHead(500).end('{}'),
  'answers 204': (response) => response.writeHead(204).end(),
  'answers nothing': (response) => response.writeHead(200).end(),
  'answers garbage': (response) => response.writeHead(200).end('go on\n'),
  'answers half an object': (response) => response.writeHead(200).end('{"decision":'),
  hangs: () => undefined,
} as const satisfies Readonly<Record<string, (response: ServerResponse) => unknown>>;

/** The server that a project's hooks ask, to be killed, held or replaced. */
export class BrokenServer {
  private impostor: Server | null = null;
  private readonly project: TestProject;

  constructor(project: TestProject) {
    this.project = project;
  }

  kill(): void {
    process.kill(this.state().pid, 'SIGKILL');
  }

  /** It gets no processor, and then gets one again. */
  starve(milliseconds: number): void {
    const { pid } = this.state();
    process.kill(pid, 'SIGSTOP');
    setTimeout(() => process.kill(pid, 'SIGCONT'), milliseconds);
  }

  /** Something else answers at its socket. */
  async replace(answer: (response: ServerResponse) => unknown): Promise<void> {
    await this.putBack();
    const { pid, socket } = this.state();
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The one before was killed too.
    }
    rmSync(socket, { force: true });
    const server = createServer((_, response) => void answer(response));
    this.impostor = server;
    await new Promise<void>((resolve) => void server.listen(socket, resolve));
    writeFileSync(socket.replace(/\.sock$/, '.pid'), `${process.pid}\n`);
  }

  /** The next hook finds no server, and starts one. */
  async putBack(): Promise<void> {
    const { impostor } = this;
    this.impostor = null;
    if (impostor === null) return;
    await new Promise<void>((resolve) => void impostor.close(() => resolve()).closeAllConnections());
  }

  private state(): { readonly pid: number; readonly socket: string } {
    return JSON.parse(readFileSync(join(this.project.stateDir, 'server.json'), 'utf8')) as {
      readonly pid: number;
      readonly socket: string;
    };
  }
}
