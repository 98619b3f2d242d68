import { humanList } from '@phasegate/wire/schemas';
import { type Endpoint, endpoint, reply } from './endpoint.ts';

/** The humans of a project. They are added and removed on the command line, where their passphrases are typed. */
export const PEOPLE_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/humans',
    operationId: 'listHumans',
    tag: 'people',
    who: ['human'],
    summary: 'List humans',
    description: 'With the role of each.',
    answers: { 200: { description: 'the humans', schema: humanList } },
    async handle({ parts: { project } }) {
      const humans = await project.humans.list();
      return reply(200, {
        humans: humans.map(({ name, role, addedAt }) => ({ name, role, added_at: addedAt })),
      });
    },
  }),
];
