/** Personal tokens end: after 90 days unless their owner says otherwise, and never later than super admins allow. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { expectRefused, signUp, type TestUser } from '../../support/users/person.ts';

const DAY_MS = 86_400_000;

describe('the end of a personal token', () => {
  const test = useController();
  const root = useRoot(test);
  let person: TestUser;
  before(async () => {
    person = await signUp(test, { email: 'tokens@example.org' });
  });
  afterEach(() => root.mutate('settings.updateAccess', { tokenMaxDays: 365 }));

  const create = (expiresInDays?: number) =>
    person.call<{ id: string; token: string; expiresAt: string }>('mutation', 'user.createToken', {
      ...{ name: 'laptop', ...(expiresInDays === undefined ? {} : { expiresInDays }) },
    });
  const daysLeft = (at: string | Date | undefined) =>
    Math.round((new Date(at ?? 0).getTime() - Date.now()) / DAY_MS);
  const git = async (token: string) =>
    (
      await send(`${test.controller.cloneUrl}/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
      })
    ).status;

  it('is 90 days away unless given', async () => {
    expect(daysLeft((await create()).output?.expiresAt)).to.equal(90);
    expect(daysLeft((await create(7)).output?.expiresAt)).to.equal(7);
  });

  it('is a year away at most, or what the setting says, which the owner is told', async () => {
    expectRefused(await create(366), 400, 'at most 365 days');
    await root.mutate('settings.updateAccess', { tokenMaxDays: 30 });
    expect(daysLeft((await create()).output?.expiresAt)).to.equal(30);
    expect((await create(31)).status).to.equal(400);
    expect(await person.query('user.me')).to.include({ tokenMaxDays: 30 });
    await root.mutate('settings.updateAccess', { tokenMaxDays: 3_650 });
    expect(daysLeft((await create(3_650)).output?.expiresAt)).to.equal(3_650);
  });

  it('comes nearer for those that there are, when the setting does; never further away', async () => {
    const [long, short] = [(await create(300)).output?.id, (await create(5)).output?.id];
    await root.mutate('settings.updateAccess', { tokenMaxDays: 60 });
    await root.mutate('settings.updateAccess', { tokenMaxDays: 365 });
    const list = await person.query<{ id: string; expiresAt: string }[]>('user.listTokens');
    const left = (id?: string) => daysLeft(list.find((token) => token.id === id)?.expiresAt);
    expect([left(long), left(short)]).to.deep.equal([60, 5]);
    const row = await test
      .db('audit_log')
      .where({ action: 'settings.accessUpdated' })
      .whereRaw("diff->'tokenMaxDays' = '[365, 60]'")
      .first('metadata');
    expect(row.metadata.tokensShortened).to.be.greaterThan(0);
  });

  it('is there too for one that an older controller made without', async () => {
    const { id, token } = (await create()).output ?? { id: '', token: '' };
    await test.db('personal_tokens').where({ id }).update({ expires_at: null });
    expect(await git(token)).not.to.equal(401);
    const list = await person.query<{ id: string; expiresAt: string }[]>('user.listTokens');
    expect(daysLeft(list.find((one) => one.id === id)?.expiresAt)).to.equal(90);
    await test
      .db('personal_tokens')
      .where({ id })
      .update({ created_at: new Date(Date.now() - 91 * DAY_MS) });
    expect(await git(token)).to.equal(401);
  });

  it('is for super admins to say, within bounds', async () => {
    expect((await person.call('mutation', 'settings.updateAccess', { tokenMaxDays: 5 })).status).to.equal(
      403,
    );
    for (const tokenMaxDays of [0, 3_651, 1.5, '5'])
      expect((await root.call('mutation', 'settings.updateAccess', { tokenMaxDays })).status).to.equal(400);
  });
});
