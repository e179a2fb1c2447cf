/** What one node is answered: its selection of an environment's pipelines. Nodes with the same selection share a text. */
import { createHash } from 'node:crypto';
import { effectiveLabels } from '../groups/index.ts';
import type { KnownNode } from '../nodes/directory/node-directory.ts';
import { afterRevert, versionForNode } from '../status/index.ts';
import type { BodyCache } from './body-cache.ts';
import type { EnvironmentConfig } from './environment-config.ts';
import type { Rendered } from './render-pipeline.ts';

export interface ServedConfig {
  etag: string;
  /** JSON, ready to send. */
  body: string;
  revision: number;
}

/** Answers per environment, not counting their texts. */
const MAX_ANSWERS = 1_000;

export function answerFor(
  environment: EnvironmentConfig,
  node: KnownNode,
  push: string,
  bodies: BodyCache,
): ServedConfig {
  const target = {
    labels: effectiveLabels(node.agentLabels, node.uiLabels, environment.groups),
    maintenance: node.maintenance,
  };
  const chosen = environment.pipelines.flatMap((pipeline) => {
    const versionId = versionForNode(pipeline, target);
    if (versionId === null) return [];
    const served = afterRevert(versionId, pipeline.reverted.get(node.nodeId));
    return pipeline.renderings.get(served) ?? [];
  });
  const revision = environment.revision + node.revision;
  const requests = renderRequests(node);
  const body = () =>
    `{"pipelines":[${chosen.map((rendering) => rendering.json).join()}],"pollIntervalMs":${environment.pollIntervalMs},` +
    `"secretBackend":${JSON.stringify(environment.secretBackend)},${requests},"configRevision":${revision}${push}}`;
  const configEtag = () => `${revision}-${environment.pollIntervalMs}-${hashOfSelection(chosen)}`;
  if (requests !== NO_REQUESTS) {
    const hash = createHash('sha256').update(requests).digest('hex').slice(0, 12);
    // Built when it is sent and not cached: while a fleet is updated, the cache would hold one text per node.
    return {
      etag: `"${configEtag()}-${hash}"`,
      revision,
      get body() {
        return body();
      },
    };
  }
  // A staged environment can select as many pipelines as there are, but other versions of them.
  const isAll = !environment.staged && chosen.length === environment.pipelines.length;
  const key = `${revision} ${isAll ? '*' : chosen.map((rendering) => rendering.config.versionId).join()}`;
  const known = environment.answers.get(key);
  if (known) return known;
  const served: ServedConfig = {
    etag: `"${configEtag()}"`,
    revision,
    get body() {
      return bodies.get(`${environment.serial} ${key}`, body);
    },
  };
  if (environment.answers.size < MAX_ANSWERS) environment.answers.set(key, served);
  return served;
}

/** Hash of the selected versions and their renderings. */
function hashOfSelection(chosen: readonly Rendered[]): string {
  const text = chosen.map((rendering) => `${rendering.config.version}${rendering.checksum}`).join();
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

const NO_REQUESTS = '"sampleRequests":[],"pendingAction":null';

/** The update and the samples requested of this node alone, as JSON; the constant `NO_REQUESTS` if there are none. */
function renderRequests({ update, sampleRequests }: KnownNode): string {
  if (!update && sampleRequests.length === 0) return NO_REQUESTS;
  const action = update ? JSON.stringify(update.action) : 'null';
  return `"sampleRequests":${JSON.stringify(sampleRequests)},"pendingAction":${action}`;
}
