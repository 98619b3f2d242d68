import type { JsonObject, Submitted, WorkflowDraft } from '@phasegate/core';
import { passkeyText } from '@phasegate/core/contract';
import { apply, eventOfRecord } from '@phasegate/core/engine';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type MemoryProject, openMemoryProject } from '../fixtures/openMemoryProject.ts';
import { decisionIsSigned } from '../openProject.ts';
import type { GateCard, HumanRecord, Passkey, UnlockedHuman } from '../ports.ts';
import { writeAssertion } from './assertion.ts';
import {
  PRESENT_AND_VERIFIED,
  type SoftAuthenticator,
  softAuthenticator,
  type Told,
} from './fixtures/softAuthenticator.ts';

const PASSPHRASE = 'correct horse battery';
const ORIGIN = 'http://localhost:4114';

describe.each([
  ['memory', {}],
  ['SQLite', { sqlite: true }],
] as const)('a passkey, in %s', (_name, options) => {
  test.each(['ec', 'ed25519', 'rsa'] as const)(
    'of kind %s decides at a gate, and the audit verifies it',
    async (kind) => {
      const bed = await opened(options);
      const key = await bed.register('ada', kind);

      const { verdict, run } = await bed.decideWith(key, 'ada');

      expect(verdict).toMatchObject({ allowed: true });
      expect((await bed.project.load(run)).decisions).toMatchObject([
        { by: 'ada', signature: expect.stringMatching(/^passkey\./) },
      ]);
      expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
      expect(await bed.events('passkey_added')).toMatchObject([
        { human: 'ada', passkey: key.id, origin: ORIGIN },
      ]);
    },
  );

  test('that was removed verifies what it decided and decides nothing new', async () => {
    const bed = await opened(options);
    const key = await bed.register('ada');
    await bed.decideWith(key, 'ada');
    bed.pass(3600);
    await bed.project.passkeys.remove(key.id, await bed.unlock('ada'));
    bed.pass(3600);

    await expect(bed.decideWith(key, 'ada')).rejects.toMatchObject({ code: 'credential_invalid' });
    expect(await bed.project.passkeys.list()).toEqual([]);
    expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
    await expect(bed.add(key, 'ada', 'again')).rejects.toMatchObject({ code: 'usage' });
  });

  test('counts its human once in a quorum, with two passkeys and the passphrase', async () => {
    const bed = await opened({ ...options, quorum: 2 });
    const [one, other] = [await bed.register('ada'), await bed.register('ada')];
    const gate = await bed.atGate();

    expect(await bed.decideWith(one, 'ada', { gate })).toMatchObject({
      verdict: { allowed: true },
      view: { status: 'waiting' },
    });
    for (const again of [bed.decideWith(other, 'ada', { gate }), bed.decide(gate, await bed.unlock('ada'))]) {
      expect((await again).verdict).toMatchObject({ allowed: false, blockers: [{ code: 'already_voted' }] });
    }
    const eve = await bed.register('eve');
    expect(await bed.decideWith(eve, 'eve', { gate })).toMatchObject({ view: { status: 'completed' } });
    expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('that was removed while its vote waited: the vote is void', async () => {
    const bed = await opened({ ...options, quorum: 2 });
    const [stolen, eve] = [await bed.register('ada'), await bed.register('eve')];
    const gate = await bed.atGate();
    await bed.decideWith(stolen, 'ada', { gate });
    await bed.project.passkeys.remove(stolen.id, await bed.unlock('ada'));

    expect(await bed.decideWith(eve, 'eve', { gate })).toMatchObject({ view: { status: 'waiting' } });
    expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });
});

describe('an assertion proves nothing', () => {
  const LIES: readonly (readonly [string, Told, RegExp])[] = [
    [
      'made on another port of the same host',
      { origin: 'http://localhost:9999' },
      /page of `http:\/\/localhost:9999`/,
    ],
    ['made on another host', { origin: 'https://evil.example', rpId: 'evil.example' }, /page of `https:/],
    ['for another site', { rpId: 'example.com' }, /another site/],
    ['without verification of the user', { flags: 0x01 }, /did not verify/],
    ['without anybody present', { flags: 0x04 }, /present/],
    ['that is a registration', { type: 'webauthn.create' }, /not an assertion/],
    ['made in a frame of another page', { more: { crossOrigin: true } }, /frame/],
    ['made in a page inside another', { more: { topOrigin: 'http://localhost:9999' } }, /frame/],
    ['for another challenge', { challenge: 'AAAA' }, /another act/],
  ];

  test.each(LIES)('%s, and trying is on record', async (_name, told, reason) => {
    const bed = await opened();
    const key = await bed.register('ada');

    await expect(bed.decideWith(key, 'ada', { told })).rejects.toMatchObject({
      code: 'credential_invalid',
      message: expect.stringMatching(reason),
    });
    expect(await bed.events('credential_failed')).toMatchObject([{ human: 'ada', credential: 'passkey' }]);
  });

  test('of another human, of a key nobody knows, or of another text', async () => {
    const bed = await opened();
    const [ada, eve] = [await bed.register('ada'), await bed.register('eve')];
    const { prove } = bed.project.passkeys;
    const refused = { code: 'credential_invalid' };

    await expect(prove('ada', act('text'), eve.assert('text', 'n'))).rejects.toMatchObject(refused);
    const stranger = { ...softAuthenticator(ORIGIN).assert('text', 'n'), id: ada.id };
    await expect(prove('ada', act('text'), stranger)).rejects.toMatchObject(refused);
    await expect(prove('ada', act('another'), ada.assert('text', 'n'))).rejects.toMatchObject(refused);
    await expect(prove('ada', act('text'), { ...ada.assert('text', 'n'), nonce: 'm' })).rejects.toMatchObject(
      refused,
    );
    const moved = { text: 'text', origin: 'http://localhost:4115' };
    await expect(prove('ada', moved, ada.assert('text', 'n'))).rejects.toMatchObject(refused);
    await expect(prove('nobody', act('text'), ada.assert('text', 'n'))).rejects.toMatchObject(refused);
    for (const part of ['authenticatorData', 'clientDataJson', 'signature'] as const) {
      for (const broken of ['AA', 'A'.repeat(10_000), '!!']) {
        await expect(
          prove('ada', act('text'), { ...ada.assert('text', 'n'), [part]: broken }),
        ).rejects.toMatchObject(refused);
      }
    }
  });

  test('whose count went back or stands still; one that never counts is let through', async () => {
    const bed = await opened({ sqlite: true });
    const key = await bed.register('ada');
    const prove = (counter: number) =>
      bed.project.passkeys.prove('ada', act('text'), key.assert('text', 'n', { counter }));

    await prove(0);
    await prove(0);
    await prove(7);
    await expect(prove(7)).rejects.toMatchObject({ message: expect.stringMatching(/count went back/) });
    await expect(prove(0)).rejects.toMatchObject({ code: 'credential_invalid' });
    const both = await Promise.allSettled([prove(8), prove(8)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('beyond the one text it was made for', async () => {
    const bed = await opened();
    const key = await bed.register('ada');
    const proven = await bed.project.passkeys.prove('ada', act('text'), key.assert('text', 'n'));

    expect(proven.sign('text')).toMatch(/^passkey\./);
    expect(() => proven.sign('another')).toThrow(/passphrase/);
    await expect(bed.project.trust.workflows.accept('w', 'closure-1', proven)).rejects.toMatchObject({
      code: 'not_permitted',
    });
    await expect(bed.add(softAuthenticator(ORIGIN), 'ada', 'more', proven)).rejects.toMatchObject({
      code: 'not_permitted',
    });
  });
});

describe('a passkey is its registration, signed by its human', () => {
  test('one put into a record with a seal of its own decides nothing, and is found', async () => {
    const bed = await opened({ sqlite: true });
    const key = softAuthenticator(ORIGIN);
    const [human] = await bed.store.humans();
    if (human === undefined) throw new Error('nobody');
    const forged: Passkey = { ...key, origin: ORIGIN, label: 'mine', addedAt: bed.now(), signature: 'AAAA' };
    // As one who has the engine's keys would: with a seal, and with a record on the chain or without.
    await bed.store.putHuman({ ...human, passkeys: [forged] }, []);

    expect(await bed.project.passkeys.list()).toEqual([]);
    await expect(bed.decideWith(key, 'ada')).rejects.toMatchObject({ code: 'credential_invalid' });
    expect((await bed.project.verifyAudit()).findings).toMatchObject([
      { kind: 'state_edited', message: expect.stringMatching(/passkey `mine` of human `ada`/) },
    ]);
  });

  test('one that another human signed, or that was moved to another origin or key, decides nothing', async () => {
    const bed = await opened();
    const key = await bed.register('ada');
    const [ada, eve] = (await bed.store.humans()) as [HumanRecord, HumanRecord];
    const [passkey] = ada.passkeys as [Passkey];
    const run = { id: 'r' };
    const text = await bed.project.toSign.decide('r', { gate: 'g', option: 'o', shown: 's' }, 'ada');
    const signature = writeAssertion(key.assert(text, 'n'));
    const decision = { gate: 'g', option: 'o', input: null, shown: 's', by: 'ada', signature };
    const counts = (changed: Partial<Passkey>) =>
      decisionIsSigned(run, decision, [{ ...ada, passkeys: [{ ...passkey, ...changed }] }]);

    expect(counts({})).toBe(true);
    expect(counts({ removedAt: bed.now() })).toBe(false);
    expect(counts({ publicKey: softAuthenticator(ORIGIN).publicKey })).toBe(false);
    expect(counts({ label: 'other' })).toBe(false);
    expect(counts({ addedAt: '2020-01-01T00:00:00.000Z' })).toBe(false);
    const byEve = (await bed.unlock('eve')).sign(passkeyText({ ...passkey, by: 'ada', at: passkey.addedAt }));
    expect(counts({ signature: byEve })).toBe(false);
    expect(decisionIsSigned(run, { ...decision, by: 'eve' }, [{ ...eve, passkeys: [passkey] }])).toBe(false);
    for (const other of [{ option: 'p' }, { gate: 'h' }, { shown: 't' }, { input: 'x' }]) {
      expect(decisionIsSigned(run, { ...decision, ...other }, [ada])).toBe(false);
    }
    expect(decisionIsSigned({ id: 'q' }, decision, [ada])).toBe(false);
  });

  test('one that was removed and is put back from an older row is found', async () => {
    const bed = await opened({ sqlite: true });
    const key = await bed.register('ada');
    const before = (await bed.store.humans())[0] as HumanRecord;
    await bed.project.passkeys.remove(key.id, await bed.unlock('ada'));
    await bed.store.putHuman(before, []);

    expect((await bed.project.verifyAudit()).findings).toMatchObject([{ kind: 'state_edited' }]);
  });

  test('is refused with a name that is taken or empty, or a key of an unknown kind', async () => {
    const bed = await opened();
    await bed.register('ada');
    const refused = { code: 'usage' };
    await expect(bed.add(softAuthenticator(ORIGIN), 'ada', 'key 1')).rejects.toMatchObject(refused);
    await expect(bed.add(softAuthenticator(ORIGIN), 'ada', '  ')).rejects.toMatchObject(refused);
    await expect(bed.add(softAuthenticator(ORIGIN), 'ada', 'a\u202eb')).rejects.toMatchObject(refused);
    await expect(
      bed.add({ ...softAuthenticator(ORIGIN), publicKey: 'AAAA' }, 'ada', 'x'),
    ).rejects.toMatchObject(refused);
    await expect(bed.add({ ...softAuthenticator(ORIGIN), id: 'a.b' }, 'ada', 'x')).rejects.toMatchObject(
      refused,
    );
  });

  test('is removed by its human or an admin, and by nobody else; a reset takes it away', async () => {
    const bed = await opened();
    const ada = await bed.unlock('ada');
    await bed.project.humans.add({ name: 'joe', role: 'approver' }, PASSPHRASE, ada);
    const [adas, joes] = [await bed.register('ada'), await bed.register('joe')];

    await expect(bed.project.passkeys.remove(adas.id, await bed.unlock('joe'))).rejects.toMatchObject({
      code: 'not_permitted',
    });
    await bed.project.passkeys.remove(joes.id, ada);
    const another = await bed.register('joe');
    await bed.project.humans.reset('joe', 'another secret', ada);
    await expect(bed.decideWith(another, 'joe')).rejects.toMatchObject({ code: 'credential_invalid' });
    expect(await bed.events('passkey_removed')).toMatchObject([{ human: 'joe', passkey: joes.id }]);
    expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });
});

test.each([
  ['of another run', (stolen: string) => stolen],
  ['of a passkey nobody registered', () => writeAssertion(softAuthenticator(ORIGIN).assert('text', 'n'))],
  ['that is none', () => 'passkey.AAAA.AAAA.AAAA.AAAA.AAAA'],
  ['that is not even written as one', () => `passkey.${'A.'.repeat(10_000)}`],
])(
  'a decision with an assertion %s, written with the keys of the engine, is found [adv.J1]',
  async (_name, forge) => {
    const bed = await opened({ sqlite: true });
    const key = await bed.register('ada');
    const { run: genuine } = await bed.decideWith(key, 'ada');
    const gate = await bed.atGate();
    const records = await bed.store.history(genuine, { after: 0, limit: 100 });
    const decided = records.flatMap((record) => {
      const event = eventOfRecord(record);
      return event?.type === 'gate_decided' ? [{ record, event }] : [];
    })[0];
    const stored = await bed.store.load(gate.run);
    if (decided === undefined || stored === undefined) throw new Error('nothing was decided');
    const signature = forge(decided.event.decision.signature);
    const decision = { ...decided.event.decision, gate: gate.gate, shown: gate.shown, signature };
    const { time, principal } = decided.record;
    const data = { ...(decided.record.data as JsonObject), decision: decision as unknown as JsonObject };

    const run = apply(stored.run, { ...decided.event, decision });
    expect(
      await bed.store.save(run, stored.version, [{ time, principal, event: 'gate_decided', data }]),
    ).toBe(true);

    const { findings } = await bed.project.verifyAudit();
    expect([...new Set(findings.map(({ kind, run: of }) => `${kind} ${of}`))]).toEqual([
      `decision_forged ${gate.run}`,
    ]);
  },
);

test('an override is proven by a passkey, and signed', async () => {
  const bed = await opened();
  const key = await bed.register('ada');
  const { run } = await bed.atGate();
  const order = { reason: 'the approvers left' };
  const text = await bed.project.toSign.override(run, order, { kind: 'human', name: 'ada' });
  const proven = await bed.project.passkeys.prove('ada', act(text), key.assert(text, 'n'));

  expect(await bed.project.override(run, order, proven)).toMatchObject({ verdict: { allowed: true } });
  expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [], overridden: 1 });
});

function act(text: string) {
  return { text, origin: ORIGIN };
}

interface AtGate extends GateCard {
  readonly run: string;
}

async function opened({ quorum = 1, ...options }: { readonly sqlite?: true; readonly quorum?: number } = {}) {
  const bed: MemoryProject = openMemoryProject(gated(quorum), options);
  const { project } = bed;
  onTestFinished(() => project.close());
  await project.humans.add('ada', PASSPHRASE, null);
  const unlock = (name: string) => project.humans.unlock(name, PASSPHRASE);
  await project.humans.add('eve', PASSPHRASE, await unlock('ada'));
  await project.trust.workflows.accept('w', 'closure-1', await unlock('ada'));
  // A human who was added after the run began counts as the one who added them.
  bed.pass(60);
  let registered = 0;

  async function add(
    key: Pick<SoftAuthenticator, 'id' | 'publicKey'>,
    name: string,
    label: string,
    by?: UnlockedHuman,
  ) {
    const { id, publicKey } = key;
    await project.passkeys.add({ id, publicKey, origin: ORIGIN, label }, by ?? (await unlock(name)));
  }
  async function atGate(): Promise<AtGate> {
    const agent = project.as({ kind: 'agent', name: 'local' });
    const started = await agent.start({ workflow: 'w' });
    const run = started.view?.run ?? '';
    await agent.submit(run, { kind: 'complete', phase: 'DO', evidence: {} });
    const card = await project.gateCard(run);
    if (card === null) throw new Error('there is no gate');
    return { ...card, run };
  }
  const decide = ({ run, gate, shown }: AtGate, human: UnlockedHuman): Promise<Submitted> =>
    project.decide(run, { gate, shown, option: 'Ship' }, human);

  return {
    ...bed,
    unlock,
    add,
    atGate,
    decide,
    async register(name: string, kind?: 'ec' | 'ed25519' | 'rsa') {
      const key = softAuthenticator(ORIGIN, kind);
      registered += 1;
      await add(key, name, `key ${registered}`);
      return key;
    },
    async decideWith(
      key: SoftAuthenticator,
      name: string,
      {
        gate: given,
        told = { flags: PRESENT_AND_VERIFIED },
      }: { readonly gate?: AtGate; readonly told?: Told } = {},
    ) {
      const gate = given ?? (await atGate());
      const text = await project.toSign.decide(gate.run, { ...gate, option: 'Ship' }, name);
      const human = await project.passkeys.prove(name, act(text), key.assert(text, 'nonce', told));
      return { run: gate.run, ...(await decide(gate, human)) };
    },
    async events(event: string) {
      const records = await bed.store.history(null, { after: 0, limit: 1000 });
      return records.filter((record) => record.event === event).map(({ data }) => data);
    },
  };
}

function gated(quorum: number): WorkflowDraft {
  return {
    id: 'w',
    phases: [{ id: 'DO', instructions: 'do it', gates: ['ship'] }],
    gates: { ship: { human: { prompt: 'Ship it?', quorum, options: [{ label: 'Ship' }] } } },
  } as WorkflowDraft;
}
