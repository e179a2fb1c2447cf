/** What holds for the whole server: the fleet, and how long things are kept. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('the settings of the server', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const section = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const note = (text: string): Promise<void> =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).waitFor();
  const isUsable = async (where: string): Promise<void> => {
    const found = await violationsInBothSchemes(page, where);
    found.push(...(await beyondAPhone(page, where)));
    expect(found, found.join('\n')).to.deep.equal([]);
  };

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
    await isUsable('the settings of the fleet');
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
});
