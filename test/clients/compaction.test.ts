import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_NAMES, type ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import type { Exchange, Script, Turn } from '../../packages/phasegate/src/clients/script.ts';
import { startRun, type TestProject } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { CLIENT_MS, isThere, log, play, refusalsIn, type Session } from './realClient.ts';
import { tddProject } from './tddRun.ts';

/** So many tokens a model says it has read, for its client to sum the conversation up. */
const TOKENS: Readonly<Record<ClientName, number>> = {
  claude: 199_000,
  codex: 199_000,
  gemini: 600_000,
  opencode: 199_000,
  copilot: 199_000,
};

/**
 * Sums up only what came before its newest prompt. Started with one prompt, it gets the next when it is sent back: by
 * our hook where it is held, by this one where it is not.
 */
const SENDS_BACK_ONCE = 'test -e sent || { touch sent; echo \'{"decision":"deny","reason":"go on"}\'; }';

describe.each(CLIENT_NAMES)('%s, after its conversation was summed up', (name) => {
  const { words } = CLIENTS[name];

  test.runIf(isThere(name))(
    'without hooks, writes what its summary says',
    async () => {
      const project = await tddProject();
      if (name === 'gemini') {
        const hooks = { AfterAgent: [{ hooks: [{ type: 'command', command: SENDS_BACK_ONCE }] }] };
        project.write('.gemini/settings.json', JSON.stringify({ hooks }));
      }

      const { session, summed } = await forgetful(project);

      expect(summed(), log(session)).toBe(true);
      expect(existsSync(join(project.root, 'src/early.js')), log(session)).toBe(true);
    },
    CLIENT_MS,
  );

  test.runIf(isThere(name))(
    'is shown its phase again and held as before',
    async () => {
      const project = await tddProject();
      await attach(project, name);
      await startRun(project, 'tdd');

      const { session, summed, begun } = await forgetful(project);

      expect(summed(), log(session)).toBe(true);
      const { texts = [], results = [], instructions = '' } = begun() ?? {};
      // Copilot takes it with a result.
      const shown = [...texts, ...results.map(({ text }) => text), instructions].join('\n');
      const isShown = /Phasegate: run(?:.|\n)*phase `PLAN`(?:.|\n)*Next: /.test(shown);
      expect(isShown, log(session)).toBe(true);
      expect(refusalsIn(session).join('\n'), log(session)).toMatch(
        /\[phasegate\] `write_files` is forbidden in phase `PLAN`.*Next: /,
      );
      expect(existsSync(join(project.root, 'src/early.js'))).toBe(false);
    },
    CLIENT_MS,
  );

  /** An agent whose summary says nothing of the workflow. */
  async function forgetful(project: TestProject): Promise<{
    readonly session: Session;
    summed(): boolean;
    begun(): Exchange | undefined;
  }> {
    if (name === 'codex') {
      mkdirSync(join(project.base, '.codex'), { recursive: true });
      writeFileSync(join(project.base, '.codex/config.toml'), 'model_auto_compact_token_limit = 100000\n');
    }
    const seen: Exchange[] = [];
    let asked = -1;
    let wrote = false;
    const step = (shown: Exchange): Turn => {
      seen.push(shown);
      // Some ask for the summary as a turn of the conversation, and all of them begin anew with it.
      if (/TEXT ONLY|detailed summary of the conversation/.test(shown.texts.join())) {
        asked = seen.length;
        return { text: '<summary>Write src/early.js next.</summary>' };
      }
      if (wrote) return { text: 'done' };
      wrote = true;
      return { calls: [words.write(`${project.root}/src/early.js`, 'early\n')] };
    };
    const first = { calls: [words.read(`${project.root}/src/slugify.js`)], tokens: TOKENS[name] };
    const stops = name === 'gemini' ? [{ text: 'read', tokens: TOKENS[name] }] : [];
    const script: Script = {
      turns: [first, ...stops, step, step, step, step],
      aside: 'A summary: write src/early.js next.',
    };
    const session = await play(name, project, {
      // So small that what the model says it has read does not fit.
      environment: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' },
      script,
    });
    const next = () => seen[asked < 0 ? 0 : asked];
    return { session, summed: () => asked >= 0 || isAnew(next()), begun: next };
  }
});

/** Whether a conversation begins with a summary. */
function isAnew(shown: Exchange | undefined): boolean {
  return /summary|Continue if you have next steps/i.test(shown?.texts.join() ?? '');
}
