/** The audit log as a file, over HTTP. */
import { expect } from 'chai';
import type { AuditEntryView } from '../../../schemas/api/insight/audit.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { leftWhileAsked } from '../../support/scenes/left-requests.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

describe('the export of the audit log', () => {
  const test = useController();
  const root = useRoot(test);
  let viewer: TestUser;
  let ours: { teamId: string; environmentId: string };
  let theirs: { teamId: string; environmentId: string };

  before(async () => {
    ours = await testEnvironment(root, 'ours');
    theirs = await testEnvironment(root, 'theirs');
    await makeUser(test.db, { email: 'viewer@example.org', teams: { [ours.teamId]: 'VIEWER' } });
    viewer = await signIn(test.url, 'viewer@example.org');
    for (const [environmentId, name] of [
      [ours.environmentId, 'first'],
      [ours.environmentId, 'plain'],
      [theirs.environmentId, 'hidden'],
    ])
      await root.mutate('environment.update', { id: environmentId, name });
    await numbered();
  });

  const numbered = () =>
    until(async () => (await test.db('audit_log').whereNull('seq')).length === 0, { what: 'numbers' });
  const get = (query: Record<string, string> | string, cookie: string | null) =>
    fetch(`${test.url}/api/audit/export?${typeof query === 'string' ? query : new URLSearchParams(query)}`, {
      headers: cookie === null ? {} : { cookie },
    });
  const lines = async (query: Record<string, string>, person: TestUser): Promise<AuditEntryView[]> => {
    const answer = await get({ format: 'ndjson', ...query }, person.cookie);
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  const exported = () => test.db('audit_log').where({ action: 'audit.exported' }).orderBy('id');

  it('is a file of lines, newest first, that says what it leaves out', async () => {
    const answer = await get({ format: 'ndjson' }, root.cookie);
    expect(answer.headers.get('content-type')).to.equal('application/x-ndjson');
    expect(answer.headers.get('content-disposition')).to.match(
      /^attachment; filename="audit-\d{4}-\d{2}-\d{2}\.ndjson"$/,
    );
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.headers.get('x-headgate-export-limit')).to.equal('100000');
    const events = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line): AuditEntryView => JSON.parse(line));
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).to.deep.equal([...seqs].sort((a, b) => b - a));
    expect(seqs.at(-1)).to.equal(1);
    await numbered();
    const { count } = (await test.db('audit_log').count({ count: '*' }).first()) ?? {};
    expect(Number(count) - seqs.length, 'what tells of itself').to.equal(1);
  });

  it('is not under way where its reader went away before it was known who it is', async () => {
    await leftWhileAsked(test, `${test.url}/api/audit/export?format=ndjson`, viewer.cookie);
    const events = await lines({}, viewer);
    expect(events.length).to.be.greaterThan(0);
  });

  it('is CSV without formulas', async () => {
    await test.db('audit_log').where({ action: 'environment.updated' }).update({ ip_address: '@SUM(A1)' });
    const answer = await get({ format: 'csv', action: 'environment.updated' }, root.cookie);
    expect(answer.headers.get('content-type')).to.match(/^text\/csv/);
    const text = await answer.text();
    const [header, ...records] = text.trimEnd().split('\r\n');
    expect(header).to.match(/^seq,createdAt,actorType,/);
    expect(records).to.have.length(3);
    expect(text).not.to.match(/(^|,)"?[=@]/m);
  });

  it('holds what the caller may see, and what the filters say', async () => {
    const seen = await lines({}, viewer);
    expect(new Set(seen.map(({ teamId }) => teamId).filter(Boolean))).to.deep.equal(new Set([ours.teamId]));
    const updates = await lines({ action: 'environment.updated', environmentId: ours.environmentId }, viewer);
    expect(updates).to.have.length(2);
    expect(await lines({ search: 'nowhere' }, viewer), 'nor what tells of itself').to.deep.equal([]);
  });

  it('goes on from the number of its last line', async () => {
    const all = await lines({}, viewer);
    const rest = await lines({ cursor: String(all[2]!.seq) }, viewer);
    const seqs = all.map(({ seq }) => seq).filter((seq) => seq < all[2]!.seq);
    expect(rest.map(({ seq }) => seq)).to.deep.equal(seqs);
  });

  it('is told in the log, with what was asked for', async () => {
    await lines({ search: 'who else', teamId: ours.teamId }, viewer);
    expect((await exported()).at(-1)).to.deep.include({
      ...{ user_email: 'viewer@example.org', entity_type: 'AuditLog', team_id: ours.teamId },
      metadata: { format: 'ndjson', search: 'who else', teamId: ours.teamId },
    });
  });

  it('is refused to strangers, other teams and wrong words, and told of none of them', async () => {
    const before = (await exported()).length;
    for (const [query, cookie, status] of [
      ['format=csv', null, 401],
      ['', viewer.cookie, 400],
      ['format=xml', viewer.cookie, 400],
      ['format=csv&format=csv', viewer.cookie, 400],
      ['format=csv&surprise=1', viewer.cookie, 400],
      ['format=csv&endDate=2026-13-01', viewer.cookie, 400],
      [`format=csv&search=${'x'.repeat(201)}`, viewer.cookie, 400],
      [`format=csv&teamId=${theirs.teamId}`, viewer.cookie, 403],
      [`format=csv&environmentId=${theirs.environmentId}`, viewer.cookie, 403],
      ['format=csv&teamId=none', viewer.cookie, 404],
    ] as const) {
      const answer = await get(query, cookie);
      expect(answer.status, query).to.equal(status);
      expect((await answer.json()) as object, query).to.have.property('error');
      expect(answer.headers.get('content-disposition')).to.equal(null);
    }
    const head = await fetch(`${test.url}/api/audit/export?format=csv`, {
      method: 'HEAD',
      headers: { cookie: viewer.cookie },
    });
    expect(head.status).to.equal(404);
    expect(await exported()).to.have.length(before);
  });

  it('goes on over pages, one at a time for each person, and ends with the one who asked', async function () {
    this.timeout(60_000);
    this.slow(10_000);
    await numbered();
    const { seq } = (await test.db('audit_log').max({ seq: 'seq' }).first()) ?? {};
    await test.db.raw(
      `INSERT INTO audit_log (id, seq, prev_hash, hash, actor_type, action, entity_type, team_id, metadata)
       SELECT 'many' || n, ? + n, '', '', 'system', 'many.told', 'Thing', ?, jsonb_build_object('text', repeat(md5(n::text), 60))
       FROM generate_series(1, 12000) n`,
      [seq, ours.teamId],
    );
    const all = await lines({ action: 'many.told' }, viewer);
    expect(new Set(all.map(({ id }) => id)).size).to.equal(12_000);

    // Nobody reads the first: it is held up by what lies between, and the second is refused.
    const held = await get({ format: 'ndjson', action: 'many.told' }, viewer.cookie);
    expect(held.status).to.equal(200);
    const second = await get({ format: 'ndjson' }, viewer.cookie);
    expect(second.status).to.equal(429);
    expect(((await second.json()) as { error: string }).error).to.include('under way');
    await held.body?.cancel();
    await until(
      async () => {
        const again = await get({ format: 'ndjson', search: 'nowhere' }, viewer.cookie);
        await again.body?.cancel();
        return again.status === 200;
      },
      { what: 'the first to be let go of' },
    );
  });

  it('breaks off where whoever reads it is locked meanwhile', async function () {
    this.timeout(60_000);
    const id = await makeUser(test.db, { email: 'slow@example.org', teams: { [ours.teamId]: 'VIEWER' } });
    const slow = await signIn(test.url, 'slow@example.org');
    const held = await get({ format: 'ndjson', action: 'many.told' }, slow.cookie);
    expect(held.status).to.equal(200);
    await root.mutate('admin.lockUser', { userId: id });
    const rest = await held.text().catch((error: Error) => error);
    expect(rest, 'twelve thousand lines are not sent').to.be.instanceOf(Error);
  });
});
