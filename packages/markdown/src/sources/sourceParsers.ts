import { PhasegateError } from '@phasegate/core';
import type { SourceParser, SourceParsers } from '@phasegate/core/ports';
import { specTasksParser } from './tasksMd/specTasksParser.ts';

/** The parsers Phasegate has; others are registered beside them. */
export function createSourceParsers(): SourceParsers {
  const parsers = new Map<string, SourceParser>([[specTasksParser.name, specTasksParser]]);
  return {
    get: (name) => parsers.get(name),
    register(parser) {
      if (parsers.has(parser.name)) {
        throw new PhasegateError('usage', `there is already a parser \`${parser.name}\``);
      }
      parsers.set(parser.name, parser);
    },
    names: () => [...parsers.keys()],
  };
}
