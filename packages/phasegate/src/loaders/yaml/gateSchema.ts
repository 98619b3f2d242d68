import * as z from 'zod';
import { about, anything, id, maybe, target, text, texts } from './schemaParts.ts';
import { strictMap } from './strictMap.ts';

/** A check. */
export const check = strictMap(
  {
    name: 'check',
    description: 'A named question about the world.',
    exclusive: [
      ['message', 'error'],
      ['label', 'name'],
    ],
  },
  {
    check: about(text, 'The check on the shelf that answers it, e.g. `expression`.'),
    with: maybe(anything, "The check's parameters."),
    message: maybe(text, 'What the agent is told when it does not hold.'),
    error: maybe(text, 'The same as `message`.'),
    label: maybe(text, 'What it is called in listings.'),
    name: maybe(text, 'The same as `label`.'),
    needs: maybe(
      z.enum(['claimed', 'observed', 'verified']),
      "The least class of evidence its answer must have: the agent's word, or what the engine ran itself.",
      'claimed',
    ),
    verify: maybe(
      z.boolean(),
      'Whether the engine runs it in a sandbox on a copy of the tree, with frozen dependencies, where it can. With `needs: observed` it is run in the workspace where it cannot, and that is told; else nothing less will do.',
      false,
    ),
    recheck: maybe(
      z.boolean(),
      'Whether a check the engine looks at itself is looked at again when a human approves.',
      true,
    ),
    severity: maybe(
      z.enum(['error', 'warning']),
      '`warning`: where it does not hold, the agent is told, the human is shown it, and nothing is refused.',
      'error',
    ),
  },
);

const option = strictMap(
  { name: 'option', description: 'One answer a human may give.' },
  {
    label: about(text, 'What the human chooses.'),
    next: maybe(target, "Where it leads; left out: the phase's own way; `null` ends the run."),
    requires_input: maybe(z.boolean(), 'Whether the human must write something.', false),
    approves: maybe(
      z.boolean(),
      "Whether choosing it approves what is shown; only asked for where `next` leads on by a way that is not the phase's own.",
    ),
  },
);

const human = strictMap(
  { name: 'human', description: "A human's decision." },
  {
    prompt: about(text, 'What the human is asked.'),
    context: maybe(texts, 'Paths into the checkpoint that are shown.'),
    options: about(z.array(option), 'The answers there are.'),
    approvers: maybe(texts, 'Names of the humans who may decide; left out: any.'),
    quorum: maybe(z.number().int().min(1), 'How many different humans must choose the same.', 1),
    required: maybe(
      z.boolean(),
      '`false` where runs may end without it; `phasegate check` proves of every other gate that none does.',
      true,
    ),
    separate: maybe(
      z.boolean(),
      'Whether the yes of the human who started the run does not count. That of the one who did the work never does.',
      false,
    ),
    timeout: maybe(
      strictMap(
        { name: 'timeout', description: 'When nobody decides in time.' },
        {
          after: about(text, 'A duration such as `90s`, `30m`, `24h` or `7d`.'),
          // A computed key, as a literal one would make this object look like a promise.
          ['then' as string]: maybe(
            z.enum(['park', 'stop', 'route']),
            'Hand the run to a human, end it, or lead it to the phase `to`. Nothing approves by itself.',
            'park',
          ),
          to: maybe(
            id,
            'With `then: route`: a phase from which nothing that a yes leads to is reached without another human.',
          ),
        },
      ),
      'What happens without a decision.',
    ),
  },
);

/** The keys of a gate. */
export const gateShape = {
  blockers: maybe(z.array(check), 'Checks that must hold.'),
  human: maybe(human, 'What a human decides.'),
};
