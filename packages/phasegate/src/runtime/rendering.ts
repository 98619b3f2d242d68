import { isAbsolute, join } from 'node:path';
import { own, type Phase, PhasegateError, type Principal, phaseById, type Run } from '@phasegate/core';
import { knownNames, type RenderedText, scopeFor } from '@phasegate/core/engine';
import type { FunctionCall, Functions } from './ports.ts';

/** Texts of phases that a function of the workflow makes. */
export interface Rendering {
  /** The current phase's text, or undefined where it is written down. Throws `function_failed`. */
  render(run: Run, principal: Principal): Promise<RenderedText | undefined>;
  /** The same after something was saved: a text that cannot be made must not look as if nothing had happened. */
  renderSaved(run: Run, principal: Principal): Promise<RenderedText | undefined>;
}

/** The module of a workflow as an absolute path. */
export function modulePath(workspace: string, module: string | null): string | null {
  return module === null || isAbsolute(module) ? module : join(workspace, module);
}

/** Has texts made by the functions of a workflow. */
export function createRendering(parts: {
  readonly functions: Functions;
  readonly workspace: string;
}): Rendering {
  async function render(run: Run, principal: Principal): Promise<RenderedText | undefined> {
    const phase = phaseById(run.workflow, run.phase);
    if (phase?.render == null || principal.kind === 'engine') return undefined;
    return renderPhase(run, phase, phase.render);
  }

  async function renderPhase(run: Run, phase: Phase, ref: string): Promise<RenderedText> {
    const context = {
      ...scopeFor(run, { phase }),
      runId: run.id,
      phase: phase.id,
      target: run.target,
      attempt: run.work.attempts + 1,
    };
    const file = modulePath(parts.workspace, run.workflow.module);
    const answer =
      file === null || run.workflow.code === null
        ? undefined
        : await parts.functions.call({
            file,
            code: run.workflow.code,
            ref,
            context,
            known: knownNames(run.workflow, phase),
            timeoutMs: 30_000,
            ...databaseOf(parts.workspace, run),
          });
    const made = answer?.ok === true ? answer.value : null;
    const [title, body] = [own(made, 'title'), own(made, 'body')];
    if (typeof title === 'string' && typeof body === 'string') return { title, body };
    const reason = answer?.ok === false ? answer.reason : 'it returned no title and text';
    const message = `the instructions of phase \`${phase.id}\` could not be made: ${reason}`;
    throw new PhasegateError('function_failed', message);
  }

  async function renderSaved(run: Run, principal: Principal): Promise<RenderedText | undefined> {
    try {
      return await render(run, principal);
    } catch (error) {
      if (!(error instanceof PhasegateError) || error.code !== 'function_failed') throw error;
      return {
        title: phaseById(run.workflow, run.phase)?.name ?? '',
        body: `${error.message}; tell a human`,
      };
    }
  }

  return { render, renderSaved };
}

/** What a text may read of the workflow's database. */
function databaseOf(workspace: string, { workflow }: Run): Pick<FunctionCall, 'database'> {
  const file = modulePath(workspace, workflow.database?.file ?? null);
  return file === null ? {} : { database: { file, writable: false } };
}
