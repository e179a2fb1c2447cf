/** Streams of the audit log, as a super admin creates, watches and ends them. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { AuditEvent } from '../../../../schemas/api/insight/audit.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { beyondAPhone, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('the settings of streams', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let receiver: Receiver;

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    receiver = await Receiver.start();
  });
  after(async () => {
    await receiver?.close();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const section = (): Locator => page.getByRole('region', { name: 'Streams', exact: true });
  const dialog = (name: string): Locator => page.getByRole('dialog', { name });
  const row = (): Locator => section().getByRole('listitem', { name: 'security log' });
  const isUsable = async (where: string): Promise<void> => {
    const found = await violationsInBothSchemes(page, where);
    found.push(...(await beyondAPhone(page, where)));
    expect(found, found.join('\n')).to.deep.equal([]);
  };
  const actions = (): string[] =>
    receiver.requests.flatMap(({ body }) =>
      (JSON.parse(body) as { entries: AuditEvent[] }).entries.map(({ action }) => action),
    );

  it('teach what they are for while there is none', async () => {
    await page.goto(session.at('settings?tab=streams'));
    await section().getByText('Nothing is streamed').waitFor();
    await isUsable('without streams');
  });

  it('create one, whose signing secret is shown once, and show how far it has come', async () => {
    await section().getByRole('button', { name: 'New stream' }).click();
    const form = dialog('New stream');
    await form.getByLabel('Name').fill('security log');
    await form.getByLabel('Address').fill('http://10.1.2.3/in');
    await form.getByLabel('Headers').fill('no colon');
    await form.getByText('Line 1 must be a name, a colon and a value.').waitFor();
    await form.getByLabel('Headers').fill('Authorization: Bearer of-the-receiver');
    await form.getByRole('button', { name: 'Create the stream' }).click();
    await form
      .getByRole('alert')
      .getByText(/HEADGATE_PRIVATE_TARGETS/)
      .waitFor();
    await isUsable('a stream that is being created');
    await form.getByLabel('Address').fill(receiver.url);
    await form.getByRole('button', { name: 'Create the stream' }).click();
    const secret = form.getByRole('region', { name: 'the signing secret' }).locator('pre');
    expect(await secret.innerText()).to.match(/whsec_/);
    await form.getByRole('button', { name: 'Done' }).click();
    await until(() => actions().includes('stream.created'), { what: 'the first entry' });
    expect(receiver.requests[0]?.headers.authorization).to.equal('Bearer of-the-receiver');
    await row().getByText('Up to date').waitFor();
    await row()
      .getByText(/delivered, last .* · 0 waiting · headers: Authorization/)
      .waitFor();
    expect(await page.content())
      .to.not.include('of-the-receiver')
      .and.not.include('whsec_');
    await isUsable('a stream');
  });

  it('test one, and say what keeps it from being delivered', async () => {
    await row().getByRole('button', { name: 'Test security log' }).click();
    await row().getByText('The endpoint took it, with status 200.').waitFor();
    receiver.status = 503;
    await session.site.api().then((api) => api.mutate('team.create', { name: 'another' }));
    await row().getByText('Failing').waitFor();
    await row()
      .getByText(/The endpoint answered with status 503 \(.* in a row\)/)
      .waitFor();
    await isUsable('a stream that fails');
    receiver.status = 200;
    await row()
      .getByText('Up to date')
      .waitFor({ timeout: patient(60_000) });
    expect(actions()).to.include('team.created');
  });

  it('change one: its name, its headers, its signing secret, and whether it sends', async () => {
    await row().getByRole('button', { name: 'Edit security log' }).click();
    const form = dialog('Edit security log');
    await form.getByText('It has Authorization; their values are not shown.').waitFor();
    await form.getByLabel('Replace the headers').check();
    await form.getByLabel('Headers', { exact: true }).fill('X-Key: another');
    await form.getByLabel('Renew the signing secret').check();
    await form.getByLabel('Enabled').uncheck();
    await isUsable('a stream that is being changed');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('region', { name: 'the signing secret' }).waitFor();
    await form.getByRole('button', { name: 'Done' }).click();
    await row().getByText('Disabled').waitFor();
    await row()
      .getByText(/headers: X-Key/)
      .waitFor();
  });

  it('delete one, and tell what is not sent then', async () => {
    await row().getByRole('button', { name: 'Delete security log' }).click();
    const form = dialog('Delete security log');
    await form.getByText(/sends nothing more, and the \d+ that wait are not sent/).waitFor();
    await form.getByRole('button', { name: 'Delete the stream' }).click();
    await section().getByText('Nothing is streamed').waitFor();
  });

  it('are for super admins alone', async () => {
    const admin = await session.as('ADMIN');
    await admin.goto(session.at('settings?tab=streams'));
    await admin.getByText('“Streams” is not for you to see').waitFor();
  });
});
