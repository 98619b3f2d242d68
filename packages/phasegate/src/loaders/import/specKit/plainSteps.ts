import { bullets, type PhaseDraft } from '../draft.ts';
import { at, type KeyLedger, others, type Spot, textOf, textsOf } from '../keyLedger.ts';

/** Steps that are one phase each. */
export const PLAIN = ['command', 'prompt', 'shell', 'init', 'fan-out', 'fan-in'];

/** What a plain step tells the agent, and what the engine looks at behind it. */
export function describeStep(step: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const type = textOf(at(step, 'type')) ?? 'command';
  for (const key of ['integration', 'model', 'options'])
    ledger.leftOut(at(step, key), 'which agent works, and how, is said when it is attached');
  const goesOn = at(step, 'continue_on_error').value === true;
  ledger.mapped(
    at(step, 'continue_on_error'),
    goesOn && type === 'shell' ? 'severity: warning' : 'no meaning here',
  );
  importTimeout(step, phase, ledger);
  if (type === 'command') command(step, phase, ledger);
  if (type === 'prompt') {
    phase.instructions.push(textOf(at(step, 'prompt')) ?? '');
    ledger.mapped(at(step, 'prompt'), 'instructions');
  }
  if (type === 'shell') shell(step, phase, { ledger, goesOn });
  if (type === 'init') {
    const keys = others(step, ['id', 'type', 'integration']);
    phase.instructions.push(
      'Set up the project as `specify init` does.',
      bullets(keys.map((one) => `${String(one.path.at(-1))}: ${JSON.stringify(one.value)}`)),
    );
    for (const one of keys) ledger.mapped(one, 'instructions');
  }
  if (type === 'fan-out') fanOut(step, phase, ledger);
  if (type === 'fan-in') {
    const of = textsOf(at(step, 'wait_for'));
    phase.instructions.push(
      `Put together the results of ${of.length === 0 ? 'the steps before' : of.join(', ')}.`,
    );
    ledger.mapped(at(step, 'wait_for'), 'the order of phases');
    ledger.leftOut(at(step, 'output'), 'later phases see the evidence itself');
  }
}

function importTimeout(step: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const timeout = at(step, 'timeout');
  if (typeof timeout.value !== 'number' || timeout.value < 1)
    ledger.leftOut(timeout, 'not a number of seconds');
  else {
    phase.timeout = Math.ceil(timeout.value);
    ledger.mapped(timeout, 'timeout');
  }
}

function command(step: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const name = textOf(at(step, 'command')) ?? '';
  const input = others(at(step, 'input'), []).map(
    (one) => `${String(one.path.at(-1))}: ${textOf(one) ?? JSON.stringify(one.value)}`,
  );
  phase.instructions.push(
    `Do what the Spec Kit command \`${name}\` describes.`,
    input.length === 0
      ? ''
      : `Its input, with \`{{ inputs.X }}\` for parameter X of the run:\n${bullets(input)}`,
  );
  ledger.mapped(at(step, 'command'), 'instructions');
  ledger.mapped(at(step, 'input'), 'instructions');
}

function shell(
  step: Spot,
  phase: PhaseDraft,
  { ledger, goesOn }: { readonly ledger: KeyLedger; readonly goesOn: boolean },
): void {
  const run = at(step, 'run');
  const text = textOf(run) ?? '';
  const format = at(step, 'output_format');
  const seconds = at(step, 'timeout').value;
  if (text === '' || text.includes('{{') || textOf(format) === 'json' || text.includes('SPECKIT_')) {
    phase.instructions.push(`Run this and say how it ended:\n${text}`);
    phase.confirm.push(`this was run and ended well: ${text}`);
    ledger.human(
      run,
      'it takes values or gives some that are not known before: a human confirms how it ended',
    );
    ledger.human(format, 'a human confirms what it gave');
    return;
  }
  phase.instructions.push(`When you complete this phase, the engine runs:\n${text}`);
  phase.blockers.push({
    check: 'command',
    with: {
      shell: text,
      timeout_seconds: typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, 3600) : 300,
    },
    // It may do something, and was run once: in a copy of the tree, what it did would be lost.
    needs: 'observed',
    recheck: false,
    message: `the command of step ${phase.id} failed`,
    ...(goesOn ? { severity: 'warning' } : {}),
  });
  ledger.mapped(run, 'gate.blockers');
  ledger.mapped(format, 'text is what a command gives');
}

function fanOut(step: Spot, phase: PhaseDraft, ledger: KeyLedger): void {
  const items = textOf(at(step, 'items')) ?? JSON.stringify(at(step, 'items').value ?? []);
  const inner = at(step, 'step');
  phase.instructions.push(
    `Do this once for each of ${items}:\n${JSON.stringify(inner.value ?? {}, null, 2)}`,
  );
  phase.confirm.push(`it was done for each of ${items}`);
  ledger.mapped(at(step, 'items'), 'instructions');
  ledger.human(inner, 'the items are not known before: a human confirms that each was done');
  ledger.leftOut(at(step, 'max_concurrency'), 'how many at a time is up to the agent');
}
