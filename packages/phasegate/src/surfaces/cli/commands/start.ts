import type { JsonObject, StartRequest } from '@phasegate/core';
import type { CliCommand, Invocation } from '../command.ts';
import { spellNextAction, wireBlockers } from '../nextAction.ts';
import { readParams, splitParams } from '../params.ts';
import { reportNotStarted } from '../reportSubmitted.ts';
import { describeRun } from '../text/describeRun.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate start`: always makes a new run. */
export const start: CliCommand = {
  usage: ['start WORKFLOW [--target FILE] [--param k=v…] [--option k=v…] [--queue]'],
  details:
    'Values are JSON where the workflow does not ask for text. `--option` is another name of `--param`.',
  examples: [
    'phasegate start tdd --target src/parser.ts',
    'phasegate start release --param mode=quick --json',
    'phasegate start tdd --queue',
  ],
  options: {
    target: { type: 'text', value: 'FILE', summary: 'what the run is about' },
    param: { type: 'texts', value: 'k=v', summary: 'a parameter of the workflow' },
    option: { type: 'texts', value: 'k=v', summary: 'the same as --param' },
    queue: { type: 'flag', summary: 'leave the run for an agent to claim' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['WORKFLOW'],
  async run(invocation) {
    const { args, out } = invocation;
    const workflow = args.positionals[0] as string;
    const params = await paramsOf(invocation, workflow);
    const target = args.text('target');
    const request: StartRequest = {
      workflow,
      params,
      queue: args.flag('queue'),
      ...(target === undefined ? {} : { target }),
    };
    const caller = await callerOf(invocation);
    const { verdict, view } = await (await invocation.open()).as(caller).start(request);
    if (view === null) return reportNotStarted(out, verdict);
    const { run, status, phase, ring, trusted } = view;
    const next_action = spellNextAction(view.next_action, run);
    const would =
      verdict.allowed && verdict.wouldRefuse !== undefined
        ? { would_refuse: wireBlockers(verdict.wouldRefuse, run) }
        : {};
    await out.result(
      { run, workflow: view.workflow, status, phase, ring, trusted, next_action, ...would },
      () => describeRun(view, out.paint),
    );
    return 0;
  },
};

async function paramsOf({ args, project }: Invocation, name: string): Promise<JsonObject> {
  const written = [
    ...splitParams(args.texts('param'), 'param'),
    ...splitParams(args.texts('option'), 'option'),
  ];
  // The definition is read only where a value's type depends on it.
  if (written.length === 0) return {};
  const { workflow } = await (await project()).catalog.load(name);
  return readParams(written, workflow.params);
}
