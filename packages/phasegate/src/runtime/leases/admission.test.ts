import { describe, expect, test } from 'vitest';
import { ADA, claim, events, openWith, queue, TWO } from '../fixtures/agentsAtWork.ts';

describe('a token', () => {
  test('and the one before it are good; older ones are not remembered [S2.38]', async () => {
    const it = openWith();
    const run = await queue(it);
    const first = await claim(it, ADA);
    const second = await it.project.claims.token(run, ADA);
    await it.project.claims.admit(first.token);
    const third = await it.project.claims.token(run, ADA);

    await expect(it.project.claims.admit(first.token)).rejects.toMatchObject({ code: 'token_invalid' });
    await it.project.claims.admit(second.token);
    await it.project.claims.admit(third.token);
    expect((await events(it, run)).filter((event) => event === 'token_issued')).toHaveLength(3);
  });

  test('cannot be withdrawn by itself: it is good until it expires, or its agent lets go [S2.93]', async () => {
    const it = openWith();
    await queue(it);
    const { token } = await claim(it, ADA);

    it.pass(7_199);
    expect(await it.project.claims.admit(token)).toMatchObject({ principal: ADA, phase: 'PLAN' });
    it.pass(1);
    await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_expired' });
  });

  test('says whose it is before the store is asked, and is good only when that was [adv.O5]', async () => {
    const it = openWith();
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const { claims } = it.project;

    const [good, early] = [await claims.present(token), await claims.present(token)];
    expect(good).toMatchObject({ agent: 'ada', stands: true });
    expect(await good.admit()).toMatchObject({ principal: ADA, runId: run });
    await claims.release(run, ADA, 'given_back');

    // What was shown while it was good, and has its turn when it is not.
    await expect(early.admit()).rejects.toMatchObject({ code: 'token_dead' });
    const ended = await claims.present(token);
    expect(ended).toMatchObject({ agent: 'ada', stands: false });
    await expect(ended.admit()).rejects.toMatchObject({ code: 'token_dead' });
    const forged = await claims.present(`${token.slice(0, -4)}AAAA`);
    expect(forged).toMatchObject({ agent: null, stands: false });
    await expect(forged.admit('127.0.0.1')).rejects.toMatchObject({ code: 'token_invalid' });
    expect((await events(it, run)).filter((event) => event === 'token_refused')).toHaveLength(2);
  });

  test('that was refused once takes no place of its agent any more, where the store knows nothing at once [adv.O5]', async () => {
    const it = openWith();
    // As PostgreSQL has it.
    delete (it.store as { peek?: unknown }).peek;
    const run = await queue(it);
    const { claims } = it.project;
    const { token: old } = await claim(it, ADA);
    await claims.release(run, ADA, 'given_back');
    const { token: fresh } = await claim(it, ADA);

    expect(await claims.present(old)).toMatchObject({ agent: 'ada', stands: false });
    await expect(claims.admit(old)).rejects.toMatchObject({ code: 'token_dead' });

    expect(await claims.present(old)).toMatchObject({ agent: null, stands: false });
    expect(await claims.present(fresh)).toMatchObject({ agent: 'ada', stands: false });
    await claims.admit(fresh);
    expect(await claims.present(fresh)).toMatchObject({ agent: 'ada', stands: true });
  });

  test('that has expired is refused as such, and that is on the run’s chain [adv.H7]', async () => {
    const it = openWith();
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    it.pass(7_200);

    await expect(it.project.claims.admit(token)).rejects.toMatchObject({ code: 'token_expired' });

    const last = (await it.store.history(run, { after: 0, limit: 99 })).at(-1);
    expect(last).toMatchObject({
      event: 'token_refused',
      data: { fault: 'expired' },
      principal: 'agent:ada',
    });
  });

  test('that is none of ours is recorded on the project’s chain, so many a second [adv.H7 S2.41]', async () => {
    const it = openWith();
    const run = await queue(it);
    const { token } = await claim(it, ADA);
    const [header, payload] = token.split('.');

    for (let n = 0; n < 100; n += 1) {
      const forged = n % 2 === 0 ? `garbage ${n}` : `${header}.${payload}.${'A'.repeat(43)}`;
      await expect(it.project.claims.admit(forged)).rejects.toMatchObject({ code: 'token_invalid' });
    }
    it.pass(1);
    await expect(it.project.claims.admit('garbage')).rejects.toMatchObject({ code: 'token_invalid' });

    const failures = (await it.store.history(null, { after: 0, limit: 999 })).filter(
      ({ event }) => event === 'credential_failed',
    );
    expect(failures).toHaveLength(21);
    expect(failures.at(-1)?.data).toMatchObject({ left_out: 80 });

    // A flood that does not end is bounded by the hour as well.
    for (let n = 0; n < 6000; n += 1) {
      if (n % 30 === 0) it.pass(1);
      await expect(it.project.claims.admit('garbage')).rejects.toMatchObject({ code: 'token_invalid' });
    }
    const all = await it.store.history(null, { after: 0, limit: 9999 });
    expect(all.filter(({ event }) => event === 'credential_failed').length).toBeLessThanOrEqual(2 * 2000);
    expect(await events(it, run)).not.toContain('token_refused');
    expect(JSON.stringify(failures)).not.toContain(token);
  });

  test('of a run that is not here is dead', async () => {
    const [here, there] = [openWith(), openWith()];
    await queue(there);
    const other = await claim(there, ADA);
    await expect(here.project.claims.admit(other.token)).rejects.toMatchObject({ code: 'token_invalid' });

    const moved = openWith(TWO, { sqlite: there.folder });
    await expect(moved.project.claims.admit(other.token)).rejects.toMatchObject({ code: 'token_dead' });
    const [failed] = (await moved.store.history(null, { after: 0, limit: 9 })).slice(-1);
    expect(failed).toMatchObject({ event: 'credential_failed', data: { fault: 'other_run' } });
    await moved.project.close();
  });

  test('is asked for by the one who holds a run without a lease, too', async () => {
    const it = openWith();
    const { view } = await it.project.as(ADA).start({ workflow: 'tested' });
    const { token } = await it.project.claims.token(view?.run ?? '', ADA);
    expect(await it.project.claims.admit(token)).toMatchObject({ phase: 'PLAN', epoch: 1 });
  });
});
