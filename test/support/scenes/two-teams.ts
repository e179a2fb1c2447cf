/**
 * Two teams, strangers to each other: `ours` with an environment that git owns, a pipeline deployed from a push, a secret
 * and a node that has reported; `theirs` with the same.
 */

import { enrollNode, heartbeat, type TestNode } from '../agents/agent-client.ts';
import { GitClient, withCredentials } from '../clients/git-client.ts';
import type { TestController } from '../harness/controller.ts';
import type { TestDb } from '../harness/test-db.ts';
import { until } from '../harness/until.ts';
import { use } from '../harness/use.ts';
import { type makeUser, signUp, type TestUser } from '../users/person.ts';

export interface Side {
  /** For what has to be there and no procedure makes. */
  db: TestDb;
  /** Of the embedded repository. */
  gitdir: string;
  isOurs: boolean;
  teamId: string;
  environmentId: string;
  pipelineId: string;
  versionId: string;
  secretId: string;
  node: TestNode;
}

export interface TwoTeams {
  root: TestUser;
  viewer: TestUser;
  editor: TestUser;
  admin: TestUser;
  /** ADMIN of the other team and of nothing here. */
  stranger: TestUser;
  ours: Side;
  theirs: Side;
  /** A clone with root's personal token. */
  git: GitClient;
  /** Root's personal token. */
  token: string;
}

export const SECRET_VALUE = 'hunter2-of-the-database';

export function manifest(name: string, more = ''): string {
  return `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name} }
spec:
  sources:
    lines: { type: demo_logs, format: shuffle, lines: ["\${SVC_SECRET_DB_PASSWORD}"] }
  sinks:
    out: { type: blackhole, inputs: [lines] }
${more}`;
}

export async function makeTwoTeams(test: TestController): Promise<TwoTeams> {
  const root = await test.root();
  const { token } = await root.mutate<{ token: string }>('user.createToken', { name: 'git' });
  const git = new GitClient(withCredentials(`${test.url}/git/config.git`, 'git', token));
  const made: Record<string, { teamId: string; environmentId: string; secretId: string; node: TestNode }> =
    {};
  for (const name of ['ours', 'theirs']) {
    const team = await root.mutate<{ id: string }>('team.create', { name });
    const environment = await root.mutate<{ id: string }>('environment.create', { name, teamId: team.id });
    const environmentId = environment.id;
    const secret = await root.mutate<{ id: string }>('secret.create', {
      environmentId,
      name: 'db_password',
      value: SECRET_VALUE,
    });
    await root.mutate('gitSync.configure', { environmentId, mode: 'sync', path: name });
    const enrollment = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId,
    });
    const node = await enrollNode(test.url, enrollment.token, { hostname: `${name}-node` });
    made[name] = { teamId: team.id, environmentId, secretId: secret.id, node };
  }
  await git.clone();
  await git.commit({ 'ours/orders.yaml': manifest('orders'), 'theirs/orders.yaml': manifest('orders') });
  const pushed = await git.push();
  if (pushed.code !== 0) throw new Error(`push: ${pushed.stderr}`);

  const side = async (name: string): Promise<Side> => {
    const { environmentId, ...rest } = made[name]!;
    const list = () => root.query<{ id: string; isDraft: boolean }[]>('pipeline.list', { environmentId });
    await until(async () => (await list()).some((one) => !one.isDraft), {
      what: `a pipeline in ${name}; the push said: ${pushed.stderr}`,
    });
    const pipelineId = (await list())[0]?.id ?? '';
    const versions = await root.query<{ id: string }[]>('pipeline.versions', { pipelineId });
    await rest.node.heartbeat(
      heartbeat({
        pipelines: [{ pipelineId, version: 1, status: 'RUNNING', pid: 7, uptimeSeconds: 3, eventsIn: 1 }],
      }),
    );
    await until(async () => (await test.db('node_pipelines').where({ pipeline_id: pipelineId })).length > 0, {
      what: 'the heartbeat to be stored',
    });
    return {
      ...{ db: test.db, gitdir: test.controller.gitdir, isOurs: name === 'ours' },
      environmentId,
      ...rest,
      pipelineId,
      versionId: versions[0]?.id ?? '',
    };
  };
  const ours = await side('ours');
  const theirs = await side('theirs');
  const join = async (email: string, teams: Parameters<typeof makeUser>[1]['teams']) => {
    return signUp(test, { email, teams });
  };
  return {
    root,
    token,
    git,
    ours,
    theirs,
    viewer: await join('viewer@example.org', { [ours.teamId]: 'VIEWER' }),
    editor: await join('editor@example.org', { [ours.teamId]: 'EDITOR' }),
    admin: await join('admin@example.org', { [ours.teamId]: 'ADMIN' }),
    stranger: await join('stranger@example.org', { [theirs.teamId]: 'ADMIN' }),
  };
}

/** A team with one environment, and nothing in it. */
export async function testEnvironment(
  root: TestUser,
  name = 'staging',
): Promise<{ teamId: string; environmentId: string }> {
  const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: `Team of ${name}` });
  const { id } = await root.mutate<{ id: string }>('environment.create', { name, teamId });
  return { teamId, environmentId: id };
}

export const useTwoTeams = (test: TestController) =>
  use(
    () => makeTwoTeams(test),
    (teams) => teams.git.remove(),
  );
