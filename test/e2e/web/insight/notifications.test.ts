/** Endpoints in the UI: made, tested, failed and sent again, by those who may. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { enqueueNotices } from '../../../../controller/insight/notifications/index.ts';
import { createBus } from '../../../../controller/platform/runtime/bus.ts';
import { systemClock } from '../../../../reconcilers/loops/clock.ts';
import { QUIET } from '../../../support/harness/platform.ts';
import { use } from '../../../support/harness/use.ts';
import { WebhookReceiver } from '../../../support/servers/webhook-receiver.ts';
import {
  beyondAPhone,
  closeByEscape,
  LOAD,
  settles,
  violationsInBothSchemes,
  watchForErrors,
} from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('the page of endpoints', function () {
  this.timeout(180_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  const receiver = use(
    () => WebhookReceiver.start(),
    (one) => one.close(),
  );

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const endpoints = (on = page): Locator => on.getByRole('table', { name: 'Endpoints' });
  const row = (name: string, on = page): Locator =>
    endpoints(on).getByRole('row', { name: new RegExp(name) });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const choose = async (name: string, item: string): Promise<void> => {
    await row(name)
      .getByRole('button', { name: `Actions of ${name}` })
      .click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  it('leads from the alerts, and says how to begin', async () => {
    await page.goto(session.at('alerts'));
    await page.getByRole('tab', { name: 'Endpoints' }).click();
    await page.getByRole('heading', { name: 'Alerts are sent nowhere yet' }).waitFor();
  });

  it('makes an endpoint, with an example of its messages and a secret that is shown once', async () => {
    await page.getByRole('button', { name: 'New endpoint' }).click();
    const form = dialog('New endpoint');
    await form.getByLabel('Name').fill('On call');
    await form.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
    await form.getByRole('button', { name: 'Show an example of a message' }).click();
    await form.getByText('"type": "alert.firing"').waitFor();
    await form.getByLabel('Format').selectOption('Slack');
    await form
      .getByText('*Busy CPU', { exact: false })
      .or(form.getByText('Firing: Busy CPU'))
      .first()
      .waitFor();
    await form.getByLabel('Format').selectOption('Webhook');
    expect(await violationsInBothSchemes(page, 'a new endpoint')).to.deep.equal([]);
    await form.getByRole('button', { name: 'Create the endpoint' }).click();
    const secret = form.getByRole('region', { name: 'the signing secret' });
    await secret.getByText(/^whsec_/).waitFor();
    await form.getByRole('button', { name: 'Done' }).click();
    await row('On call').getByText('Enabled', { exact: true }).waitFor();
    await row('On call').getByText('All alerts').waitFor();
    expect(await beyondAPhone(page, 'endpoints')).to.deep.equal([]);
  });

  it('sends a test that arrives', async () => {
    await choose('On call', 'Show deliveries and test');
    const deliveries = dialog('Deliveries to On call');
    await deliveries.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
    await deliveries.getByRole('button', { name: 'Send a test' }).click();
    await deliveries.getByText(/^The test was delivered: status 200 in \d+ ms\.$/).waitFor();
    expect(receiver.taken.map(({ type }) => type)).to.deep.equal(['test']);
    await deliveries.getByRole('listitem').getByText('Delivered', { exact: true }).waitFor();
    await closeByEscape(page);
    await deliveries.waitFor({ state: 'hidden' });
  });

  it('shows a delivery that failed, and sends it once more', async () => {
    receiver.react = () => ({ status: 410 });
    const { db, environmentId, teamId } = session.site;
    const context = { clock: systemClock, services: { bus: createBus({ url: '', log: QUIET }) } };
    const at = new Date();
    await db.transaction((tx) =>
      enqueueNotices({ ...context, db: tx }, [
        {
          ...{
            eventId: 'event',
            status: 'firing',
            at,
            firedAt: at,
            ruleId: 'rule',
            ruleName: 'Node is down',
          },
          ...{ metric: 'node_unreachable', condition: 'eq', threshold: 1, durationSeconds: 60, value: 1 },
          ...{ environment: { id: environmentId, name: 'staging' }, team: { id: teamId, name: 'team' } },
          ...{ node: null, pipeline: null, message: 'edge-1 is unreachable' },
        },
      ]),
    );
    const id = await db('webhook_endpoints').first('id');
    // The group wait lasts until the page has shown it.
    const collecting = () => db('notification_deliveries').where({ state: 'collecting' });
    await collecting().update({ next_at: new Date(at.getTime() + 3_600_000) });
    await page.goto(session.at(`alerts?tab=endpoints&deliveries=${id?.id}`));
    const failed = dialog('Deliveries to On call')
      .getByRole('listitem')
      .filter({ hasText: 'Node is down fires' });
    await failed.getByText('Collecting', { exact: true }).waitFor();
    await collecting().update({ next_at: at });
    await context.services.bus.publish(db, {
      ...{ type: 'wake', loop: 'notifications', key: String(id?.id), trigger: 'test' },
    });
    await failed.getByText('Failed', { exact: true }).waitFor();
    await failed.getByText('the receiver answers with status 410').waitFor();
    expect(await violationsInBothSchemes(page, 'deliveries')).to.deep.equal([]);
    expect(await beyondAPhone(page, 'deliveries')).to.deep.equal([]);
    receiver.react = () => ({ status: 200 });
    await failed.getByRole('button', { name: /^Send once more/ }).click();
    await failed.getByText('Delivered', { exact: true }).waitFor();
    await failed.getByText(/^status 200 in/).waitFor();
    await closeByEscape(page);
    await dialog('Deliveries to On call').waitFor({ state: 'hidden' });
  });

  it('disables an endpoint, rotates its secret, and shows why a change is refused', async () => {
    await choose('On call', 'Disable');
    await row('On call').getByText('Disabled', { exact: true }).waitFor();
    await choose('On call', 'Rotate the secret');
    const rotate = dialog('Rotate the secret of On call');
    await rotate.getByRole('button', { name: 'Rotate the secret' }).click();
    await rotate.getByText(/^whsec_/).waitFor();
    await rotate.getByRole('button', { name: 'Done' }).click();
    await choose('On call', 'Change');
    const form = dialog('Change On call');
    await form.getByRole('textbox', { name: 'URL' }).fill('https://10.0.0.1/');
    await form.getByRole('button', { name: 'Save the endpoint' }).click();
    await form
      .getByRole('alert')
      .getByText(/HEADGATE_PRIVATE_TARGETS/)
      .waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
  });

  it('says what could not be read, and reads it again by a click', async () => {
    const failing = (url: URL) => url.pathname === '/api/trpc/alert.listWebhooks';
    const refusal = {
      error: { json: { message: 'It was not to be.', code: -32_600, data: { code: 'BAD_REQUEST' } } },
    };
    await page.route(failing, (route) => route.fulfill({ status: 400, json: refusal }));
    await page.goto(session.at('alerts?tab=endpoints'), LOAD);
    const alert = page.getByRole('alert');
    await alert.getByRole('heading', { name: 'Endpoints could not be shown' }).waitFor();
    await alert.getByText('It was not to be.').waitFor();
    await page.unroute(failing);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await row('On call').waitFor();
    // The browser itself notes the failed requests.
    errors.splice(0);
  });

  it('shows viewers what there is, and lets editors make endpoints of their environment', async () => {
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at('alerts?tab=endpoints'));
    await row('On call', viewer).waitFor();
    await settles(() => viewer.getByRole('button', { name: 'New endpoint' }).isDisabled(), true);
    await row('On call', viewer).getByRole('button', { name: 'Actions of On call' }).click();
    await settles(() => viewer.getByRole('menuitem', { name: 'Delete' }).isDisabled(), true);
    const editor = await session.as('EDITOR');
    await editor.goto(session.at('alerts?tab=endpoints'));
    await editor.getByRole('button', { name: 'New endpoint' }).click();
    const form = editor.getByRole('dialog', { name: 'New endpoint' });
    await form.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
    await form.getByRole('button', { name: 'Create the endpoint' }).click();
    await row('127.0.0.1:\\d+ Webhook staging', editor).waitFor();
  });

  it('deletes an endpoint', async () => {
    await choose('On call', 'Delete');
    await dialog('Delete On call').getByRole('button', { name: 'Delete the endpoint' }).click();
    await row('On call').waitFor({ state: 'detached' });
  });
});
