/** The cases of every procedure: who may, what is refused, and that the answer has the form that its operation promises. */
import { expect } from 'chai';
import type { TSchema } from 'typebox';
import { checkInput } from '../../../controller/platform/operation/check-input.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { validator } from '../../../schemas/validate.ts';
import { CRUD } from '../crud/rows.ts';
import type { TestController } from '../harness/controller.ts';
import { AT_ONCE, oneOf, startWithFewConnections } from '../harness/few-connections.ts';
import { until } from '../harness/until.ts';
import { use } from '../harness/use.ts';
import { makeTwoTeams, SECRET_VALUE, type Side, type TwoTeams } from '../scenes/two-teams.ts';
import { callProcedure, type Kind, NOTHING, type TestUser } from '../users/person.ts';
import { changing, type Done, eventCount, eventsSince, expectEvents } from './audit-events.ts';
import { OPERATIONS, unknownFields } from './operations.ts';
import { PROCEDURE_KINDS } from './procedures.ts';
import { EXEC_SECRETS } from './rows/environments.ts';
import type { Rows } from './rows/row.ts';
import { propertiesOf, wrongInputs } from './wrong-inputs.ts';

const UNKNOWN_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** `clientId` is what an identity provider calls us, `accessKeyId` what a store of objects does, `blockId` is a place in a text. */
const isId = (field: string) => /(^id|Id)$/.test(field) && !/^(client|accessKey|block)Id$/.test(field);

const withUnknownIds = (input: object) =>
  Object.fromEntries(Object.entries(input).map(([key, value]) => [key, isId(key) ? UNKNOWN_ID : value]));

/** What the contract of all objects races in the same way. */
const RACED = new Set(CRUD.flatMap(({ create, remove, update }) => [create, remove, update]));
/** Each makes one thing of a name, or of a pair, that nobody else may have. */
const MAKING = ['fleet.create', 'pipelineDependency.add', 'secret.create', 'team.create'];

export interface ProcedureScene {
  test: TestController;
  teams: TwoTeams;
}

/** A controller with few connections for requests, which lets editors set a program as a store of secrets, and two teams. */
export const useProcedureScene = (): ProcedureScene =>
  use(
    async () => {
      const test = await startWithFewConnections({ execSecretCommands: [EXEC_SECRETS] });
      try {
        return { test, teams: await makeTwoTeams(test) };
      } catch (error) {
        await test.stop();
        throw error;
      }
    },
    async ({ test, teams }) => {
      await teams.git.remove();
      await test.stop();
    },
  );

/** Registers the cases of all rows, and what must hold when all of them have run. */
export function describeProcedures(scene: ProcedureScene, rows: Rows): void {
  for (const name of Object.keys(rows).sort()) describeProcedure(scene, rows, name);

  describe('all of them together', () => {
    it('answer 401 before they look at the input', async () => {
      const [name] = Object.keys(rows);
      const wrong = { nonsense: true };
      const { status } = await callProcedure(scene.test.url, PROCEDURE_KINDS.get(name!)!, name!, wrong);
      expect(status).to.equal(401);
    });

    it('leave no secret value and no token in the audit log', async () => {
      const all = JSON.stringify(await scene.test.db('audit_log'));
      expect(all).not.to.include(SECRET_VALUE);
      expect(all).not.to.match(/(hg[neps]|svc)_[0-9a-z]{26}_/);
    });

    it('are numbered in the audit log without a gap', async () => {
      const { db } = scene.test;
      const unnumbered = async () => (await db('audit_log').whereNull('seq')).length;
      await until(async () => (await unnumbered()) === 0, { what: 'numbers' });
      const seqs: number[] = await db('audit_log').orderBy('seq').pluck('seq');
      expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1));
    });

    it('leave no secret value and no token in the log', () => {
      expect(scene.test.log()).not.to.include(SECRET_VALUE);
      expect(scene.test.log()).not.to.match(/(hg[neps]|svc)_[0-9a-z]{26}_[0-9a-f]/);
    });
  });
}

let made = 0;

function describeProcedure(scene: ProcedureScene, rows: Rows, name: string): void {
  const row = rows[name]!;
  const kind: Kind = PROCEDURE_KINDS.get(name)!;
  const operation = OPERATIONS.get(name)!;
  const isMutation = operation.kind === 'mutation';

  const freshInput = (side: Side, caller: TestUser = scene.teams.root) =>
    Promise.resolve(row.input(side, ++made, caller));
  /** The person with exactly the role that the operation asks for. */
  const least = (): TestUser => {
    const { viewer, editor, admin, root } = scene.teams;
    return { VIEWER: viewer, EDITOR: editor, ADMIN: admin, SUPER_ADMIN: root }[operation.role];
  };
  const call = (person: TestUser, input: unknown) => person.call<Record<string, unknown>>(kind, name, input);

  describe(name, () => {
    // What is refused changes nothing: all those cases are given the same.
    let input: Awaited<ReturnType<typeof freshInput>>;
    let foreign: typeof input;
    let eventsBefore = 0;
    before(async () => {
      foreign = await freshInput(scene.teams.theirs);
      input = await freshInput(scene.teams.ours);
      eventsBefore = await eventCount(scene.test.db);
    });

    it('answers 401 without a session', async () => {
      const { status, answer } = await callProcedure(scene.test.url, kind, name, input);
      expect(status).to.equal(401);
      const body = answer.json<{ error: { json: { data: { requestId: string } } } }>();
      const { requestId } = body.error.json.data;
      expect(requestId).to.equal(answer.headers['x-request-id']);
      const data = { code: 'UNAUTHORIZED', httpStatus: 401, requestId };
      expect(body).to.deep.equal({ error: { json: { message: 'Sign in first', code: -32_001, data } } });
    });

    it('refuses input of the wrong form with 400 and names each field', async () => {
      const good = input === NOTHING ? {} : { ...input };
      for (const [index, wrong] of wrongInputs(kind, operation.input, good).entries()) {
        const { fields, isUnstorable } = wrong;
        // Each call begins with this check: a request shows that, and what the operation itself has to find.
        const checked = index === 0 ? null : refusalOfInput(operation, wrong.input);
        const { status, fault } = checked ?? (await call(least(), wrong.input));
        if (fault && 'code' in fault) expect(fault.code).to.equal(-32_600);
        const told = `${fields}: ${JSON.stringify(wrong.input).slice(0, 80)} → ${fault?.message}`;
        expect(status, told).to.equal(400);
        expect(fault?.data.code, told).to.equal('BAD_REQUEST');
        expect(fault?.message.length, told).to.be.below(1_000);
        // What the operation itself finds wrong is in the message alone.
        const issues = isUnstorable ? undefined : fault?.data.issues;
        if (issues) expect(fieldsIn(issues), told).to.include.members(fields);
        else for (const field of fields) expect(fault?.message, told).to.include(field);
      }
    });

    it('refuses who has less than its role, or no part in the team', async () => {
      const { viewer, editor, admin, root } = scene.teams;
      const below = {
        VIEWER: [],
        EDITOR: [viewer],
        ADMIN: [viewer, editor],
        SUPER_ADMIN: [viewer, editor, admin],
      }[operation.role];
      for (const person of below) {
        const { status, fault } = await call(person, input);
        expect(status, person.email).to.equal(403);
        expect(fault?.data.code).to.equal('FORBIDDEN');
        expect(fault?.message).to.include(operation.role);
      }
      if (row.names === 'own') return;
      for (const person of new Set([least(), admin])) {
        if (person === root) continue;
        const { status, fault } = await call(person, foreign);
        expect(status, `${row.names} of another team`).to.equal(row.names === 'scope' ? 403 : 404);
        expect(fault?.data.code).to.equal(row.names === 'scope' ? 'FORBIDDEN' : 'NOT_FOUND');
      }
    });

    it('refuses each id of another team beside those of one’s own', async () => {
      if (input === NOTHING || foreign === NOTHING) return;
      const [ours, theirs]: Record<string, unknown>[] = [{ ...input }, { ...foreign }];
      for (const field of Object.keys(ours!).filter(isId)) {
        if (theirs![field] === ours![field]) continue;
        const { status, fault } = await call(scene.teams.admin, { ...ours, [field]: theirs![field] });
        expect(status, `${field}: ${fault?.message}`).to.be.oneOf([403, 404]);
      }
    });

    it('answers 404 to an id that does not exist', async () => {
      if (input === NOTHING) return;
      for (const field of Object.keys(input).filter(isId)) {
        const { status, fault } = await call(least(), { ...input, [field]: UNKNOWN_ID });
        expect(status, field).to.equal(404);
        expect(fault?.data.code).to.equal('NOT_FOUND');
      }
    });

    if (row.names === 'object')
      it('does not tell another team’s object from one that does not exist', async () => {
        const theirs = await call(scene.teams.viewer, foreign);
        const unknown = await call(scene.teams.viewer, withUnknownIds(foreign as object));
        expect(theirs.fault?.message).to.equal(unknown.fault?.message);
      });

    if (isMutation)
      it('leaves no event of what was refused', async () => {
        expect(await eventsSince(scene.test.db, eventsBefore)).to.deep.equal([]);
      });

    let done: Done | undefined;
    it('works for the least role, in the form that its schema promises', async () => {
      const caller = least();
      const { ours, root } = scene.teams;
      // What belongs to a person alone is made by that one; all else by root, who may make anything.
      const owner = row.names === 'own' ? caller : root;
      const takesNothing = Object.keys(propertiesOf(operation.input)).length === 0;
      // Absent, null and {} are the same.
      for (const nothing of takesNothing ? [NOTHING, null, {}] : [null]) {
        // What has to be there before it works: what was refused has changed nothing of that.
        const isFirst = owner === root && (nothing === NOTHING || !takesNothing);
        const made = isFirst ? input : await freshInput(ours, owner);
        const fresh = await changing(name, ours, made);
        const given = takesNothing ? nothing : fresh;
        const { db } = scene.test;
        const before = isMutation ? await eventCount(db) : 0;
        const response = await call(caller, given);
        if (isMutation) done = { caller, input: given, events: await eventsSince(db, before) };
        expectPromised(response);
        if (response.output) await row.undo?.(ours, response.output, root);
      }
    });

    if (isMutation)
      it('leaves one event for each thing that it changed', () => {
        expect(done, 'it has worked').not.to.equal(undefined);
        expectEvents(name, row, scene.teams.ours, done!);
      });

    function expectPromised({ status, output, meta, fault, answer }: Awaited<ReturnType<typeof call>>): void {
      expect(fault, fault?.message).to.equal(null);
      expect(status).to.equal(200);
      expect(validator(operation.output).issues(output)).to.deep.equal([]);
      expect(unknownFields(operation.output, output), 'fields that the schema does not name').to.deep.equal(
        [],
      );
      for (const path of datePaths(output))
        expect(meta?.values?.[path], `${path} is annotated as a date`).to.deep.equal(['Date']);
      expect(answer.headers['cache-control']).to.equal('no-store');
      expect(answer.text).not.to.include(SECRET_VALUE);
    }

    if (kind === 'mutation' && !RACED.has(name))
      it('answers several at once without a fault of the server, also where they take all connections', async () => {
        const { root, ours } = scene.teams;
        const same = await freshInput(ours);
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => call(root, same)));
        for (const { output } of answers) if (output !== null) await row.undo?.(ours, output, root);
        for (const { status, fault } of answers)
          expect(status, fault?.message).to.be.oneOf([200, 400, 404, 409, 412, 429]);
        const statuses = answers.map(({ status }) => status).sort();
        if (MAKING.includes(name)) expect(statuses).to.deep.equal(oneOf(409));
      });
  });
}

/** As a call is refused whose input has the wrong form; null where that is for the operation to find. */
function refusalOfInput(operation: { input: TSchema }, input: unknown) {
  try {
    // As it comes from a request.
    checkInput(operation, input === undefined ? undefined : JSON.parse(JSON.stringify(input)));
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { status, message, code, details } = error;
    return { status, fault: { message, data: { code, issues: details?.issues } } };
  }
}

/** Of the input, `''` for itself, that the issues of a refusal are about. */
const fieldsIn = (issues: unknown): string[] =>
  (issues as { path: string }[]).map(({ path }) => path.split('/')[1] ?? '');

/** superjson's paths of what are moments: by the names of their fields. */
function datePaths(value: unknown, path: string[] = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => datePaths(item, [...path, String(index)]));
  if (typeof value !== 'object' || value === null) {
    const isMoment = /(^at|At|^lastTransition)$/.test(path.at(-1) ?? '') && typeof value === 'string';
    return isMoment ? [path.map((segment) => segment.replaceAll('.', '\\.')).join('.')] : [];
  }
  return Object.entries(value).flatMap(([key, item]) => datePaths(item, [...path, key]));
}
