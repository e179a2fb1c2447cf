/** VRL snippets: what a team keeps, under names of their own. */
import { expect } from 'chai';
import type { Snippet } from '../../../schemas/api/snippets.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import {
  makeTestEnvironments,
  ONE_OF_TEN,
  refusal,
  type TestEnvironments,
  tenAtOnce,
} from '../../support/scenes/places.ts';

describe('VRL snippets', () => {
  let test: TestController;
  let places: TestEnvironments;
  let made = 0;

  before(async () => {
    test = await startTestController();
    places = await makeTestEnvironments(test);
  });
  after(() => test?.stop());

  const input = (more: object = {}) => ({
    ...{ teamId: places.teamId, name: `snippet ${++made}`, category: 'Parsing', code: '.a = 1' },
    ...more,
  });
  const create = (more?: object) => places.editor.mutate<Snippet>('vrlSnippet.create', input(more));
  const list = (teamId = places.teamId) => places.both.query<Snippet[]>('vrlSnippet.list', { teamId });

  it('are listed with their code, by category and name, to the team alone', async () => {
    const parse = await create({ name: 'zebra', category: 'A first', description: 'of stripes' });
    const redact = await create({ name: 'Apple', category: 'a first' });
    const mine = (await list()).filter(({ id }) => [parse.id, redact.id].includes(id));
    expect(mine).to.deep.equal([redact, parse]);
    expect(parse).to.include({ code: '.a = 1', description: 'of stripes', createdByName: 'editor' });
    expect(redact.description).to.equal(null);
    expect(await list(places.otherTeamId)).to.deep.equal([]);
  });

  it('lose white space at the ends of name and category, and nothing of the code', async () => {
    const made = await create({ name: '  trimmed ', category: ' Some ', code: '  .a = 1\n' });
    expect(made).to.include({ name: 'trimmed', category: 'Some', code: '  .a = 1\n' });
  });

  it('take a name once in a team, whatever its case, and again in another team', async () => {
    await create({ name: 'Twice' });
    for (const name of ['Twice', 'tWICE', ' twice ']) {
      const refused = await refusal(places.editor, 'mutation', 'vrlSnippet.create', input({ name }));
      expect(refused).to.match(/^CONFLICT: .*choose another name/);
    }
    await places.both.mutate('vrlSnippet.create', input({ name: 'Twice', teamId: places.otherTeamId }));
  });

  it('make one of ten that come at once with one name', async () => {
    const statuses = await tenAtOnce((n) =>
      places.editor.call('mutation', 'vrlSnippet.create', input({ name: n % 2 ? 'race' : 'RACE' })),
    );
    expect(statuses).to.deep.equal(ONE_OF_TEN);
  });

  it('change in part: what is not told stays', async () => {
    const before = await create({ description: 'kept' });
    const { id } = before;
    const after = await places.editor.mutate<Snippet>('vrlSnippet.update', { id, code: '.b = 2' });
    expect({ ...after, updatedAt: before.updatedAt }).to.deep.equal({ ...before, code: '.b = 2' });
    expect(Date.parse(String(after.updatedAt))).to.be.greaterThan(Date.parse(String(before.updatedAt)));
    const renamed = await places.editor.mutate<Snippet>('vrlSnippet.update', { id, name: ' other ' });
    expect(renamed).to.include({ name: 'other', code: '.b = 2', category: 'Parsing', description: 'kept' });
  });

  it('cannot be renamed to what another is called, but to another case of the same', async () => {
    const { name } = await create();
    const { id, name: own } = await create();
    const rename = (to: string) => refusal(places.editor, 'mutation', 'vrlSnippet.update', { id, name: to });
    expect(await rename(name.toUpperCase())).to.match(/^CONFLICT/);
    expect(await rename(own.toUpperCase())).to.equal('OK');
  });

  it('are gone once deleted, and the second time not found', async () => {
    const { id } = await create();
    await places.editor.mutate('vrlSnippet.delete', { id });
    expect((await list()).map((one) => one.id)).not.to.include(id);
    for (const name of ['vrlSnippet.delete', 'vrlSnippet.update'])
      expect(await refusal(places.editor, 'mutation', name, { id })).to.match(/^NOT_FOUND/);
  });

  it('are 500 of a team at most, also where the last ones come at once', async () => {
    const teamId = (await places.root.mutate<{ id: string }>('team.create', { name: 'full' })).id;
    await test.db.raw(
      `INSERT INTO vrl_snippets (id, team_id, name, category, code)
       SELECT 'filler-' || n, ?, 'filler ' || n, 'x', 'y' FROM generate_series(1, 497) n`,
      [teamId],
    );
    const statuses = await tenAtOnce(() =>
      places.root.call('mutation', 'vrlSnippet.create', input({ teamId })),
    );
    expect(statuses).to.deep.equal([...Array(3).fill(200), ...Array(7).fill(412)]);
    const refused = await refusal(places.root, 'mutation', 'vrlSnippet.create', input({ teamId }));
    expect(refused).to.match(/^PRECONDITION_FAILED: .*delete some first/);
  });

  const WRONG: { reason: string; more: object }[] = [
    { reason: 'an empty name', more: { name: '' } },
    { reason: 'a name of spaces', more: { name: '   ' } },
    { reason: 'a name with a line break', more: { name: 'a\nb' } },
    { reason: 'a name of 101 characters', more: { name: 'x'.repeat(101) } },
    { reason: 'a description of 2,001 characters', more: { description: 'x'.repeat(2_001) } },
    { reason: 'a category of 51 characters', more: { category: 'x'.repeat(51) } },
    { reason: 'no code', more: { code: '' } },
    { reason: 'code of 65,537 characters', more: { code: 'x'.repeat(65_537) } },
  ];
  for (const { reason, more } of WRONG) {
    it(`refuse ${reason}`, async () => {
      const refused = await refusal(places.editor, 'mutation', 'vrlSnippet.create', input(more));
      expect(refused).to.match(/^BAD_REQUEST/);
    });
  }

  it('take what is just within the limits', async () => {
    await create({
      ...{ name: 'x'.repeat(100), category: 'x'.repeat(50), code: 'x'.repeat(65_536) },
      description: 'x'.repeat(2_000),
    });
  });

  it('leave their names in the audit log, and not their code', async () => {
    const { id } = await create({ name: 'audited', code: '.of_the_code = true' });
    await places.editor.mutate('vrlSnippet.update', { id, name: 'audited again', code: '.of_the_code = 2' });
    await places.editor.mutate('vrlSnippet.delete', { id });
    const rows = await test.db('audit_log').where({ entity_id: id }).orderBy('id');
    expect(rows.map(({ action }) => action)).to.deep.equal([
      'vrlSnippet.created',
      'vrlSnippet.updated',
      'vrlSnippet.deleted',
    ]);
    expect(rows[1]).to.deep.include({
      diff: { name: ['audited', 'audited again'] },
      metadata: { name: 'audited again', codeChanged: true },
      team_id: places.teamId,
    });
    expect(JSON.stringify(rows)).not.to.include('of_the_code');
  });
});
