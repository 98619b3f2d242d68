import { rmSync } from 'node:fs';
import { askCli } from './askCli.ts';
import { askServer } from './askServer.ts';
import { cliQuestions } from './cliQuestions.ts';
import { stopClock } from './clock.ts';
import { placeFixture, readMade } from './fixture.ts';
import { normaliseFor } from './normalise.ts';

/** Answers by the file they are kept in, without what differs from one asking to the next. */
export type Answers = ReadonlyMap<string, unknown>;

/** Asks the present code everything about the old state, at the time the state was made. */
export async function askAll(): Promise<Answers> {
  const made = readMade();
  const answers = new Map<string, unknown>();
  const goOn = stopClock(made.at);
  const [first, second] = [placeFixture(), placeFixture()];
  const [here, there] = [normaliseFor(first, made), normaliseFor(second, made)];
  const commands = async () => {
    for (const question of cliQuestions(made)) {
      answers.set(`cli/${question.name}`, here(await askCli(first, made, question)));
    }
  };
  try {
    const keep = (file: string, answer: object) => void answers.set(file, there(answer));
    const asked = await Promise.allSettled([commands(), askServer(second, made, keep)]);
    for (const outcome of asked) if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    goOn();
    for (const { base } of [first, second]) rmSync(base, { recursive: true, force: true });
  }
  return answers;
}
