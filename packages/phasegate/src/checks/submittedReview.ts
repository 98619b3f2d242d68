import { isJsonObject, type Json, own } from '@phasegate/core';
import { display } from './scopePath.ts';
import { blockingSeverities } from './severityLadder.ts';
import { pass, refuse, type SubmittedRule, type SubmittedSubject } from './submitted.ts';

const SEVERITIES = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1, description: 'A severity' },
};

/** Checks on the reviews an agent submitted. */
export const SUBMITTED_REVIEW: readonly SubmittedRule[] = [
  {
    name: 'review_is_complete',
    summary: 'every submitted review has a `decision`',
    artifact: 'review',
    judge: ({ name, value }) => {
      const reviews = decided(name, value);
      return typeof reviews === 'string'
        ? refuse(reviews)
        : pass(`${reviews.length} reviews have a decision`);
    },
  },
  {
    name: 'all_review_models_completed',
    summary: 'every submitted review has a `decision`, and every named model has a review',
    artifact: 'review',
    properties: {
      models: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', minLength: 1, description: 'Name of a model' },
        description:
          'Models of which each must have reviewed; without it every review given must have a decision',
      },
    },
    judge: allModels,
  },
  {
    name: 'no_blocking_findings',
    summary: 'the submitted review lists its `findings`, and none has a blocking severity',
    artifact: 'review',
    properties: {
      severities: {
        ...SEVERITIES,
        description: 'Severities that block, however often the phase was entered; left out: the ladder says',
      },
      ladder: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        description:
          'Which severities block from which visit of the phase on; by default `MUST`, `SHOULD` and `COULD` from 1, `MUST` and `SHOULD` from 3, `MUST` from 5',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['from', 'block'],
          properties: {
            from: { type: 'integer', minimum: 1, description: 'The first visit it is about' },
            block: { ...SEVERITIES, description: 'Severities that block then' },
          },
        },
      },
    },
    exclusive: ['severities', 'ladder'],
    judge: noneBlocking,
  },
];

function allModels({ name, value, with: { models = [] } }: SubmittedSubject) {
  if (!isNames(models)) throw new TypeError('`models` must be names');
  const reviews = decided(name, value);
  if (typeof reviews === 'string') return refuse(reviews);
  const reviewed = new Set(reviews.map((review) => own(review, 'model')));
  const missing = models.filter((model) => !reviewed.has(model));
  if (missing.length > 0) return refuse(`no review by ${missing.map((model) => `\`${model}\``).join(', ')}`);
  return pass(`${reviews.length} reviews have a decision`);
}

function noneBlocking({ name, value, with: parameters, iteration }: SubmittedSubject) {
  const rung = blockingSeverities(parameters, iteration);
  const blocking = new Set(rung.severities.map((severity) => severity.trim().toUpperCase()));
  const findings: Json[] = [];
  for (const review of reviewsIn(value) ?? []) {
    const listed = own(review, 'findings');
    if (!Array.isArray(listed)) return refuse(`\`${name}.findings\` is ${display(listed)}, expected a list`);
    findings.push(...listed);
  }
  if (reviewsIn(value) === null)
    return refuse(`\`${name}\` is ${display(value)}, expected a review with \`findings\``);
  for (const finding of findings) {
    const severity = own(finding, 'severity');
    if (typeof severity !== 'string' || severity.trim() === '') {
      return refuse(`a finding in \`${name}\` has no \`severity\`: ${display(finding)}`);
    }
    if (rung.known?.includes(severity.trim().toUpperCase()) === false) {
      const expected = rung.known.map((one) => `\`${one}\``).join(', ');
      return refuse(
        `a finding in \`${name}\` has the severity ${display(severity)}, expected one of ${expected}`,
      );
    }
  }
  const found = findings.filter((finding) =>
    blocking.has(String(own(finding, 'severity')).trim().toUpperCase()),
  );
  if (found.length > 0)
    return refuse(
      `\`${name}\` has ${found.length} blocking findings${rung.when}, first ${display(found[0])}`,
    );
  return pass(`\`${name}\` has no blocking finding${rung.when}`);
}

/** The reviews, each with a decision, or what is wrong. */
function decided(name: string, value: Json): readonly Json[] | string {
  const reviews = reviewsIn(value);
  if (reviews === null)
    return `\`${name}\` is ${display(value)}, expected a review with a \`decision\`, or \`reviews\``;
  for (const review of reviews) {
    const decision = own(review, 'decision');
    if (typeof decision !== 'string' || UNDECIDED.has(decision.trim().toLowerCase())) {
      return `a review in \`${name}\` has no \`decision\`: ${display(review)}`;
    }
  }
  return reviews;
}

const UNDECIDED: ReadonlySet<string> = new Set(['', 'pending', 'in_progress', 'none']);

/** The reviews of an artifact: a list, `reviews` in an object, or the one object; null where there is none. */
function reviewsIn(value: Json): readonly Json[] | null {
  const listed = Array.isArray(value) ? value : own(value, 'reviews');
  if (listed === undefined) return isJsonObject(value) ? [value] : null;
  return Array.isArray(listed) && listed.length > 0 ? listed : null;
}

function isNames(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
