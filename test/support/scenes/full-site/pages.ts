/**
 * Fills the pages of staging, so that a picture or a look shows what they are for: rules and groups with a refused one
 * of each, nodes in every state, a pipeline that writes lines of every level and one that crashes.
 */

import type { NodeSummary } from '../../../../schemas/api/fleet/fleet.ts';
import type { PipelineSummary } from '../../../../schemas/api/pipelines/pipelines.ts';
import { enrollNode, heartbeat } from '../../agents/agent-client.ts';
import { Clone } from '../../clients/clone.ts';
import type { RunningHeadgate } from '../../harness/headgate.ts';
import { until } from '../../harness/until.ts';
import { fillEnvironment } from './environment.ts';
import { fillLibrary } from './library.ts';
import { fillPromotions } from './promotions.ts';
import { fillRollouts } from './rollouts.ts';
import { fillUsers } from './users.ts';

const FOLDER = 'environments/staging';

const rule = (name: string, spec: string): string => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name} }
spec: { ${spec} }
`;

const group = (name: string, spec: string): string => `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: ${name} }
spec: { ${spec} }
`;

/** Five lines a second: JSON with a level, and plain text that is longer than a row. */
const CHECKOUT = `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: checkout, labels: { team: payments } }
spec:
  description: Requests of the checkout, with the level of each
  nodeSelector: { role: demo }
  sources: { requests: { type: demo_logs, format: json, interval: 0.25 } }
  transforms:
    judge:
      type: remap
      inputs: [requests]
      source: |
        . = object!(parse_json!(.message))
        .level = if .method == "DELETE" { "error" } else if .method == "PUT" { "warn" } else if .method == "HEAD" { "debug" } else { "info" }
    say:
      type: remap
      inputs: [judge]
      source: |
        words = "payment provider answered " + to_string(.status) ?? "nothing"
        .message = "2026-01-01T00:00:00Z " + upcase(string!(.level)) + " checkout::payment: " + words + "; the order is kept and is tried again in 30 s, after which it is handed to a person with all that was said before"
  sinks:
    events: { type: console, inputs: [judge], target: stderr, encoding: { codec: json } }
    words: { type: console, inputs: [say], target: stderr, encoding: { codec: text } }
`;

/** The port is that of the controller. */
const webhooks = (port: string): string => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: webhooks }
spec:
  nodeSelector: { role: demo }
  sources: { in: { type: http_server, address: "127.0.0.1:${port}" } }
  sinks: { out: { type: blackhole, inputs: [in] } }
`;

function manifests(port: string): Record<string, string> {
  const alert = (file: string, name: string, spec: string) => ({
    [`${FOLDER}/alerts/${file}.yaml`]: rule(name, spec),
  });
  return {
    ...alert('cpu', 'Busy CPU', 'metric: cpu_usage, condition: gt, threshold: 90'),
    ...alert(
      'disk',
      'Disk nearly full',
      'metric: disk_usage, condition: gt, threshold: 85.5, durationSeconds: 900',
    ),
    ...alert(
      'errors',
      'Errors in orders',
      'pipelineRef: orders, metric: error_rate, condition: gt, threshold: 5, durationSeconds: 300, enabled: false',
    ),
    ...alert(
      'lost',
      'Checkout loses events',
      'pipelineRef: checkout, metric: discarded_rate, condition: gt, threshold: 0.25',
    ),
    ...alert(
      'refused',
      'Crash of the archive',
      'pipelineRef: archive, metric: pipeline_crashed, condition: eq, threshold: 1',
    ),
    [`${FOLDER}/groups/edge.yaml`]: group(
      'edge',
      'criteria: { role: edge }, labelTemplate: { tier: outer, ring: "1" }, requiredLabels: [region, owner]',
    ),
    [`${FOLDER}/groups/storage.yaml`]: group('storage', 'criteria: { role: storage }'),
    [`${FOLDER}/groups/refused.yaml`]: group('canaries', 'criterias: { ring: "0" }'),
    [`${FOLDER}/pipelines/checkout.yaml`]: CHECKOUT,
    [`${FOLDER}/pipelines/webhooks.yaml`]: webhooks(port),
  };
}

/** Nodes beside the real one: they are heard once and then no more, the last one never. */
const NODES: { hostname: string; labels: Record<string, string>; heard: boolean }[] = [
  { hostname: 'edge-fra-1', labels: { role: 'edge', region: 'fra', owner: 'payments' }, heard: true },
  { hostname: 'edge-fra-2', labels: { role: 'edge', region: 'fra' }, heard: true },
  { hostname: 'archive-1', labels: { disk: 'slow' }, heard: true },
  { hostname: 'new-machine', labels: {}, heard: false },
];

/** Drawn in the UI, with something to mend. */
const component = (
  componentKey: string,
  kind: string,
  componentType: string,
  at: [number, number],
  config: object,
) => ({
  componentKey,
  kind,
  componentType,
  config,
  positionX: at[0],
  positionY: at[1],
  disabled: false,
});
const DRAWN = {
  nodes: [
    component('requests', 'SOURCE', 'http_server', [0, 60], {
      address: '127.0.0.1:18080',
      decoding: { codec: 'json' },
    }),
    component('judge', 'TRANSFORM', 'remap', [290, 60], {
      source: '.level = upcase(string!(.level))\n.took_ms = to_int!(.took) * 1000',
    }),
    component('split', 'TRANSFORM', 'route', [580, 30], {
      route: { errors: '.level == "ERROR"', slow: '.took_ms > 500' },
    }),
    component('alarms', 'SINK', 'http', [870, 0], { uri: 'http://127.0.0.1:18081/alarms' }),
    component('archive', 'SINK', 'blackhole', [870, 120], {}),
  ],
  edges: [
    { sourceNodeId: 'requests', targetNodeId: 'judge' },
    { sourceNodeId: 'judge', targetNodeId: 'split' },
    { sourceNodeId: 'split', targetNodeId: 'alarms', sourcePort: 'errors' },
    { sourceNodeId: 'split', targetNodeId: 'archive', sourcePort: '_unmatched' },
  ],
};

export async function fillPages(
  headgate: Pick<RunningHeadgate, 'url' | 'cloneUrl' | 'environments' | 'teamId' | 'api'>,
): Promise<void> {
  const api = await headgate.api();
  const { token } = await api.mutate<{ token: string }>('environment.generateEnrollmentToken', {
    environmentId: headgate.environments.staging,
    maxUses: NODES.length,
  });
  for (const { hostname, labels, heard } of NODES) {
    const node = await enrollNode(headgate.url, token, { hostname, labels });
    if (heard) await node.heartbeat(heartbeat({ labels }));
  }
  const { id: pipelineId } = await api.mutate<{ id: string }>('pipeline.create', {
    environmentId: headgate.environments.staging,
    name: 'webshop',
    description: 'Drawn by hand',
  });
  await api.mutate('pipeline.saveGraph', { pipelineId, ...DRAWN });
  await fillLibrary(api, headgate.environments.staging);
  await fillEnvironment(api, headgate.environments.staging, headgate.teamId);
  await fillRollouts(api, headgate.environments);
  await fillUsers(api, headgate.url, headgate.teamId);
  const clone = await Clone.of(headgate.cloneUrl);
  try {
    await clone.push(
      'Watch the checkout, and group the nodes at the edge',
      manifests(new URL(headgate.url).port),
    );
  } finally {
    await clone.remove();
  }
  await until(
    async () => {
      const input = { environmentId: headgate.environments.staging };
      const nodes = await api.query<NodeSummary[]>('fleet.list', input);
      const pipelines = await api.query<PipelineSummary[]>('pipeline.list', input);
      const silent = nodes.filter(({ status }) => status === 'UNREACHABLE').length;
      return (
        silent === NODES.filter(({ heard }) => heard).length &&
        pipelines.some(({ nodeCounts }) => nodeCounts.crashed > 0)
      );
    },
    { what: 'nodes that are not heard and a pipeline that crashed', timeoutMs: 60_000 },
  );
  await fillPromotions(api, headgate.environments);
}
