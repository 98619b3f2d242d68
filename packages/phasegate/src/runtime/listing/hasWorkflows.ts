import { PhasegateError } from '@phasegate/core';
import type { Catalog } from '../ports.ts';

/** Whether a project has workflows. Where there is too much to look through, there is something of a project. */
export async function hasWorkflows(catalog: Catalog): Promise<boolean> {
  try {
    return (await catalog.list()).length > 0;
  } catch (error) {
    if (error instanceof PhasegateError && error.code === 'too_large') return true;
    throw error;
  }
}
