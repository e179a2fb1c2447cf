/** Which deployed pipelines and which endpoints of alerts refer to a secret. */
import type { Knex } from 'knex';
import type { SecretSummary } from '../../../schemas/api/fleet/environments.ts';
import { secretVariable } from '../../../schemas/pipelines/secret-variable.ts';
import { SERVED_VERSIONS } from '../../delivery/rollouts/index.ts';
import { secretReferences } from '../references/secret-references.ts';

export type SecretUsers = Pick<SecretSummary, 'usedBy' | 'usedByEndpoints'>;

/** Answers the users of a variable. */
export async function readSecretUsers(
  db: Knex,
  environmentId: string,
): Promise<(variable: string) => SecretUsers> {
  const pipelines = await listPipelines(db, environmentId);
  const endpoints = await listEndpoints(db, environmentId);
  return (variable) => ({
    usedBy: pipelines.get(variable) ?? [],
    usedByEndpoints: endpoints.get(variable) ?? [],
  });
}

function addUser(users: Map<string, string[]>, variable: string, name: string): void {
  const known = users.get(variable) ?? [];
  if (known.at(-1) !== name) users.set(variable, [...known, name]);
}

/** The names of the deployed pipelines that refer to a secret, by its variable. */
async function listPipelines(db: Knex, environmentId: string): Promise<Map<string, string[]>> {
  const rows: { name: string; config: string }[] = await db('pipelines as p')
    .joinRaw(SERVED_VERSIONS)
    .join('pipeline_versions as v', 'v.id', 'served.version_id')
    .where({ 'p.environment_id': environmentId })
    .whereRaw("position('SVC_SECRET_' in v.config_yaml) > 0")
    .orderBy('p.name')
    .select({ name: 'p.name', config: 'v.config_yaml' });
  const users = new Map<string, string[]>();
  for (const { name, config } of rows) {
    for (const { variable } of secretReferences(config)) {
      // Both versions of a rollout may refer to it, and the pipeline is listed once.
      addUser(users, variable, name);
    }
  }
  return users;
}

/** Disabled ones too: their manifests are refused without the secret. Those made by hand hold their own values. */
async function listEndpoints(db: Knex, environmentId: string): Promise<Map<string, string[]>> {
  const rows: {
    name: string | null;
    urlRef: string | null;
    secretRef: string | null;
    headers: Record<string, string>;
  }[] = await db('webhook_endpoints')
    .where({ environment_id: environmentId, tombstoned_at: null, sealed_url: null })
    .orderBy('name')
    .select({ name: 'name', urlRef: 'url_ref', secretRef: 'secret_ref', headers: 'header_templates' });
  const users = new Map<string, string[]>();
  for (const { name, urlRef, secretRef, headers } of rows) {
    const named = [urlRef, secretRef].flatMap((one) => (one === null ? [] : secretVariable(one)));
    const inHeaders = Object.values(headers).flatMap((text) => secretReferences(text));
    for (const variable of [...named, ...inHeaders.map((one) => one.variable)])
      addUser(users, variable, name ?? 'an endpoint');
  }
  return users;
}
