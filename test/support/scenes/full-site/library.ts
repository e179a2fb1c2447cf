/** Fills staging with what people make by hand beside the drawing: groups, a template, snippets, shared components, versions. */
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { findPipeline } from '../../fixtures/pipelines.ts';

interface Place {
  environmentId: string;
  teamId: string;
}

const node = (
  componentKey: string,
  kind: string,
  componentType: string,
  config: object,
  positionX: number,
) => ({ componentKey, kind, componentType, config, positionX, positionY: 0, disabled: false });

/** `program` makes one version differ from the next. */
const invoices = (program: string) => ({
  nodes: [
    node('orders', 'SOURCE', 'demo_logs', { format: 'json', interval: 0.5 }, 0),
    node('tidy', 'TRANSFORM', 'remap', { source: program }, 290),
    node('archive', 'SINK', 'blackhole', { print_interval_secs: 60 }, 580),
  ],
  edges: [
    { sourceNodeId: 'orders', targetNodeId: 'tidy' },
    { sourceNodeId: 'tidy', targetNodeId: 'archive' },
  ],
});

const PARSE = '. = object!(parse_json!(.message))\n';

const SNIPPETS = [
  {
    name: 'Access log',
    category: 'Parsing',
    description: 'A line of a web server in its fields',
    code: '. |= parse_common_log!(string!(.message))\ndel(.message)\n',
  },
  {
    name: 'Without credentials',
    category: 'Privacy',
    description: 'Takes out what must not leave the site',
    code: 'del(.password)\ndel(.token)\n.user = sha2(string!(.user))\n',
  },
];

async function fillGroups(api: ApiClient, { environmentId }: Place): Promise<string> {
  const group = (name: string, color: string, parentId?: string) =>
    api.mutate<{ id: string }>('pipelineGroup.create', {
      environmentId,
      name,
      color,
      ...(parentId ? { parentId } : {}),
    });
  const payments = await group('Payments', '#2b7fca');
  const europe = await group('Europe', '#1f8f8f', payments.id);
  await group('Platform', '#b9851a');
  return europe.id;
}

async function fillVersions(api: ApiClient, { environmentId }: Place): Promise<string> {
  const { id } = await api.mutate<{ id: string }>('pipeline.create', {
    environmentId,
    name: 'invoices',
    description: 'Invoices of the shops in Europe',
  });
  const steps: [program: string, changelog: string][] = [
    [PARSE, 'The first one'],
    [`${PARSE}.country = downcase(string!(.host))\n`, 'Countries in small letters, as the report wants them'],
  ];
  for (const [program, changelog] of steps) {
    await api.mutate('pipeline.saveGraph', { pipelineId: id, ...invoices(program) });
    await api.mutate('deploy.agent', { pipelineId: id, changelog });
  }
  await api.mutate('pipeline.saveGraph', { pipelineId: id, ...invoices(`${PARSE}.paid = true\n`) });
  return id;
}

async function fillShared(api: ApiClient, { environmentId }: Place, pipelineId: string): Promise<void> {
  const shared = await api.mutate<{ id: string }>('sharedComponent.create', {
    environmentId,
    name: 'Archive',
    description: 'Where everything ends that must be kept',
    kind: 'SINK',
    componentType: 'blackhole',
    config: { print_interval_secs: 60 },
  });
  const { nodes } = await api.query<{ nodes: { id: string; componentKey: string }[] }>('pipeline.get', {
    id: pipelineId,
  });
  const nodeId = nodes.find(({ componentKey }) => componentKey === 'archive')?.id;
  await api.mutate('sharedComponent.linkExisting', { pipelineId, nodeId, sharedComponentId: shared.id });
  await api.mutate('sharedComponent.update', {
    id: shared.id,
    environmentId,
    config: { print_interval_secs: 300 },
  });
}

export async function fillLibrary(api: ApiClient, environmentId: string): Promise<void> {
  const { teamId } = await api.query<{ teamId: string }>('environment.get', { id: environmentId });
  const place = { environmentId, teamId };
  const groupId = await fillGroups(api, place);
  const pipelineId = await fillVersions(api, place);
  await fillShared(api, place, pipelineId);
  const drawn = await findPipeline(api, environmentId, 'webshop');
  const upstream = await findPipeline(api, environmentId, 'orders');
  for (const id of [pipelineId, drawn?.id]) if (id) await api.mutate('pipeline.update', { id, groupId });
  if (upstream) {
    const description = 'It writes the orders that are billed here';
    await api.mutate('pipelineDependency.add', {
      upstreamId: upstream.id,
      downstreamId: pipelineId,
      description,
    });
  }
  if (drawn) await api.mutate('pipelineDependency.add', { upstreamId: drawn.id, downstreamId: pipelineId });
  await api.mutate('template.create', {
    teamId,
    name: 'Tidy lines',
    category: 'Logs',
    description: 'Lines of JSON, parsed, into the archive. Put your own source in front.',
    ...invoices(PARSE),
  });
  for (const snippet of SNIPPETS) await api.mutate('vrlSnippet.create', { teamId, ...snippet });
}
