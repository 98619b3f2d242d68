import type { Run } from '@phasegate/wire';
import { useState } from 'react';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { ActForm } from './ActForm.tsx';

/** The questions of an agent, each with its options and room for other words. */
export function AnswerQuestions({ run }: { readonly run: Run }) {
  return (
    <section className="stack" aria-label="Questions of the agent">
      {run.questions.map((question, index) => {
        const given = run.answers.find((answer) => answer.question === index + 1);
        return (
          <article key={question.text} className="card stack">
            <h2>
              {`Question ${index + 1}: `}
              <Words text={question.text} most={2000} />
            </h2>
            {given === undefined ? (
              <Question run={run.run} number={index + 1} options={question.options} />
            ) : (
              <p className="row">
                <Tag tone="green" text="answered" /> <Words text={given.text} most={2000} />
                <span className="soft small">
                  by <Words text={given.by} />
                </span>
              </p>
            )}
          </article>
        );
      })}
    </section>
  );
}

function Question({
  run,
  number,
  options,
}: {
  readonly run: string;
  readonly number: number;
  readonly options: readonly string[];
}) {
  const [option, setOption] = useState<string | null>(null);
  const [words, setWords] = useState('');
  const actOf = () => {
    const answer = option ?? words.trim();
    if (answer === '') return null;
    const said = option === null ? { text: answer } : { option };
    return { path: `/runs/${encodeURIComponent(run)}/answers`, body: { question: number, ...said } };
  };
  return (
    <ActForm actOf={actOf} name="Answer">
      <fieldset>
        <legend className="unseen">Options</legend>
        {options.map((one) => (
          <label key={one} className="choice">
            <input
              type="radio"
              name={`question-${number}`}
              checked={option === one}
              onChange={() => setOption(one)}
            />
            <Words text={one} most={1000} />
          </label>
        ))}
        <label className="choice">
          <input
            type="radio"
            name={`question-${number}`}
            checked={option === null}
            onChange={() => setOption(null)}
          />
          In other words
        </label>
      </fieldset>
      {option === null && (
        <label>
          Your answer
          <textarea value={words} maxLength={8000} onChange={(event) => setWords(event.target.value)} />
        </label>
      )}
    </ActForm>
  );
}
