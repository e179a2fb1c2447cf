import { NOTHING } from '../../users/person.ts';
import type { Rows } from './row.ts';

/** Nobody answers there, and nothing keeps one from naming it. */
const ISSUER = 'https://id.example.org';

export const SINGLE_SIGN_ON: Rows = {
  'settings.testOidc': { names: 'own', input: () => ({ issuer: ISSUER }) },
  'settings.updateOidc': {
    names: 'own',
    input: (_, n) => ({
      ...{ issuer: ISSUER, clientId: `headgate-${n}`, clientSecret: 'a secret of the client' },
      ...{ displayName: 'Example', tokenEndpointAuthMethod: 'client_secret_post' },
    }),
  },
  'settings.disableOidc': { names: 'own', input: () => NOTHING },
  'user.unlinkProvider': {
    names: 'own',
    input: async ({ db }, n, caller) => {
      const { id } = await caller.query<{ id: string }>('user.me');
      await db('user_identities').insert({ issuer: ISSUER, subject: `subject ${n}`, user_id: id });
      return NOTHING;
    },
  },
};
