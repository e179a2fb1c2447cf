/** Programs, as they come to the REST interface: with the key of a service account. */
import { PERMISSIONS, type Permission } from '../../../schemas/api/identity/service-accounts.ts';
import { use } from '../harness/use.ts';
import type { Side } from '../scenes/two-teams.ts';
import type { TestUser } from '../users/person.ts';
import { commit, git } from './fast-import.ts';
import { type HttpResponse, type SendOptions, send } from './http.ts';

export interface RestKey {
  accountId: string;
  key: string;
}

let made = 0;

/** A service account with these permissions, all where none are named. */
export async function makeKey(
  admin: TestUser,
  environmentId: string,
  permissions: readonly Permission[] = PERMISSIONS,
): Promise<RestKey> {
  const { id, key } = await admin.mutate<{ id: string; key: string }>('serviceAccount.create', {
    environmentId,
    name: `program ${++made}`,
    permissions,
  });
  return { accountId: id, key };
}

export type RestCall = (method: string, path: string, options?: SendOptions) => Promise<HttpResponse>;

/** Calls below `/api/v1` with the key, or without one. */
export const restClient =
  (url: string, key: string | null): RestCall =>
  (method, path, options = {}) =>
    send(`${url}/api/v1${path}`, {
      ...options,
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...options.headers },
    });

/** An engine config that needs nothing. */
export const CONFIG_YAML =
  'sources:\n  lines:\n    type: demo_logs\n    format: json\nsinks:\n  out:\n    type: blackhole\n    inputs: [lines]\n';

/** A draft with a source and a sink that the UI owns; answers its id. */
export async function draftPipeline(
  editor: TestUser,
  environmentId: string,
  name: string,
  config: object = { format: 'shuffle', lines: ['x'] },
): Promise<string> {
  const { id } = await editor.mutate<{ id: string }>('pipeline.create', { environmentId, name });
  const at = { positionX: 0, positionY: 0, disabled: false };
  await editor.mutate('pipeline.saveGraph', {
    pipelineId: id,
    nodes: [
      { ...at, componentKey: 'lines', componentType: 'demo_logs', kind: 'SOURCE', config },
      { ...at, componentKey: 'out', componentType: 'blackhole', kind: 'SINK', config: {} },
    ],
    edges: [{ sourceNodeId: 'lines', targetNodeId: 'out' }],
  });
  return id;
}

/** The environment follows a branch of its own from now on. */
export async function followBranch({ db, gitdir, environmentId }: Side, branch: string): Promise<void> {
  git(gitdir, 'update-ref', `refs/heads/${branch}`, 'refs/heads/main');
  await db('git_bindings').where({ environment_id: environmentId }).update({ ref: branch });
}

/** A pull request of somebody against `base`, which could be merged; answers its number and head. */
export async function openPull(
  { db, gitdir, environmentId }: Side,
  base: string,
  n: number,
): Promise<{ id: string; headSha: string }> {
  const branch = `topic-${n}`;
  git(gitdir, 'update-ref', `refs/heads/${branch}`, `refs/heads/${base}`);
  const headSha = commit(gitdir, { branch, message: 'topic', files: { [`notes/${n}.md`]: `${n}\n` } });
  const binding = await db('git_bindings').where({ environment_id: environmentId }).first('id');
  await db('pull_requests').insert({
    ...{ id: `pull ${n}`, binding_id: binding.id, repository: 'embedded', number: 1_000 + n, title: branch },
    ...{
      body: '',
      base,
      branch,
      head_sha: headSha,
      base_sha: git(gitdir, 'rev-parse', `refs/heads/${base}`),
    },
    ...{ state: 'open', subject: '{}', author: 'Somebody', mergeable: 'clean' },
  });
  return { id: String(1_000 + n), headSha };
}

/** With a key that may do everything in the environment of `ours`. */
export const useRest = (test: { url: string }, teams: { root: TestUser; ours: Side }): { call: RestCall } =>
  use(async () => ({
    call: restClient(test.url, (await makeKey(teams.root, teams.ours.environmentId)).key),
  }));
