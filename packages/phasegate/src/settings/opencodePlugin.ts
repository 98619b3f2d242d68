import type { SettingsFile } from './settingsFile.ts';

/** opencode has no command hooks: a plugin of ours runs the hook program, and throws where the answer is no. */
export function opencodePlugin(path: string): SettingsFile {
  return {
    path,
    add: (_text, { hook }) => pluginText(hook),
    remove: (text) => (text.includes(MARK) ? null : text),
  };
}

const MARK = '// Written by `phasegate init`, removed by `phasegate uninit`.';

function pluginText(hook: string): string {
  return `${MARK}
// It asks Phasegate before every tool call. Whatever goes wrong stops the call: a handler that throws is a refusal.
import { spawn, spawnSync } from 'node:child_process';

const HOOK = ${JSON.stringify(hook)};
const DEADLINE_MS = 50_000;
const MOST_TOLD = 2000;
const COMPLETES = /complete_phase|phasegate/;

function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(HOOK, [], { stdio: ['pipe', 'pipe', 'pipe'] });
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('[phasegate] not allowed: no answer in time; tell the human to run \`phasegate doctor\`'));
    }, DEADLINE_MS);
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.stdin.on('error', () => {});
    child.on('error', (error) => {
      clearTimeout(late);
      reject(new Error('[phasegate] not allowed: the hook cannot be started (' + error.message + '); tell the human to run \`phasegate init\`'));
    });
    child.on('close', (code) => {
      clearTimeout(late);
      if (code !== 0) return reject(new Error(err.trim() || '[phasegate] not allowed: the hook failed'));
      try {
        const answer = JSON.parse(out);
        if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) throw new Error('no object');
        resolve(answer);
      } catch {
        reject(new Error('[phasegate] not allowed: the answer of the hook cannot be read'));
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

// \`opencode run\` ends with its model's last words: nobody can be told to go on, and nothing is waited for.
const LAST = process.argv.includes('run');

export const Phasegate = async ({ client, directory, worktree }) => {
  const at = { cwd: directory, directory, worktree };
  const cards = new Map();
  const parents = new Map();
  // Calls that went well, by their session: what was carried out without being asked about is so found.
  const made = new Map();
  const madeIn = (sessionID) => [...(made.get(sessionID)?.values() ?? [])].slice(-MOST_TOLD);
  return {
    async event({ event }) {
      const part = event?.type === 'message.part.updated' ? event.properties?.part : undefined;
      if (part?.type === 'tool' && part.state?.status === 'completed' && typeof part.callID === 'string') {
        const calls = made.get(part.sessionID) ?? new Map();
        const start = part.state.time?.start;
        const at = typeof start === 'number' ? new Date(start).toISOString() : undefined;
        calls.set(part.callID, { callID: part.callID, tool: part.tool, at });
        made.set(part.sessionID, calls);
        return;
      }
      const sessionID = event?.properties?.info?.id ?? event?.properties?.sessionID;
      const known = ['session.created', 'session.compacted', 'session.idle', 'session.deleted'];
      if (!known.includes(event?.type) || typeof sessionID !== 'string') return;
      const found = event.properties.info?.parentID;
      if (typeof found === 'string') parents.set(sessionID, found);
      const parentID = parents.get(sessionID);
      const calls = event.type === 'session.idle' ? madeIn(sessionID) : undefined;
      const told = { hook_event_name: event.type, sessionID, parentID, calls, ...at };
      if (event.type === 'session.idle' && LAST) {
        spawnSync(HOOK, [], { input: JSON.stringify({ ...told, last: true }), timeout: DEADLINE_MS });
        return;
      }
      const answer = await ask(told);
      if (typeof answer.context === 'string') cards.set(sessionID, answer.context);
      if (typeof answer.go_on === 'string') {
        const body = { parts: [{ type: 'text', text: answer.go_on }] };
        await client.session.promptAsync({ path: { id: sessionID }, body });
      }
    },
    async 'chat.message'(input, output) {
      const parentID = parents.get(input.sessionID);
      const answer = await ask({ hook_event_name: 'chat.message', sessionID: input.sessionID, parentID, ...at });
      if (typeof answer.context === 'string') cards.set(input.sessionID, answer.context);
      void output;
    },
    async 'experimental.chat.system.transform'(input, output) {
      const card = cards.get(input?.sessionID);
      if (card !== undefined && Array.isArray(output?.system)) output.system.push(card);
    },
    async 'tool.execute.before'(input, output) {
      const answer = await ask({
        hook_event_name: 'tool.execute.before',
        sessionID: input.sessionID,
        parentID: parents.get(input.sessionID),
        callID: input.callID,
        tool: input.tool,
        args: output.args,
        calls: COMPLETES.test(input.tool + ' ' + (output.args?.command ?? '')) ? madeIn(input.sessionID) : undefined,
        ...at,
      });
      if (answer.decision === 'deny') throw new Error(String(answer.reason ?? '[phasegate] not allowed'));
      if (answer.args !== undefined) output.args = answer.args;
    },
    async 'tool.execute.after'(input, output) {
      await ask({
        hook_event_name: 'tool.execute.after',
        sessionID: input.sessionID,
        parentID: parents.get(input.sessionID),
        callID: input.callID,
        tool: input.tool,
        args: input.args ?? {},
        output: typeof output?.output === 'string' ? output.output.slice(0, 20_000) : null,
        ...at,
      });
    },
  };
};
`;
}
