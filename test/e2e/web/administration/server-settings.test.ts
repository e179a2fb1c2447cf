/** What holds for the whole server: the fleet, how long things are kept, and streams of the audit log. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { AuditEvent } from '../../../../schemas/api/insight/audit.ts';
import { until } from '../../../support/harness/until.ts';
import { use } from '../../../support/harness/use.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { settles } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('the settings of the server', function () {
  this.timeout(240_000);
  const session = useSite();
  const { section, dialog, note, isUsable } = partsOf(session);
  const receiver = use(
    () => Receiver.start(),
    (server) => server.close(),
  );
  let page: Page;
  before(() => {
    page = session.page;
  });

  it('says what interval and threshold mean in seconds, and saves them', async () => {
    await page.goto(session.at('settings?tab=server'));
    const fleet = section('Fleet');
    await fleet.getByText('15 s', { exact: true }).waitFor();
    const save = fleet.getByRole('button', { name: 'Save the fleet settings' });
    await settles(() => save.isDisabled(), true, 'nothing to save');
    await fleet.getByLabel('Seconds between two polls').fill('0.5');
    await fleet.getByText('A number of seconds from 1 to 300.').waitFor();
    await settles(() => save.isDisabled(), true, 'a wrong number');
    await fleet.getByLabel('Seconds between two polls').fill('7.5');
    await fleet.getByLabel('Missed polls until UNREACHABLE').fill('10');
    await fleet.getByText('1 min 15 s', { exact: true }).waitFor();
    await fleet.getByLabel('Days that log lines are kept').fill('1');
    await fleet.getByText('Older lines are deleted soon, and do not come back.').waitFor();
    await fleet.getByLabel('Versions that each pipeline keeps at least').fill('20');
    await fleet.getByText('Older ones are deleted in the next night, and do not come back.').waitFor();
    await fleet.getByLabel('MiB of log lines of a node in an hour').fill('0');
    await fleet.getByText('A whole number from 1 to 102,400.').waitFor();
    await settles(() => save.isDisabled(), true, 'a wrong number of MiB');
    await fleet.getByLabel('MiB of log lines of a node in an hour').fill('20');
    await fleet.getByLabel('MiB of all log lines').fill('5000');
    await fleet.getByText('the oldest days are deleted soon and do not come back').waitFor();
    await save.click();
    await note('The fleet settings are saved.');
    await page.reload();
    await settles(() => fleet.getByLabel('Seconds between two polls').inputValue(), '7.5');
    await settles(() => fleet.getByLabel('Missed polls until UNREACHABLE').inputValue(), '10');
    await settles(() => fleet.getByLabel('Days that metrics are kept').inputValue(), '7');
    await settles(() => fleet.getByLabel('Versions that each pipeline keeps at least').inputValue(), '20');
    await settles(() => fleet.getByLabel('MiB of log lines of a node in an hour').inputValue(), '20');
    await settles(() => fleet.getByLabel('MiB of all log lines').inputValue(), '5000');
  });

  it('shortens the life of the audit log only once that was typed', async () => {
    const audit = section('Audit log');
    const save = audit.getByRole('button', { name: 'Save the retention' });
    await audit.getByRole('button', { name: 'For some days' }).click();
    await audit.getByLabel('Days').fill('29');
    await audit.getByText('A whole number from 30 to 36,500.').waitFor();
    await audit.getByLabel('Days').fill('90');
    await audit.getByText('Events that are older than 90 days are deleted').waitFor();
    await isUsable('a shorter audit log');
    expect(await save.isDisabled()).to.equal(true);
    await audit.getByLabel('Type delete to confirm').fill('delete');
    await save.click();
    await note('The audit log is kept for 90 days.');
    await page.reload();
    await settles(() => audit.getByLabel('Days').inputValue(), '90');
    await audit.getByRole('button', { name: 'For ever' }).click();
    await save.click();
    await note('The audit log is kept for ever.');
  });

  const row = (): Locator => section('Streams').getByRole('listitem', { name: 'security log' });
  const actions = (): string[] =>
    receiver.requests.flatMap(({ body }) =>
      (JSON.parse(body) as { entries: AuditEvent[] }).entries.map(({ action }) => action),
    );

  it('says what streams are for, creates one whose secret is shown once, and shows how far it has come', async () => {
    await page.goto(session.at('settings?tab=streams'));
    await section('Streams').getByText('Nothing is streamed').waitFor();
    await section('Streams').getByRole('button', { name: 'New stream' }).click();
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
  });

  it('tests a stream, says what keeps it from being delivered, changes it and deletes it', async () => {
    await row().getByRole('button', { name: 'Test security log' }).click();
    await row().getByText('The endpoint took it, with status 200.').waitFor();
    receiver.status = 503;
    await session.site.api().then((api) => api.mutate('team.create', { name: 'another' }));
    await row().getByText('Failing').waitFor();
    await row()
      .getByText(/The endpoint answered with status 503 \(.* in a row\)/)
      .waitFor();
    await isUsable('a stream that fails');
    await row().getByRole('button', { name: 'Edit security log' }).click();
    let form = dialog('Edit security log');
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
    await row().getByRole('button', { name: 'Delete security log' }).click();
    form = dialog('Delete security log');
    await form.getByText(/sends nothing more, and the \d+ that wait are not sent/).waitFor();
    await form.getByRole('button', { name: 'Delete the stream' }).click();
    await section('Streams').getByText('Nothing is streamed').waitFor();
  });
});
