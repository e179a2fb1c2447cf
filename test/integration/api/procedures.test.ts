/**
 * Every procedure of the router through its door, by one table: who may, what is refused, and that the answer has the form
 * that its operation promises. A procedure without a row fails.
 */
import { expect } from 'chai';
import type { TSchema } from 'typebox';
import { validator } from '../../../schemas/validate.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { OPERATIONS, unknownFields } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';
import { EXEC_SECRETS } from '../../support/procedures/rows/environments.ts';
import { ROWS } from '../../support/procedures/rows/index.ts';
import { makeTwoTeams, SECRET_VALUE, type Side, type TwoTeams } from '../../support/scenes/two-teams.ts';
import { callProcedure, type Kind, NOTHING, type TestUser } from '../../support/users/person.ts';

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
/** `clientId` is what an identity provider calls us. */
const isId = (field: string) => /(^id|Id)$/.test(field) && field !== 'clientId';

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

  const inputOf = (name: string, side: Side, caller: TestUser = teams.root) =>
    Promise.resolve(ROWS[name]!.input(side, ++n, caller));
  /** What belongs to a person alone is made by that one; all else by root, who may make anything. */
  const ownerOf = (name: string, caller: TestUser) => (ROWS[name]!.names === 'own' ? caller : teams.root);
  /** The person with exactly the role that the operation asks for. */
  const leastOf = (name: string): TestUser =>
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
      'fleet.create',
      'nodeGroup.create',
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
        Array.from({ length: 10 }, () => teams.root.call<Record<string, unknown>>(kindOf(name), name, input)),
      );
      for (const { output } of answers)
        if (output !== null) await ROWS[name]!.undo?.(teams.ours, output, teams.root);
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
        // What has to be there before it works.
        await inputOf(name, teams.ours, ownerOf(name, leastOf(name)));
        const { status, fault } = await leastOf(name).call(kindOf(name), name, input);
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

  it('leaves an audit row for every mutation that worked, without any secret value', async function () {
    // Some 200 mutations, one after the other.
    this.timeout(60_000);
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
