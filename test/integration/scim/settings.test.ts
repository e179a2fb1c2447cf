/** SCIM is switched on and off, and its token made, by super admins; the token is shown once and kept sealed. */
import { expect } from 'chai';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { scimClient } from '../../support/scenes/scim/client.ts';
import { expectRefused } from '../../support/users/person.ts';

interface View {
  enabled: boolean;
  baseUrl: string;
  tokenCreatedAt: string | null;
  lastUsedAt: string | null;
}

describe('the settings of SCIM', () => {
  const test = useController();
  const root = useRoot(test);

  const turn = (enabled: boolean) => root.mutate<View>('settings.updateScim', { enabled });
  const generate = () => root.call<{ token: string }>('mutation', 'settings.generateScimToken');
  const stored = () => test.db('scim_settings').first();

  it('give no token while SCIM is off: 412', async () => {
    for (const prepare of [() => undefined, () => turn(false)]) {
      await prepare();
      expectRefused(await generate(), 412, 'turn it on');
    }
    expect((await stored())?.sealed_token ?? null).to.equal(null);
  });

  it('name the base URL, to the letter', async () => {
    const view = await turn(true);
    expect(view).to.deep.equal({
      enabled: true,
      baseUrl: `${test.config.baseUrl}/api/scim/v2`,
      tokenCreatedAt: null,
      lastUsedAt: null,
    });
  });

  it('keep the token sealed, bound to its place, and tell it once', async () => {
    const { output } = await generate();
    const token = output?.token ?? '';
    expect(token).to.match(/^scim_[0-9a-f]{64}$/);
    const row = await stored();
    expect(row.sealed_token).to.match(/^v1\./);
    const { keyring } = test.controller.systemContext('test').services;
    expect(keyring.open(row.sealed_token, 'scim_settings:scim')).to.equal(token);
    expect(() => keyring.open(row.sealed_token, 'oidc_settings:oidc')).to.throw();
    const view = await turn(true);
    expect(view.tokenCreatedAt).to.be.a('string');
    expect(JSON.stringify(view)).not.to.include(token);
    await scimClient(test.url, token).want(200, 'GET', '/Users');
    expect((await turn(true)).lastUsedAt).to.be.a('string');
    const written = `${test.log()}${JSON.stringify(await test.db('audit_log'))}`;
    expect(written).not.to.include(token.slice('scim_'.length));
  });

  it('let one of two tokens that are made at the same moment in', async () => {
    const tokens = (await Promise.all([generate(), generate(), generate()])).map(
      ({ output }) => output?.token ?? '',
    );
    const answers = await Promise.all(
      tokens.map((token) => scimClient(test.url, token).call('GET', '/Users')),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
  });

  it('forget the token when SCIM is switched off', async () => {
    const { output } = await generate();
    expect(await turn(false)).to.include({ enabled: false, tokenCreatedAt: null, lastUsedAt: null });
    expect(await stored()).to.include({ sealed_token: null });
    await turn(true);
    const answer = await scimClient(test.url, output?.token ?? '').call('GET', '/Users');
    expect(answer.status).to.equal(401);
  });

  it('leave rows in the audit log that tell what changed', async () => {
    const rows = await test.db('audit_log').where({ entity_id: 'scim' }).orderBy('created_at', 'desc');
    const actions = new Set(rows.map(({ action }) => action));
    expect([...actions].sort()).to.deep.equal(['settings.scimTokenGenerated', 'settings.scimUpdated']);
    const [last, before] = rows.filter(({ action }) => action === 'settings.scimUpdated');
    expect(last.diff).to.deep.equal({ enabled: [false, true] });
    expect(before).to.deep.include({ diff: { enabled: [true, false] }, metadata: { tokenEnded: true } });
  });
});
