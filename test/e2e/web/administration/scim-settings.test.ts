/** SCIM as it is switched on in the browser, with an identity provider at the other end. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { type ScimClient, scimClient } from '../../../support/scenes/scim/client.ts';
import { settles } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('the settings of SCIM', function () {
  this.timeout(240_000);
  const session = useSite();
  const { section, dialog, isUsable } = partsOf(session);
  let api: ApiClient;
  let page: Page;
  let provider: ScimClient;

  before(async () => {
    page = session.page;
    api = await session.site.api();
  });

  /** Through the dialog; answers the token that it shows. */
  const generate = async (title: string): Promise<string> => {
    await section('Token').getByRole('button', { name: title }).click();
    const form = dialog(title);
    await form.getByRole('button', { name: 'Generate the token' }).click();
    const token = await form.getByRole('region', { name: 'the SCIM token' }).locator('pre').innerText();
    if (title === 'Generate a token') await isUsable('a SCIM token that is shown once');
    await form.getByRole('button', { name: 'Done' }).click();
    await form.waitFor({ state: 'hidden' });
    expect(await page.content()).not.to.include(token.trim());
    return token.trim();
  };

  it('teaches how to set it up, is switched on, and generates a token that works and is shown once', async () => {
    await page.goto(session.at('settings?tab=scim'));
    await section('Provisioning').getByText('Off', { exact: true }).waitFor();
    await section('Groups').getByText('No group is known yet').waitFor();
    await section('Set it up at the provider')
      .getByText('Switch SCIM on here, and generate a token.')
      .waitFor();
    await section('Provisioning').getByRole('button', { name: 'Switch SCIM on' }).click();
    await dialog('Switch SCIM on').getByRole('button', { name: 'Switch it on' }).click();
    await section('Provisioning').getByText('On', { exact: true }).waitFor();
    await section('Token').getByText('None: nothing is taken').waitFor();
    const address = section('Provisioning').getByRole('region', { name: 'the base URL' });
    await address.getByText(`${session.url}/api/scim/v2`).waitFor();
    provider = scimClient(session.site.controller.url, await generate('Generate a token'));
    await section('Token').getByText('Set', { exact: true }).waitFor();
    await section('Token').getByText('never', { exact: true }).waitFor();
    expect((await provider.call('GET', '/ServiceProviderConfig')).status).to.equal(200);
  });

  it('shows groups and locks of the provider while one looks, and where a mapping leads, of empty groups too', async () => {
    const ada = await provider.user('ada@example.org');
    await provider.group('platform', [ada]);
    await provider.group('everyone', [ada]);
    await provider.group('nobody-yet', []);
    const row = (name: string): Locator =>
      page.getByRole('table', { name: 'Groups' }).getByRole('row', { name: new RegExp(`^${name} `) });
    await row('platform').getByText('Nowhere').waitFor();
    await api.mutate('settings.updateOidcTeamMappings', {
      mappings: [
        { group: 'platform', teamId: session.site.teamId, role: 'EDITOR' },
        { group: 'nobody-yet', teamId: session.site.teamId, role: 'ADMIN' },
      ],
      defaultRole: 'VIEWER',
      groupSyncEnabled: false,
    });
    await row('platform').getByText('Ours as Editor').waitFor();
    await row('everyone').getByText('Nowhere').waitFor();
    await row('nobody-yet').getByText('Ours as Admin').waitFor();
    await row('nobody-yet').getByRole('cell', { name: '0', exact: true }).waitFor();
    await isUsable('groups of SCIM');
    await page.goto(session.at('settings?tab=users&state=provisioned'));
    await page.getByRole('table', { name: 'Users' }).getByRole('link').filter({ hasText: 'ada' }).click();
    await section('Teams').getByText('By group').waitFor();
    expect(await page.getByRole('button', { name: 'Remove from Ours' }).isDisabled()).to.equal(true);
    await page.getByText('keeps name and address of this account by SCIM').waitFor();
    const [{ id }] = (await provider.want(200, 'GET', '/Users?filter=userName%20eq%20%22ada@example.org%22'))
      .Resources;
    await provider.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
    await page.getByText(/Locked by the identity provider, which lifts it/).waitFor();
  });

  it('rotates the token, which ends the one before, and is switched off, which ends it too', async () => {
    await page.goto(session.at('settings?tab=scim'));
    const before = provider;
    provider = scimClient(session.site.controller.url, await generate('Generate another token'));
    expect((await before.call('GET', '/Users')).status).to.equal(401);
    expect((await provider.call('GET', '/Users')).status).to.equal(200);

    await section('Provisioning').getByRole('button', { name: 'Switch SCIM off' }).click();
    const form = dialog('Switch SCIM off');
    await form.getByText('The token ends at once').waitFor();
    await isUsable('the dialog that switches SCIM off');
    await form.getByRole('button', { name: 'Switch it off' }).click();
    await section('Provisioning').getByText('Off', { exact: true }).waitFor();
    await settles(() => section('Token').count(), 0);
    expect((await provider.call('GET', '/Users')).status).not.to.equal(200);
  });
});
