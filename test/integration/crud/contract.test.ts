/**
 * What all kinds of objects that users create have in common, one row of `test/support/crud/rows.ts` a kind: what is wrong
 * input, a name of its own, limits, partial updates, deletion and the audit log. Who may call what, and ids of other teams,
 * are asked of every procedure in `test/integration/api/procedures/`.
 */
import { expect } from 'chai';
import { CRUD } from '../../support/crud/rows.ts';
import { useRoot } from '../../support/harness/controller.ts';
import { AT_ONCE, oneOf, statusesAtOnce, useFewConnections } from '../../support/harness/few-connections.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

/** Whether an update has all of these fields. */
const takes = (update: string, fields: object) => {
  const { properties } = OPERATIONS.get(update)!.input as unknown as { properties: object };
  return Object.entries(fields).every(([field, value]) => value !== undefined && field in properties);
};

type Listed = Record<string, unknown> & { id: string; name: string };

describe('the contract of all objects', () => {
  const test = useFewConnections();
  const root = useRoot(test);
  const places = useTestEnvironments(test);
  let made = 0;

  for (const row of CRUD) {
    describe(`for ${row.objects}`, () => {
      const { change, limit } = row;
      const here = () => ({ teamId: places.teamId, environmentId: places.environmentId });
      /** Where a name that is taken here is free. */
      const elsewhere = () => [
        { teamId: places.otherTeamId, environmentId: places.foreignId },
        ...(row.scope === 'team' ? [] : [{ teamId: places.teamId, environmentId: places.siblingId }]),
      ];
      const input = (fields: object = {}, place = here()) => ({
        ...row.at(place),
        ...{ name: `object ${++made}`, ...row.input, ...fields },
      });
      const create = (fields?: object) => root.mutate<Listed>(row.create, input(fields));
      const tryCreate = (fields?: object, place = here()) =>
        refusal(root, 'mutation', row.create, input(fields, place));
      const of = (id: string, fields: object = {}) => ({ id, ...row.beside?.(here()), ...fields });
      const list = async () => {
        const { name: _, ...at } = { name: '', ...row.at(here()) };
        const { teamId: __, ...lists } = at as { teamId?: string };
        return root.query<Listed[]>(row.list, row.scope === 'team' ? at : lists);
      };
      const listed = async (id: string) => (await list()).find((one) => one.id === id);
      const remove = (id: string) => refusal(root, 'mutation', row.remove, of(id));

      for (const { reason, fields, says } of row.wrong)
        it(`refuses ${reason}`, async () => {
          expect(await tryCreate(fields))
            .to.match(/^BAD_REQUEST: /)
            .and.match(says);
          if (!row.update || !takes(row.update, fields)) return;
          const { id } = await create();
          expect(await refusal(root, 'mutation', row.update, of(id, fields)), 'an update')
            .to.match(/^BAD_REQUEST: /)
            .and.match(says);
        });

      it('takes the largest of everything, and shows it', async () => {
        const { id } = await create(row.largest);
        const shown: Record<string, unknown> = (await listed(id)) ?? {};
        expect(shown).to.include({ name: 'x'.repeat(100) });
        for (const [field, value] of Object.entries(row.largest ?? {}))
          if (field in shown)
            if (Array.isArray(value)) expect(shown[field], field).to.have.members(value);
            else expect(shown[field], field).to.equal(value);
        for (const name of row.names ?? []) expect(await tryCreate({ name }), name).to.equal('OK');
      });

      it('takes a name once, whatever its case, and again elsewhere', async () => {
        const { id } = await create({ name: 'Twice' });
        for (const name of ['Twice', 'tWICE', ...(row.keepsSpaces ? [] : [' twice '])])
          expect(await tryCreate({ name }), name)
            .to.match(/^CONFLICT: .* exists already /)
            .and.match(row.advice)
            .and.include(`"${row.keepsSpaces ? name : name.trim()}"`);
        for (const place of elsewhere()) expect(await tryCreate({ name: 'Twice' }, place)).to.equal('OK');
        expect(await remove(id)).to.equal('OK');
        expect(await tryCreate({ name: 'twice' }), 'once the first is deleted').to.equal('OK');
      });

      it('creates one of several that come at once with one name', async () => {
        const statuses = await statusesAtOnce((n) =>
          root.call('mutation', row.create, input({ name: n % 2 ? 'race' : 'RACE' })),
        );
        expect(statuses).to.deep.equal(oneOf(409));
        expect((await list()).filter(({ name }) => name.toLowerCase() === 'race')).to.have.length(1);
      });

      it('deletes for good: nothing is left in the list, and a second time it is not found', async () => {
        const { id } = await create();
        expect(await listed(id)).to.include({ id });
        expect(await remove(id)).to.equal('OK');
        expect(await listed(id)).to.equal(undefined);
        expect(await remove(id)).to.match(/^NOT_FOUND: /);
        if (row.update)
          expect(await refusal(root, 'mutation', row.update, of(id, { name: 'gone' }))).to.match(
            /^NOT_FOUND: /,
          );
      });

      it('is deleted once where several ask for it at once', async () => {
        const { id } = await create();
        const statuses = await statusesAtOnce(() => root.call('mutation', row.remove, of(id)));
        expect(statuses).to.deep.equal(oneOf(404));
      });

      it('leaves names in the audit log, and the place', async () => {
        const { id } = await create({ name: 'audited' });
        if (row.update && change)
          await root.mutate(row.update, of(id, { name: 'audited again', [change.field]: change.to }));
        await root.mutate(row.remove, of(id));
        const rows = await test.db('audit_log').where({ entity_id: id }).orderBy('id');
        const actions = [
          [`${row.audit}.created`, 'audited'],
          ...(row.update ? [[`${row.audit}.updated`, 'audited again']] : []),
          [`${row.audit}.deleted`, row.update ? 'audited again' : 'audited'],
        ];
        expect(rows.map(({ action, metadata }) => [action, metadata.name])).to.deep.equal(actions);
        for (const one of rows) expect(one.team_id).to.equal(places.teamId);
        if (row.scope === 'environment')
          for (const one of rows) expect(one.environment_id).to.equal(places.environmentId);
        if (row.update && change)
          expect(rows[1].diff).to.deep.equal({
            name: ['audited', 'audited again'],
            ...(change.audited === false ? {} : { [change.field]: [change.from, change.to] }),
          });
        if (row.updatedMetadata) expect(rows[1].metadata).to.include(row.updatedMetadata);
        if (row.unaudited) expect(JSON.stringify(rows)).not.to.include(row.unaudited);
      });

      if (limit)
        it(`holds ${limit.count} in one ${row.scope}, also where several come at once for the last`, async () => {
          const place = await testEnvironment(root, `full of ${row.objects}`);
          const scope = row.scope === 'team' ? place.teamId : place.environmentId;
          await test.db.raw(limit.fill, [scope, limit.count - 1]);
          const another = () => root.call<Listed>('mutation', row.create, input({}, place));
          expect(await statusesAtOnce(another)).to.deep.equal(oneOf(412));
          expect(await tryCreate({}, place))
            .to.match(/^PRECONDITION_FAILED: /)
            .and.match(limit.says);
          await root.mutate(row.remove, { id: 'filler-1', ...row.beside?.(place) });
          expect(await tryCreate({}, place), 'once one is deleted').to.equal('OK');
        });

      const { update } = row;
      if (!update) return;
      const tryUpdate = (id: string, fields: object) => refusal(root, 'mutation', update, of(id, fields));

      for (const { reason, fields, says } of row.wrongUpdates ?? [])
        it(`refuses an update with ${reason}`, async () => {
          expect(await tryUpdate((await create()).id, fields))
            .to.match(/^BAD_REQUEST: /)
            .and.match(says);
        });

      it('updates in part: what is not named stays', async () => {
        const { id } = await create();
        const show = async () => {
          const one = row.get ? await root.query<Listed>(row.get, { id }) : await listed(id);
          // What was evaluated meanwhile is no field of the rule's own.
          return { ...one, updatedAt: null, evaluation: null };
        };
        const updatedAt = async () => Date.parse(String((await listed(id))?.updatedAt));
        const before = await show();
        const since = await updatedAt();
        expect(await tryUpdate(id, { name: 'renamed' })).to.equal('OK');
        expect(await show()).to.deep.equal({ ...before, name: 'renamed' });
        expect(await tryUpdate(id, {}), 'nothing').to.equal('OK');
        expect(await show()).to.deep.equal({ ...before, name: 'renamed' });
        if (!Number.isNaN(since)) expect(await updatedAt()).to.be.greaterThan(since);
        if (!change) return;
        expect(await tryUpdate(id, { [change.field]: change.to })).to.equal('OK');
        expect(await show()).to.deep.equal({ ...before, name: 'renamed', [change.field]: change.to });
      });

      it('takes no name that another has, and its own in another case', async () => {
        const { name } = await create();
        const { id, name: own } = await create();
        expect(await tryUpdate(id, { name: name.toUpperCase() }))
          .to.match(/^CONFLICT: .* exists already /)
          .and.match(row.advice);
        expect(await tryUpdate(id, { name: own.toUpperCase() })).to.equal('OK');
      });

      it('gives a name to one of several that ask for it at once', async () => {
        if (limit && limit.count < 100) for (const { id } of await list()) await remove(id);
        const ids: string[] = [];
        for (let n = 0; n < AT_ONCE; n += 1) ids.push((await create()).id);
        const statuses = await statusesAtOnce((n) =>
          root.call('mutation', update, of(ids[n] ?? '', { name: 'wanted by all' })),
        );
        expect(statuses).to.deep.equal(oneOf(409));
      });
    });
  }
});
