/**
 * Every procedure of the router through its door, by one table: who may, what is refused, and that the answer has the form
 * that its operation promises. A procedure without a row fails.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import type { TSchema } from 'typebox';
import type { GraphNode } from '../../../schemas/api/pipelines.ts';
import { validator } from '../../../schemas/validate.ts';
import { heartbeat } from '../../support/agent-client.ts';
import { base64, LEAF } from '../../support/certificates.ts';
import { startTestController, type TestController } from '../../support/controller.ts';
import { OPERATIONS, unknownFields } from '../../support/operations.ts';
import { callProcedure, type Kind, NOTHING, type Person } from '../../support/person.ts';
import { PROCEDURE_KINDS } from '../../support/procedures.ts';
import { makeTwoTeams, SECRET_VALUE, type Side, type TwoTeams } from '../../support/two-teams.ts';
import { until } from '../../support/until.ts';

interface Row {
  /** Input that works for whoever has the role. `n` differs from call to call. */
  input(side: Side, n: number, root: Person): object | Promise<object> | typeof NOTHING;
  /** What the input names of another team: a scope is FORBIDDEN, an object NOT_FOUND; null belongs to the caller alone. */
  names: 'scope' | 'object' | 'own';
}

const environment = ({ environmentId }: Side) => ({ environmentId });
const pipeline = ({ pipelineId }: Side) => ({ pipelineId });

async function freshSecret({ environmentId }: Side, n: number, root: Person) {
  const input = { environmentId, name: `short_lived_${n}`, value: SECRET_VALUE };
  const { id } = await root.mutate<{ id: string }>('secret.create', input);
  return { id, environmentId };
}

async function freshAccount({ environmentId }: Side, n: number, root: Person) {
  const input = { environmentId, name: `short-lived ${n}`, permissions: ['pipelines.read'] };
  const { id } = await root.mutate<{ id: string }>('serviceAccount.create', input);
  return { id };
}

const at = (
  componentKey: string,
  componentType: string,
  kind: GraphNode['kind'],
  config: object,
): GraphNode => ({
  componentKey,
  componentType,
  kind,
  config: { ...config },
  positionX: 0,
  positionY: 0,
  disabled: false,
});
const GRAPH = {
  nodes: [
    at('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
    at('out', 'blackhole', 'SINK', { print_interval_secs: 0 }),
  ],
  edges: [{ sourceNodeId: 'lines', targetNodeId: 'out' }],
};
const CONFIG_YAML = `sources: { lines: { type: demo_logs, format: json } }
sinks: { out: { type: blackhole, inputs: [lines] } }
`;

/** A draft that the UI owns. */
async function freshDraft({ environmentId }: Side, n: number, root: Person): Promise<string> {
  return (await root.mutate<{ id: string }>('pipeline.create', { environmentId, name: `draft ${n}` })).id;
}

/** One with a graph; answers its nodes by component key too. */
async function freshGraph(side: Side, n: number, root: Person) {
  const pipelineId = await freshDraft(side, n, root);
  const { nodes } = await root.mutate<{ nodes: { id: string; componentKey: string }[] }>(
    'pipeline.saveGraph',
    {
      pipelineId,
      ...GRAPH,
    },
  );
  const nodeId = nodes.find(({ componentKey }) => componentKey === 'lines')?.id ?? '';
  return { pipelineId, nodeId };
}

async function freshDeployed(side: Side, n: number, root: Person) {
  const { pipelineId } = await freshGraph(side, n, root);
  const { versionId } = await root.mutate<{ versionId: string }>('deploy.agent', {
    pipelineId,
    changelog: 'first',
  });
  return { pipelineId, versionId };
}

async function freshComponent({ environmentId }: Side, n: number, root: Person): Promise<string> {
  const [{ componentType, kind, config }] = GRAPH.nodes as [GraphNode];
  const input = { environmentId, name: `shared ${n}`, componentType, kind, config };
  return (await root.mutate<{ id: string }>('sharedComponent.create', input)).id;
}

async function freshLink(side: Side, n: number, root: Person) {
  const { pipelineId, nodeId } = await freshGraph(side, n, root);
  const sharedComponentId = await freshComponent(side, n, root);
  await root.mutate('sharedComponent.linkExisting', { pipelineId, nodeId, sharedComponentId });
  return { pipelineId, nodeId };
}

/** Makes something; answers its id. */
const fresh = async (root: Person, name: string, input: object): Promise<string> =>
  (await root.mutate<{ id: string }>(name, input)).id;

const freshEnvironment = ({ teamId }: Side, n: number, root: Person) =>
  fresh(root, 'environment.create', { teamId, name: `short-lived ${n}` });

const ruleOf = ({ environmentId, teamId, pipelineId }: Side, n: number) => ({
  ...{ environmentId, teamId, pipelineId, name: `rule ${n}` },
  ...{ metric: 'error_rate', condition: 'gt', threshold: 0.5, durationSeconds: 30 },
});
const groupOf = ({ environmentId }: Side, n: number) => ({
  environmentId,
  name: `group ${n}`,
  color: '#1d6fb8',
});
const templateOf = ({ teamId }: Side, n: number) => ({
  teamId,
  ...{ name: `template ${n}`, description: 'to begin with', category: 'Basics' },
  ...GRAPH,
});
const snippetOf = ({ teamId }: Side, n: number) => ({
  ...{ teamId, name: `snippet ${n}`, description: 'a piece', category: 'Parsing', code: '.a = 1' },
});
const presetScope = ({ environmentId }: Side) => ({ environmentId, scope: 'pipeline_list' });
const presetOf = (environmentId: string, n: number) => ({
  ...{ environmentId, scope: 'pipeline_list', name: `preset ${n}`, filters: { status: ['running'], q: 'x' } },
});

/** In an environment of its own: a list takes 20. */
async function freshPreset(side: Side, n: number, root: Person) {
  const environmentId = await freshEnvironment(side, n, root);
  const id = await fresh(root, 'filterPreset.create', presetOf(environmentId, n));
  return { environmentId, id };
}

/** A store of secrets that is a program, which every editor may set here. */
const EXEC_SECRETS = join(import.meta.dirname, '../../support/exec-secrets.sh');
const execStore = { secretBackend: 'EXEC', secretBackendConfig: { command: EXEC_SECRETS } };

async function withExecStore(side: Side, n: number, root: Person): Promise<string> {
  const id = await freshEnvironment(side, n, root);
  await root.mutate('environment.update', { id, ...execStore });
  return id;
}

const certificateOf = ({ environmentId }: Side, n: number) => ({
  ...{ environmentId, name: `certificate ${n}`, filename: `leaf-${n}.pem`, fileType: 'cert' },
  dataBase64: base64(LEAF),
});

const ROWS: Record<string, Row> = {
  'user.me': { names: 'own', input: () => NOTHING },
  'user.listTokens': { names: 'own', input: () => NOTHING },
  'user.createToken': { names: 'own', input: (_, n) => ({ name: `laptop ${n}`, expiresInDays: 30 }) },
  'user.deleteToken': {
    names: 'own',
    input: async (_, n, caller) => {
      const { id } = await caller.mutate<{ id: string }>('user.createToken', { name: `old ${n}` });
      return { id };
    },
  },
  'team.list': { names: 'own', input: () => NOTHING },
  'team.create': { names: 'own', input: (_, n) => ({ name: `Team ${n}` }) },
  'environment.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'environment.get': { names: 'object', input: ({ environmentId }) => ({ id: environmentId }) },
  'environment.create': { names: 'scope', input: ({ teamId }, n) => ({ teamId, name: `made ${n}` }) },
  'environment.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await freshEnvironment(side, n, root),
      name: `renamed ${n}`,
      ...execStore,
    }),
  },
  'environment.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await freshEnvironment(side, n, root) }),
  },
  'environment.revokeEnrollmentToken': {
    names: 'scope',
    input: async (side, n, root) => {
      const environmentId = await freshEnvironment(side, n, root);
      await root.mutate('environment.generateEnrollmentToken', { environmentId });
      return { environmentId };
    },
  },
  'environment.generateEnrollmentToken': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, maxUses: 3, expiresInHours: 2 }),
  },
  'secret.list': { names: 'scope', input: environment },
  'secret.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({ environmentId, name: `made_${n}`, value: SECRET_VALUE }),
  },
  'secret.register': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: await withExecStore(side, n, root),
      name: `in_the_store_${n}`,
    }),
  },
  'secret.update': {
    names: 'scope',
    input: ({ environmentId, secretId }) => ({ environmentId, id: secretId, value: SECRET_VALUE }),
  },
  'secret.delete': { names: 'scope', input: freshSecret },
  'certificate.list': { names: 'scope', input: environment },
  'certificate.upload': { names: 'scope', input: certificateOf },
  'certificate.delete': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await fresh(root, 'certificate.upload', certificateOf(side, n)),
    }),
  },
  'serviceAccount.list': { names: 'scope', input: environment },
  'serviceAccount.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({
      environmentId,
      name: `ci ${n}`,
      description: 'deploys from the build server',
      permissions: ['pipelines.read', 'pipelines.deploy'],
      expiresInDays: 90,
    }),
  },
  'serviceAccount.revoke': { names: 'object', input: freshAccount },
  'serviceAccount.delete': { names: 'object', input: freshAccount },
  'pipeline.list': { names: 'scope', input: environment },
  'pipeline.get': { names: 'object', input: ({ pipelineId }) => ({ id: pipelineId }) },
  'pipeline.versions': { names: 'object', input: pipeline },
  'pipeline.getVersion': { names: 'object', input: ({ versionId }) => ({ versionId }) },
  'pipeline.deploymentStatus': { names: 'object', input: pipeline },
  'pipeline.logs': {
    names: 'object',
    input: ({ pipelineId, node }) => ({ pipelineId, nodeId: node.nodeId }),
  },
  'pipeline.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({ environmentId, name: `made ${n}`, description: 'by hand' }),
  },
  'pipeline.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await freshDraft(side, n, root),
      name: `renamed ${n}`,
      description: null,
      nodeSelector: { role: 'edge' },
      logLevel: 'debug',
      labels: { team: 'payments' },
    }),
  },
  'pipeline.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await freshDraft(side, n, root) }),
  },
  'pipeline.restore': {
    names: 'object',
    input: async (side, n, root) => {
      const id = await freshDraft(side, n, root);
      await root.mutate('pipeline.delete', { id });
      return { id };
    },
  },
  'pipeline.clone': { names: 'object', input: pipeline },
  'pipeline.promote': {
    names: 'object',
    input: async ({ teamId, pipelineId }, n, root) => {
      const input = { teamId, name: `promoted to ${n}` };
      const { id } = await root.mutate<{ id: string }>('environment.create', input);
      return { pipelineId, targetEnvironmentId: id, name: 'promoted' };
    },
  },
  'pipeline.saveGraph': {
    names: 'object',
    input: async (side, n, root) => ({
      pipelineId: await freshDraft(side, n, root),
      ...GRAPH,
      globalConfig: { timezone: 'local' },
      graphRevision: 1,
    }),
  },
  'pipeline.renderGraph': {
    names: 'object',
    input: ({ pipelineId }) => ({ pipelineId, ...GRAPH, globalConfig: {} }),
  },
  'pipeline.readYaml': {
    names: 'object',
    input: ({ pipelineId }) => ({ pipelineId, configYaml: CONFIG_YAML, graph: GRAPH }),
  },
  'pipeline.compareVersions': {
    names: 'object',
    input: async (side, n, root) => {
      const { pipelineId, versionId } = await freshDeployed(side, n, root);
      const next = { pipelineId, configYaml: CONFIG_YAML };
      const later = await root.mutate<{ versionId: string }>('pipeline.createVersion', next);
      return { fromVersionId: versionId, toVersionId: later.versionId };
    },
  },
  'pipeline.createVersion': {
    names: 'object',
    input: async (side, n, root) => ({
      pipelineId: await freshDraft(side, n, root),
      configYaml: CONFIG_YAML,
      changelog: 'from a file',
    }),
  },
  'pipeline.rollback': {
    names: 'object',
    input: async (side, n, root) => {
      const { pipelineId, versionId } = await freshDeployed(side, n, root);
      return { pipelineId, targetVersionId: versionId };
    },
  },
  'deploy.agent': {
    names: 'object',
    input: async (side, n, root) => ({
      pipelineId: (await freshGraph(side, n, root)).pipelineId,
      changelog: 'first',
    }),
  },
  'deploy.undeploy': {
    names: 'object',
    input: async (side, n, root) => ({ pipelineId: (await freshDeployed(side, n, root)).pipelineId }),
  },
  'sharedComponent.list': { names: 'scope', input: environment },
  'sharedComponent.getById': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await freshComponent(side, n, root),
    }),
  },
  'sharedComponent.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({
      environmentId,
      name: `made ${n}`,
      description: 'for all',
      componentType: 'blackhole',
      kind: 'SINK',
      config: {},
    }),
  },
  'sharedComponent.createFromNode': {
    names: 'object',
    input: async (side, n, root) => ({
      ...(await freshGraph(side, n, root)),
      environmentId: side.environmentId,
      name: `from a node ${n}`,
    }),
  },
  'sharedComponent.update': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await freshComponent(side, n, root),
      name: `renamed ${n}`,
      description: 'another',
      config: { format: 'syslog' },
    }),
  },
  'sharedComponent.delete': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await freshComponent(side, n, root),
    }),
  },
  'sharedComponent.acceptUpdate': { names: 'object', input: freshLink },
  'sharedComponent.acceptUpdateBulk': {
    names: 'object',
    input: async (side, n, root) => ({ pipelineId: (await freshLink(side, n, root)).pipelineId }),
  },
  'sharedComponent.unlink': { names: 'object', input: freshLink },
  'sharedComponent.linkExisting': {
    names: 'object',
    input: async (side, n, root) => ({
      ...(await freshGraph(side, n, root)),
      sharedComponentId: await freshComponent(side, n, root),
    }),
  },
  'validator.validate': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, yaml: CONFIG_YAML }),
  },
  'deploy.preview': { names: 'object', input: pipeline },
  'deploy.environmentInfo': { names: 'object', input: pipeline },
  'fleet.list': { names: 'scope', input: environment },
  'fleet.get': { names: 'object', input: ({ node }) => ({ id: node.nodeId }) },
  'fleet.nodeLogs': {
    names: 'object',
    input: ({ node, pipelineId }) => ({ nodeId: node.nodeId, pipelineId }),
  },
  'fleet.listWithPipelineStatus': { names: 'scope', input: environment },
  'fleet.setMaintenance': {
    names: 'object',
    input: ({ node }, n) => ({ nodeId: node.nodeId, enabled: n % 2 === 0 }),
  },
  'nodeGroup.list': { names: 'scope', input: environment },
  'nodeGroup.groupHealthStats': { names: 'scope', input: environment },
  'nodeGroup.nodesInGroup': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, groupId: '__ungrouped__' }),
  },
  'alert.listRules': { names: 'scope', input: environment },
  'alert.createRule': { names: 'scope', input: ruleOf },
  'alert.updateRule': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await fresh(root, 'alert.createRule', ruleOf(side, n)),
      name: `renamed ${n}`,
    }),
  },
  'alert.deleteRule': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'alert.createRule', ruleOf(side, n)) }),
  },
  'pipelineGroup.list': { names: 'scope', input: environment },
  'pipelineGroup.create': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...groupOf(side, n),
      parentId: await fresh(root, 'pipelineGroup.create', { ...groupOf(side, n), name: `parent ${n}` }),
    }),
  },
  'pipelineGroup.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await fresh(root, 'pipelineGroup.create', groupOf(side, n)),
      name: `renamed ${n}`,
    }),
  },
  'pipelineGroup.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'pipelineGroup.create', groupOf(side, n)) }),
  },
  'pipelineDependency.list': { names: 'object', input: pipeline },
  'pipelineDependency.listCandidates': {
    names: 'scope',
    input: ({ pipelineId, environmentId }) => ({ pipelineId, environmentId }),
  },
  'pipelineDependency.deployWarnings': { names: 'object', input: pipeline },
  'pipelineDependency.undeployWarnings': { names: 'object', input: pipeline },
  'pipelineDependency.graph': { names: 'scope', input: environment },
  'pipelineDependency.add': {
    names: 'object',
    input: async (side, n, root) => ({
      upstreamId: side.pipelineId,
      downstreamId: await freshDraft(side, n, root),
      description: 'reads what that one writes',
    }),
  },
  'pipelineDependency.remove': {
    names: 'object',
    input: async (side, n, root) => {
      const downstreamId = await freshDraft(side, n, root);
      return {
        id: await fresh(root, 'pipelineDependency.add', { upstreamId: side.pipelineId, downstreamId }),
      };
    },
  },
  'template.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'template.get': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'template.create', templateOf(side, n)) }),
  },
  'template.create': { names: 'scope', input: templateOf },
  'template.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'template.create', templateOf(side, n)) }),
  },
  'engine.catalogue': { names: 'own', input: () => NOTHING },
  'engine.componentSchema': { names: 'own', input: () => ({ kind: 'TRANSFORM', type: 'remap' }) },
  'vrl.test': { names: 'own', input: () => ({ source: '.a = 1', input: '{"message": "hello"}' }) },
  'vrlSnippet.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'vrlSnippet.create': { names: 'scope', input: snippetOf },
  'vrlSnippet.update': {
    names: 'object',
    input: async (side, n, root) => ({
      ...{ name: `renamed ${n}`, description: 'another', category: 'Other', code: '.b = 2' },
      id: await fresh(root, 'vrlSnippet.create', snippetOf(side, n)),
    }),
  },
  'vrlSnippet.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'vrlSnippet.create', snippetOf(side, n)) }),
  },
  'filterPreset.list': { names: 'scope', input: presetScope },
  'filterPreset.create': {
    names: 'scope',
    input: async (side, n, root) => {
      const { environmentId, id } = await freshPreset(side, n, root);
      await root.mutate('filterPreset.delete', { environmentId, id });
      return { ...presetOf(environmentId, n), isDefault: true };
    },
  },
  'filterPreset.update': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...(await freshPreset(side, n, root)),
      name: `renamed ${n}`,
      filters: { status: 'crashed' },
    }),
  },
  'filterPreset.delete': { names: 'scope', input: freshPreset },
  'filterPreset.setDefault': {
    names: 'scope',
    input: async (side, n, root) => ({ ...(await freshPreset(side, n, root)), scope: 'pipeline_list' }),
  },
  'filterPreset.clearDefault': { names: 'scope', input: presetScope },
  'userPreference.get': { names: 'own', input: () => NOTHING },
  'dashboard.stats': { names: 'scope', input: environment },
  'dashboard.pipelineCards': { names: 'scope', input: environment },
  'dashboard.recentPipelines': { names: 'own', input: () => NOTHING },
  'dashboard.recentAudit': { names: 'own', input: () => NOTHING },
  'dashboard.nodeCards': { names: 'own', input: () => NOTHING },
  'dashboard.operationalOverview': { names: 'own', input: () => NOTHING },
  'userPreference.set': { names: 'own', input: (_, n) => ({ key: 'columns', value: `some ${n}` }) },
  'userPreference.delete': { names: 'own', input: () => ({ key: 'columns' }) },
  'gitSync.status': { names: 'scope', input: environment },
  'gitSync.jobs': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, status: 'completed', limit: 3 }),
  },
  'gitSync.importErrors': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, limit: 50 }),
  },
  'gitSync.syncNow': { names: 'scope', input: environment },
  'gitSync.configure': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, mode: 'sync', path: 'ours', intervalSeconds: 60 }),
  },
};

const NAMES = [...PROCEDURE_KINDS.keys()].sort();
const UNKNOWN_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

const kindOf = (name: string): Kind => PROCEDURE_KINDS.get(name)!;

interface FieldSchema {
  type?: string;
  anyOf?: FieldSchema[];
}
const propertiesOf = (schema: TSchema) =>
  ('properties' in schema ? schema.properties : {}) as Record<string, FieldSchema>;
/** The forms that a field may have; none where it may have any. */
const typesOf = ({ type, anyOf }: FieldSchema): (string | undefined)[] =>
  anyOf ? anyOf.flatMap(typesOf) : [type];
const isId = (field: string) => /(^id|Id)$/.test(field);

describe('every procedure', () => {
  let test: TestController;
  let teams: TwoTeams;
  let n = 0;

  before(async function () {
    this.timeout(30_000);
    test = await startTestController({ execSecretCommands: [EXEC_SECRETS] });
    teams = await makeTwoTeams(test);
  });
  after(async () => {
    await teams?.git.remove();
    await test?.stop();
  });

  const inputOf = (name: string, side: Side, caller: Person = teams.root) =>
    Promise.resolve(ROWS[name]!.input(side, ++n, caller));
  /** What belongs to a person alone is made by that one; all else by root, who may make anything. */
  const ownerOf = (name: string, caller: Person) => (ROWS[name]!.names === 'own' ? caller : teams.root);
  /** The person with exactly the role that the operation asks for. */
  const leastOf = (name: string): Person =>
    ({ VIEWER: teams.viewer, EDITOR: teams.editor, ADMIN: teams.admin, SUPER_ADMIN: teams.root })[
      OPERATIONS.get(name)!.role
    ];

  it('has a row here, and an operation of its very name', () => {
    expect(Object.keys(ROWS).sort()).to.deep.equal(NAMES);
    for (const name of NAMES) {
      const operation = OPERATIONS.get(name);
      if (operation?.kind !== 'query') expect(operation?.kind, name).to.equal(kindOf(name));
    }
  });

  for (const name of NAMES) {
    describe(name, () => {
      it('answers 401 without a session, whatever the input', async () => {
        for (const input of [await inputOf(name, teams.ours), { nonsense: true }]) {
          const { status, answer } = await callProcedure(test.url, kindOf(name), name, input);
          expect(status).to.equal(401);
          const body = answer.json<{ error: { json: { data: { requestId: string } } } }>();
          const { requestId } = body.error.json.data;
          expect(requestId).to.equal(answer.headers['x-request-id']);
          expect(body).to.deep.equal({
            error: {
              json: {
                message: 'Sign in first',
                code: -32_001,
                data: { code: 'UNAUTHORIZED', httpStatus: 401, requestId },
              },
            },
          });
        }
      });

      it('refuses input of the wrong form with 400 and names the field', async () => {
        const good = await inputOf(name, teams.ours);
        const full: Record<string, unknown> = good === NOTHING ? {} : { ...(good as object) };
        const { input: schema } = OPERATIONS.get(name)!;
        const required = new Set('required' in schema ? (schema.required as string[]) : []);
        const bad: { field: string; input: unknown }[] = [
          { field: 'surprise', input: { ...full, surprise: 1 } },
          { field: 'input', input: 'text' },
          { field: 'input', input: [full] },
        ];
        for (const [field, property] of Object.entries(propertiesOf(schema))) {
          const types = typesOf(property);
          if (required.has(field)) {
            const { [field]: _, ...rest } = full;
            bad.push({ field, input: rest });
          }
          if (types.includes(undefined)) continue;
          bad.push({ field, input: { ...full, [field]: types.includes('object') ? 'text' : { $ne: null } } });
          if (!types.includes('null')) bad.push({ field, input: { ...full, [field]: null } });
          if (types.includes('object') && types.length === 1)
            bad.push({ field, input: { ...full, [field]: { text: 'nul\0byte' } } });
          if (types.includes('string')) {
            const long = kindOf(name) === 'query' ? 5_000 : 1_200_000;
            bad.push({ field, input: { ...full, [field]: 7 } });
            bad.push({ field, input: { ...full, [field]: 'x'.repeat(long) } });
            bad.push({ field, input: { ...full, [field]: 'nul\0byte' } });
            bad.push({ field, input: { ...full, [field]: 'half a \ud800 pair' } });
          }
        }
        for (const { field, input } of bad) {
          const { status, fault } = await leastOf(name).call(kindOf(name), name, input);
          const told = `${field}: ${JSON.stringify(input).slice(0, 80)} → ${fault?.message}`;
          expect(status, told).to.equal(400);
          expect(fault?.data.code, told).to.equal('BAD_REQUEST');
          expect(fault?.code, told).to.equal(-32_600);
          expect(fault?.message, told).to.include(field);
          expect(fault?.message.length, told).to.be.below(1_000);
        }
      });

      it('works for the least role, in the form that its schema promises', async () => {
        const caller = leastOf(name);
        const { status, output, meta, fault, answer } = await caller.call(
          kindOf(name),
          name,
          await inputOf(name, teams.ours, ownerOf(name, caller)),
        );
        expect(fault).to.equal(null);
        expect(status).to.equal(200);
        const { output: schema } = OPERATIONS.get(name)!;
        expect(validator(schema).issues(output)).to.deep.equal([]);
        expect(unknownFields(schema, output), 'fields that the schema does not name').to.deep.equal([]);
        for (const path of datePaths(output)) {
          expect(meta?.values?.[path], `${path} is annotated as a date`).to.deep.equal(['Date']);
        }
        expect(answer.headers['cache-control']).to.equal('no-store');
        expect(answer.text).not.to.include(SECRET_VALUE);
      });

      it('refuses who has less than its role, or no part in the team', async () => {
        const { role } = OPERATIONS.get(name)!;
        const below = {
          VIEWER: [],
          EDITOR: [teams.viewer],
          ADMIN: [teams.viewer, teams.editor],
          SUPER_ADMIN: [teams.viewer, teams.editor, teams.admin],
        }[role];
        for (const person of below) {
          const { status, fault } = await person.call(kindOf(name), name, await inputOf(name, teams.ours));
          expect(status, person.email).to.equal(403);
          expect(fault?.data.code).to.equal('FORBIDDEN');
          expect(fault?.message).to.include(role);
        }
        const { names } = ROWS[name]!;
        if (names === 'own') return;
        const input = await inputOf(name, teams.theirs);
        for (const person of [leastOf(name), teams.admin]) {
          if (person === teams.root) continue;
          const { status, fault } = await person.call(kindOf(name), name, input);
          expect(status, `${names} of another team`).to.equal(names === 'scope' ? 403 : 404);
          expect(fault?.data.code).to.equal(names === 'scope' ? 'FORBIDDEN' : 'NOT_FOUND');
        }
      });

      it('refuses each id of another team beside those of one’s own', async () => {
        const [input, foreign] = [
          await inputOf(name, teams.ours),
          (await inputOf(name, teams.theirs)) as Record<string, unknown>,
        ];
        if (input === NOTHING) return;
        for (const field of Object.keys(input).filter(isId)) {
          if (foreign[field] === (input as Record<string, unknown>)[field]) continue;
          const mixed = { ...(input as object), [field]: foreign[field] };
          const { status, fault } = await teams.admin.call(kindOf(name), name, mixed);
          expect(status, `${field}: ${fault?.message}`).to.be.oneOf([403, 404]);
        }
      });

      it('answers 404 to an id that does not exist', async () => {
        const input = await inputOf(name, teams.ours);
        if (input === NOTHING) return;
        for (const field of Object.keys(input)) {
          if (!isId(field)) continue;
          const { status, fault } = await leastOf(name).call(kindOf(name), name, {
            ...input,
            [field]: UNKNOWN_ID,
          });
          expect(status, field).to.equal(404);
          expect(fault?.data.code).to.equal('NOT_FOUND');
        }
      });
    });
  }

  /** Each makes one thing of a name, or of a pair, that nobody else may have. */
  const MAKING = [
    ...[
      'alert.createRule',
      'environment.create',
      'filterPreset.create',
      'pipeline.create',
      'pipelineDependency.add',
    ],
    ...[
      'pipelineGroup.create',
      'secret.create',
      'serviceAccount.create',
      'sharedComponent.create',
      'team.create',
    ],
    ...['template.create', 'vrlSnippet.create'],
  ];

  for (const name of NAMES.filter((one) => kindOf(one) === 'mutation')) {
    it(`answers ten of ${name} at once without a fault of the server`, async () => {
      const input = await inputOf(name, teams.ours);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => teams.root.call(kindOf(name), name, input)),
      );
      for (const { status, fault } of answers)
        expect(status, fault?.message).to.be.oneOf([200, 400, 404, 409, 412, 429]);
      const statuses = answers.map(({ status }) => status).sort();
      if (MAKING.includes(name)) expect(statuses).to.deep.equal([200, ...Array(9).fill(409)]);
    });
  }

  it('takes no input as absent, null or {}', async () => {
    for (const name of NAMES.filter(
      (one) => Object.keys(propertiesOf(OPERATIONS.get(one)!.input)).length === 0,
    )) {
      for (const input of [NOTHING, null, {}]) {
        const { status, fault } = await teams.viewer.call(kindOf(name), name, input);
        expect(status, `${name} ${String(input)}: ${fault?.message}`).to.equal(200);
      }
    }
  });

  it('does not tell another team’s object from one that does not exist', async () => {
    for (const name of NAMES.filter((one) => ROWS[one]!.names === 'object')) {
      const theirs = (await inputOf(name, teams.theirs)) as Record<string, string>;
      const ids = Object.keys(theirs).filter(isId);
      const none = { ...theirs, ...Object.fromEntries(ids.map((field) => [field, UNKNOWN_ID])) };
      const [foreign, unknown] = [
        await teams.viewer.call(kindOf(name), name, theirs),
        await teams.viewer.call(kindOf(name), name, none),
      ];
      expect(foreign.fault?.message, name).to.equal(unknown.fault?.message);
    }
  });

  it('does not find the secret of another environment under one’s own', async () => {
    for (const name of ['secret.update', 'secret.delete']) {
      const { status } = await teams.editor.call('mutation', name, {
        environmentId: teams.ours.environmentId,
        id: teams.theirs.secretId,
        ...(name === 'secret.update' ? { value: 'taken over' } : {}),
      });
      expect(status, name).to.equal(404);
    }
  });

  it('can tell of what manifests and nodes named like members of every object', async () => {
    const { environmentId, node } = teams.ours;
    const odd = { constructor: 'x', prototype: 'y' };
    await node.heartbeat(heartbeat({ labels: odd, hostMetrics: { constructor: 1 } }));
    const text = `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: odd, labels: ${JSON.stringify(odd)} }
spec:
  nodeSelector: ${JSON.stringify(odd)}
  sources: { constructor: { type: demo_logs, format: shuffle, lines: [x], prototype: { constructor: 1 } } }
  sinks: { out: { type: blackhole, inputs: [constructor] } }
`;
    await teams.git.commit({ 'ours/odd.yaml': text });
    const { stderr } = await teams.git.push();
    const list = () => teams.viewer.query<{ id: string; name: string }[]>('pipeline.list', { environmentId });
    await until(async () => (await list()).some((one) => one.name === 'odd'), {
      what: `it to be applied: ${stderr}`,
    });
    const id = (await list()).find((one) => one.name === 'odd')?.id ?? '';
    for (const [name, input] of [
      ['pipeline.get', { id }],
      ['deploy.preview', { pipelineId: id }],
      ['fleet.list', { environmentId }],
      ['fleet.get', { id: node.nodeId }],
    ] as const) {
      const { status, fault } = await teams.viewer.call('query', name, input);
      expect(status, `${name}: ${fault?.message}`).to.equal(200);
    }
  });

  it('leaves an audit row for every mutation that worked, without any secret value', async () => {
    for (const name of NAMES.filter((one) => OPERATIONS.get(one)?.kind === 'mutation')) {
      const operation = OPERATIONS.get(name)!;
      const action = operation.kind === 'mutation' ? operation.audit : '';
      const count = async () => (await test.db('audit_log').where({ action })).length;
      const caller = leastOf(name);
      const input = await inputOf(name, teams.ours, ownerOf(name, caller));
      const before = await count();
      const { status } = await caller.call('mutation', name, input);
      expect(status, name).to.equal(200);
      expect(await count(), name).to.equal(before + 1);
      const row = await test.db('audit_log').where({ action }).orderBy('created_at', 'desc').first();
      expect(row, name).to.include({ actor_type: 'user', user_email: caller.email, ip_address: '127.0.0.1' });
      expect(row.entity_id, `${name} names what it changed`).to.be.a('string');
      expect(row.entity_type, name).to.match(/^[A-Z]/);
    }
    const all = JSON.stringify(await test.db('audit_log'));
    expect(all).not.to.include(SECRET_VALUE);
    expect(all).not.to.match(/(hg[neps]|svc)_[0-9a-z]{26}_/);
  });

  it('writes no secret value and no token to its log', () => {
    expect(test.log()).not.to.include(SECRET_VALUE);
    expect(test.log()).not.to.match(/(hg[neps]|svc)_[0-9a-z]{26}_[0-9a-f]/);
  });
});

/** superjson's paths of what are moments: by the names of their fields. */
function datePaths(value: unknown, path: string[] = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => datePaths(item, [...path, String(index)]));
  if (typeof value !== 'object' || value === null) {
    const isMoment = /(^at|At|^lastTransition)$/.test(path.at(-1) ?? '') && typeof value === 'string';
    return isMoment ? [path.map((segment) => segment.replaceAll('.', '\\.')).join('.')] : [];
  }
  return Object.entries(value).flatMap(([key, item]) => datePaths(item, [...path, key]));
}
