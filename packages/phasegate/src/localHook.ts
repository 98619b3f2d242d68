import type { JsonObject } from '@phasegate/core';
import { askRunningServer } from './askRunningServer.ts';
import type { HookClient, OpenProject, Project } from './runtime/ports.ts';
import { answerHook } from './surfaces/hooks/answerHook.ts';

/** One event that came to a process of its own. */
export interface LocalHook {
  readonly client: HookClient;
  readonly body: string | null;
  readonly run: string | undefined;
  readonly programs: string | undefined;
  readonly project: Project;
  open(): Promise<OpenProject>;
}

/** Answers an event by the running server, else with the project's own store. In a folder that is not a project there is nothing to say. */
export async function answerLocalHook(event: LocalHook): Promise<JsonObject> {
  const { client, body, run, programs, project, open } = event;
  if (!(await project.exists())) return {};
  const told =
    body === null ? null : await askRunningServer(project.stateDir, { client, body, run, programs });
  if (told !== null) return told;
  const { hooks } = await open();
  return answerHook({ client, body, run, programs }, { hooks });
}
