/** What operators say to the loop with git. */
import { environment, fresh, freshEnvironment, type Row, type Rows } from './row.ts';

const orders = { kind: 'Pipeline', name: 'orders' };
const ALERT = { kind: 'AlertRule', name: 'taken' };
const HASH = '0123456789abcdef0123456789abcdef';

/** An environment whose binding no pass looks at, with a manifest of the name `taken` in its inventory. */
async function bound(
  side: Parameters<Row['input']>[0],
  n: number,
  root: Parameters<Row['input']>[2],
): Promise<string> {
  const environmentId = await freshEnvironment(side, n, root);
  const bindingId = `binding of ${environmentId}`;
  await side.db('git_bindings').insert({
    id: bindingId,
    environment_id: environmentId,
    mode: 'sync',
    path: 'nowhere',
    suspended_at: new Date(),
    suspended_by: 'the tests',
    suspend_reason: '',
    waiting_plan: JSON.stringify({ hash: HASH, guards: [], since: new Date() }),
  });
  await side.db('git_manifests').insert({
    binding_id: bindingId,
    kind: ALERT.kind,
    name_key: ALERT.name,
    name: ALERT.name,
    path: 'nowhere/taken.yaml',
    line: 1,
    seen_hash: 'a'.repeat(64),
    prune_pending: true,
  });
  return environmentId;
}

export const GIT_LABELS: Rows = {
  'gitSync.suspend': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, ...orders, reason: 'night shift' }),
    // Said ten times, it is taken back once.
    undo: ({ environmentId }, _output, caller) =>
      caller.call('mutation', 'gitSync.resume', { environmentId, ...orders }),
  },
  'gitSync.resume': {
    names: 'scope',
    async input({ environmentId }, _n, root) {
      await root.mutate('gitSync.suspend', { environmentId, ...orders });
      return { environmentId, ...orders };
    },
  },
  'gitSync.hold': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, ...orders, reason: 'it leaks' }),
    undo: ({ environmentId }, { id }, caller) =>
      caller.call('mutation', 'gitSync.releaseHold', { environmentId, id }),
  },
  'gitSync.holds': { names: 'scope', input: environment },
  'gitSync.releaseHold': {
    names: 'scope',
    input: async ({ environmentId }, _n, root) => ({
      environmentId,
      id: await fresh(root, 'gitSync.hold', { environmentId, ...orders, reason: 'it leaks' }),
    }),
  },
  'gitSync.adopt': {
    names: 'scope',
    async input(side, n, root) {
      const environmentId = await bound(side, n, root);
      await root.mutate('alert.createRule', {
        environmentId,
        teamId: side.teamId,
        name: ALERT.name,
        metric: 'pipeline_crashed',
        condition: 'gt',
        threshold: 0,
      });
      return { environmentId, ...ALERT };
    },
  },
  'gitSync.confirmPrune': {
    names: 'scope',
    input: async (side, n, root) => ({ environmentId: await bound(side, n, root), ...ALERT }),
  },
  'gitSync.approvePlan': {
    names: 'scope',
    input: async (side, n, root) => ({ environmentId: await bound(side, n, root), hash: HASH }),
  },
  'gitSync.drift': { names: 'scope', input: ({ environmentId }) => ({ environmentId, differing: true }) },
  'gitSync.retryJob': {
    names: 'object',
    async input({ db, environmentId }, n) {
      const binding = await db('git_bindings').where({ environment_id: environmentId }).first('id');
      const id = `failed ${n} of ${environmentId}`;
      await db('git_jobs').insert({
        id,
        binding_id: binding.id,
        type: 'pass',
        status: 'failed',
        trigger: 'timer',
      });
      return { jobId: id };
    },
  },
  'gitSync.retryAllFailed': { names: 'scope', input: environment },
};
