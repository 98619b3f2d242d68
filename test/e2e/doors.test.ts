import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM, phasegate } from './cli.ts';
import { type Bed, begin, claimed, makeBed, phaseOf, WAYS_IN } from './doors.ts';

const LONG = 120_000;
let bed: Bed;

beforeAll(async () => {
  bed = await makeBed();
}, LONG);

describe.each(WAYS_IN)('a phase that is completed through $name', ({ complete, byToken }) => {
  test(
    'while the server runs a `bash` is left when that has ended, and not before [adv.D4 adv.N5]',
    async () => {
      const hand = await claimed(bed);
      const { executed, end } = await begin(bed, hand);

      const asked = Promise.withResolvers<void>();
      const completing = complete(bed, hand, { phase: 'GO', asked: asked.resolve });
      await asked.promise;
      const late = () => existsSync(join(bed.project.root, `late-${hand.run}`));
      const first = Promise.race([completing, executed.then(() => 'the call has ended')]);
      // Twice as long as the door itself may take to get there.
      for (const _ of [1, 2]) expect(await phaseOf(bed, hand.run)).toBe('GO');
      expect(late()).toBe(false);
      end();

      expect(await first).toBe('the call has ended');
      expect(await executed).toMatchObject({ status: 200, body: { allowed: true, result: { ok: true } } });
      expect(await completing).toBe('allowed');
      expect(await phaseOf(bed, hand.run)).toBe('RETURN');
      const records = await eventsOf(hand.run);
      expect(records.indexOf('tool_executed')).toBeLessThan(records.indexOf('phase_completed'));
    },
    LONG,
  );

  test(
    'is counted once in the metrics of the server [S2.76]',
    async () => {
      const hand = await claimed(bed);
      const before = await counted('allowed');
      expect(await complete(bed, hand, { phase: 'GO' })).toBe('allowed');
      expect((await counted('allowed')) - before).toBe(1);
    },
    LONG,
  );

  test(
    'by the one who left it before is refused: a token that is dead, a phase that is over [adv.H7]',
    async () => {
      const hand = await claimed(bed);
      expect(await complete(bed, hand, { phase: 'GO' })).toBe('allowed');

      const again = await complete(bed, hand, { phase: 'GO' });

      expect(again).toBe(byToken ? 'token_dead' : 'phase_sequence_violation');
      expect(await phaseOf(bed, hand.run)).toBe('RETURN');
    },
    LONG,
  );

  test(
    'by an agent that lost its lease is refused, and the run stays with its new holder',
    async () => {
      const { server, bob } = bed;
      const hand = await claimed(bed);
      const task_id = hand.run;
      await server.send('POST', '/api/v1/tasks/release', { bearer: hand.key, body: { task_id } });
      const body = { agent_id: 'bob', task_id };
      const taken = await server.send('POST', '/api/v1/tasks/claim', { bearer: bob, body });
      expect(taken.status).toBe(200);

      const came = await complete(bed, hand, { phase: 'GO' });

      expect(['token_dead', 'not_your_run', 'not_permitted']).toContain(came);
      const bearer = String(taken.body.phase_token);
      const { body: phase } = await server.send('GET', `/api/v1/runs/${hand.run}/phase`, { bearer });
      expect(phase).toMatchObject({ phase: 'GO', status: 'active' });
    },
    LONG,
  );
});

describe('a `bash` that completes its own phase', () => {
  test.each(['', 'env -i '])(
    'is refused at once, by its environment or by that of its parents (`%s`)',
    async (clean) => {
      const hand = await claimed(bed);
      const { project, server } = bed;
      const state = `XDG_STATE_HOME=${project.env.XDG_STATE_HOME} HOME=${project.env.HOME}`;
      const done = `${process.execPath} ${PROGRAM} done ${hand.run} --phase GO --json`;
      const command = `${clean ? `${clean} ` : ''}${state} PHASEGATE_KEY=${hand.key} ${done}; true`;
      const body = { tool: 'bash', input: { command: clean ? command : `export ${state}; ${command}` } };

      const { body: came } = await server.send('POST', '/api/v1/tools/execute', { bearer: hand.token, body });

      const { stdout, stderr } = (came.result as { output: { stdout: string; stderr: string } }).output;
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toMatchObject({
        error: 'calls_under_way',
        message: expect.stringContaining('asked for by a tool call'),
      });
      expect(await phaseOf(bed, hand.run)).toBe('GO');
      expect(await eventsOf(hand.run)).toContain('command_refused');
    },
    LONG,
  );
});

describe('a `bash` of a server', () => {
  test(
    'is ended by a human who stops the run from another process',
    async () => {
      const own = await makeBed();
      const passphrase = 'open sesame';
      await phasegate(own.project, ['humans', 'add', 'maria'], { passphrase });
      await phasegate(own.project, ['trust', 'work', '--as', 'maria', '--yes'], { passphrase });
      const hand = await claimed(own);
      const { executed } = await begin(own, hand);

      const words = ['stop', hand.run, '--reason', 'enough', '--as', 'maria', '--json'];
      const stopped = await phasegate(own.project, words, { passphrase });

      expect([stopped.code, stopped.stderr]).toEqual([0, '']);
      expect(await executed).toMatchObject({ body: { result: { ok: false, output: { error: 'aborted' } } } });
      expect(existsSync(join(own.project.root, `late-${hand.run}`))).toBe(false);
    },
    LONG,
  );

  test(
    'that was killed holds nobody up, and does not go on in the next phase',
    async () => {
      const own = await makeBed();
      const hand = await claimed(own);
      const { executed } = await begin(own, hand);
      const answered = executed.catch(() => null);
      own.server.kill('SIGKILL');
      await own.server.ended;
      expect(await answered).toBeNull();

      const words = ['done', hand.run, '--phase', 'GO', '--json'];
      const done = await phasegate(own.project, words, { env: { PHASEGATE_KEY: hand.key } });

      expect(done.json).toMatchObject({ checkpoint_passed: true, next_phase: 'RETURN' });
      expect(programsAbout(hand.run)).toEqual([]);
    },
    LONG,
  );
});

/** Command lines of processes that name a run. */
function programsAbout(run: string): readonly string[] {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        // It has ended since it was listed.
        return '';
      }
    });
  return lines.filter((line) => line.includes(`begun-${run}`));
}

/** How many transitions the server's metrics have. */
async function counted(verdict: 'allowed' | 'refused'): Promise<number> {
  const text = await (await fetch(`${bed.server.url}/metrics`)).text();
  return Number(new RegExp(`phasegate_transitions_total\\{verdict="${verdict}"\\} (\\d+)`).exec(text)?.[1]);
}

/** Names of a run's records. */
async function eventsOf(run: string): Promise<readonly string[]> {
  const env = { PHASEGATE_KEY: bed.ada };
  const { stdout } = await phasegate(bed.project, ['audit', 'export', '--run', run], { env });
  return stdout
    .trim()
    .split('\n')
    .map((line) => String((JSON.parse(line) as { event: string }).event));
}
