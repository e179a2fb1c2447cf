/** A pipeline that git describes, in the environment of a site. */
import { commit } from '../clients/fast-import.ts';
import { findPipeline, idleManifest } from '../fixtures/pipelines.ts';
import { until } from '../harness/until.ts';
import type { Site } from './site.ts';

/**
 * Commits its manifest and answers its id once it is applied. Before anything is drawn: the first plan of an environment
 * that holds objects waits for an approval.
 */
export async function pipelineInGit(site: Site, name = 'orders'): Promise<string> {
  const { environmentId } = site;
  const api = await site.api();
  const files = { [`staging/${name}.yaml`]: idleManifest(name) };
  commit(site.gitdir, { branch: 'main', message: `Add ${name}`, files });
  await api.mutate('gitSync.syncNow', { environmentId });
  let id: string | undefined;
  await until(
    async () => {
      id = (await findPipeline(api, environmentId, name))?.id;
      return id !== undefined;
    },
    { what: `${name} to be applied` },
  );
  return id ?? '';
}
