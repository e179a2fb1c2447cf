/** Backups, as a super admin makes, looks at, verifies, restores and deletes them. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { ROOT } from '../../../support/harness/controller.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { signIn } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('the settings of backups', function () {
  this.timeout(240_000);
  const session = useSite();
  const { section, isUsable } = partsOf(session);
  let page: Page;
  before(() => {
    page = session.page;
  });

  const first = (): Locator =>
    section('Backups').getByRole('list', { name: 'Backups' }).getByRole('listitem').first();

  it('make one, say what it holds, and verify it', async () => {
    await page.goto(session.at('settings?tab=backups'));
    await section('Backups').getByText('There is no backup yet').waitFor();
    await section('Backups').getByRole('button', { name: 'Create backup' }).click();
    await first().waitFor({ timeout: patient(60_000) });
    await first()
      .getByText(/rows in \d+ tables/)
      .waitFor();
    await first()
      .getByRole('button', { name: /^Preview/ })
      .click();
    const dialog = page.getByRole('dialog', { name: 'What it holds' });
    await dialog.getByText('Embedded repository').waitFor();
    await isUsable('a preview');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await first()
      .getByRole('button', { name: /^Verify/ })
      .click();
    await section('Backups')
      .getByText(/is whole and can be restored here/)
      .waitFor({ timeout: patient(30_000) });
    await isUsable('a verified backup');
  });

  it('set a schedule in words, and say what is wrong with a bucket', async () => {
    const schedule = section('Schedule');
    await schedule.getByText('Every day at 03:00 UTC').waitFor();
    await schedule.getByLabel('Make backups on a schedule').click();
    await schedule.getByLabel('When, as cron in UTC').fill('30 4 * * 0');
    await schedule.getByText('Every Sunday at 04:30 UTC').waitFor();
    await schedule.getByRole('button', { name: 'Save the schedule' }).click();
    await schedule.getByText(/^Next: /).waitFor();
    const storage = section('Storage');
    await storage.getByLabel('A bucket (S3)').click();
    await storage.getByLabel('Bucket', { exact: true }).fill('backups');
    await storage.getByLabel('Region').fill('eu-central-1');
    await storage.getByLabel('Endpoint').fill('http://127.0.0.1:9');
    await storage.getByLabel('Access key ID').fill('AKID');
    await storage.getByLabel('Secret access key').fill('a-secret');
    await storage.getByRole('button', { name: 'Test connection' }).click();
    await storage
      .getByText(/does not answer, or may not be asked|cannot be reached/)
      .waitFor({ timeout: patient(30_000) });
    await isUsable('a bucket that does not answer');
  });

  it('restore one after its name was typed, ask for the password, and say what is left to do', async () => {
    const name = (await first().getAttribute('aria-label')) ?? '';
    await first()
      .getByRole('button', { name: /^Restore/ })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Restore a backup' });
    await dialog.getByText(/This replaces everything/).waitFor();
    const button = dialog.getByRole('button', { name: 'Restore the backup' });
    expect(await button.isDisabled()).to.equal(true);
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
    const starts = () => session.site.controller.output().split('Headgate listens').length;
    const startsBefore = starts();
    await button.click();
    const restored = () => session.site.db('backup_runs').where({ kind: 'restore', status: 'COMPLETED' });
    await until(async () => (await restored()).length === 1, { what: 'the restore', timeoutMs: 60_000 });
    // It starts again: before that it refuses connections, and looks at the restore once more.
    await until(() => starts() > startsBefore, { what: 'the controller to start again', timeoutMs: 60_000 });
    // Sessions are in no backup: the page hears of that by itself, whatever the controller was doing when it asked.
    await page.getByLabel('Password').waitFor({ timeout: patient(60_000) });
    const left = 'The embedded repository is not in its place yet.';
    await session.site.db('backup_runs').where({ kind: 'restore' }).update({ error: left });
    const { url } = session;
    await signIn(page, { url, adminEmail: ROOT.email, adminPassword: ROOT.password });
    await page.goto(session.at('settings?tab=backups'));
    const notice = section('Backups').getByRole('status').filter({ hasText: left });
    await notice.getByText(/was restored .* but something is left to do/).waitFor();
    await isUsable('a restore that is not wholly done');
  });
});
