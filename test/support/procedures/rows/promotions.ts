/** Bringing a pipeline from one environment into another. */

import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { environment, pipeline, type Rows } from './row.ts';

/** An environment of the side's team where somebody else has to approve, with the secret that its pipeline names. */
async function target({ db, teamId, secretId }: Side, n: number): Promise<string> {
  const id = `target ${n} of ${teamId}`;
  await db('environments').insert({ id, team_id: teamId, name: `target ${n}`, require_approval: true });
  await db.raw(
    `INSERT INTO secrets (id, environment_id, name, variable, sealed_value)
     SELECT ?, ?, name, variable, sealed_value FROM secrets WHERE id = ?`,
    [`secret of ${id}`, id, secretId],
  );
  return id;
}

const promoted = async (side: Side, n: number) => ({
  pipelineId: side.pipelineId,
  targetEnvironmentId: await target(side, n),
});

/** One that waits; asked for by somebody who is not there any more, unless by the caller. */
async function waiting(side: Side, n: number, asker: TestUser, own = false): Promise<{ requestId: string }> {
  const { requestId } = await asker.mutate<{ requestId: string }>(
    'promotion.initiate',
    await promoted(side, n),
  );
  if (!own) await side.db('promotions').where({ id: requestId }).update({ requested_by_id: null });
  return { requestId };
}

export const PROMOTIONS: Rows = {
  'promotion.preflight': { names: 'object', input: promoted },
  'promotion.diffPreview': { names: 'object', input: promoted },
  'promotion.initiate': { names: 'object', input: promoted },
  'promotion.approve': { names: 'object', input: waiting },
  'promotion.reject': {
    names: 'object',
    input: async (side, n, root) => ({ ...(await waiting(side, n, root)), note: 'not before Monday' }),
  },
  'promotion.cancel': { names: 'own', input: (side, n, caller) => waiting(side, n, caller, true) },
  'promotion.history': { names: 'object', input: pipeline },
  'promotion.list': { names: 'scope', input: environment },
  'promotion.get': { names: 'object', input: waiting },
  'promotion.content': { names: 'object', input: waiting },
};
