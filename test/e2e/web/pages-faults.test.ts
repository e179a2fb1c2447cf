/** What a person sees while a part of the system is away, and that the page recovers without a reload. */
import { renameSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { NodeAgent } from '../../support/agents/node-agent.ts';
import { Clone } from '../../support/clients/clone.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { patient } from '../../support/harness/patience.ts';
import type { Replica } from '../../support/harness/serve.ts';
import { LOAD, violationsOf } from './browser.ts';
import { openSite, type SiteSession } from './site-session.ts';

describe('the pages while something is away', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let controller: Replica;
  let agent: NodeAgent;

  before(async () => {
    // A process of its own, which is ended and started; a node that is silent for three polls is unreachable.
    session = await openSite({ inProcess: false, fleet: { pollIntervalMs: 1_000 } });
    ({ page } = session);
    ({ controller } = session.site);
    agent = await session.site.agent();
    const clone = await Clone.of(session.site.cloneUrl());
    await clone.push('Orders', { 'staging/orders.yaml': idleManifest('orders') });
    await clone.remove();
  });
  after(() => session?.close());

  const at = (path: string): string => session.at(path);
  const banner = (text: string) => page.getByRole('status').filter({ hasText: text });

  it('keeps the page when the controller is away, says since when it is old, and catches up by itself', async () => {
    await page.goto(at('pipelines'));
    const row = page.getByRole('table', { name: 'Pipelines' }).getByRole('link', { name: 'orders' });
    await row.waitFor();
    let loads = 0;
    page.on('load', () => (loads += 1));
    await controller.end('SIGTERM');
    const away = banner('The controller does not answer');
    await away.getByText(/What you see was read (just now|\d+ s ago)/).waitFor();
    await page.getByText(/^(Reconnecting|Stale since .*)$/).waitFor();
    await row.waitFor();
    expect(await violationsOf(page, 'the pipelines without a controller')).to.deep.equal([]);
    controller = await session.site.serve({ port: Number(new URL(session.url).port) });
    await away.waitFor({ state: 'detached', timeout: patient(30_000) });
    await page.getByText('Live', { exact: true }).waitFor({ timeout: patient(30_000) });
    expect(loads).to.equal(0);
  });

  it('brings a page whose code cannot be loaded for a moment, without a reload', async () => {
    await page.goto(at('pipelines'), LOAD);
    let asked = 0;
    let loads = 0;
    page.on('load', () => (loads += 1));
    const code = /\/assets\/secrets-page-.*\.js$/;
    await page.route(code, (route) => {
      asked += 1;
      return asked === 1 ? route.abort('connectionrefused') : route.continue();
    });
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    await page.unroute(code);
    expect({ asked, loads }).to.deep.equal({ asked: 2, loads: 0 });
  });

  it('loads itself again where an update has replaced its code, once, and says so where that does not help', async () => {
    await page.goto(at('pipelines'), LOAD);
    const code = /\/assets\/audit-page-.*\.js$/;
    await page.route(code, (route) => route.fulfill({ status: 404, body: 'Not found' }));
    const loaded = page.waitForEvent('load');
    await page.getByRole('link', { name: 'Audit' }).click();
    await loaded;
    await page.getByText('Headgate was updated since this page was loaded').waitFor();
    expect(await violationsOf(page, 'a page of before an update')).to.deep.equal([]);
    await page.getByRole('link', { name: 'Pipelines' }).click();
    await page.getByRole('table', { name: 'Pipelines' }).waitFor();
    await page.unroute(code);
    // A minute after it has loaded itself it would do so again, and a slow machine needs as long to come here.
    await page.evaluate(`sessionStorage.setItem('headgate.reloadedAt', String(Date.now()))`);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.goto(at('pipelines'));
    await page.getByRole('table', { name: 'Pipelines' }).getByRole('link', { name: 'orders' }).waitFor();
  });

  it('tells a database that is away from a controller that is', async () => {
    await page.route('**/api/health', (route) => route.fulfill({ status: 503, json: { status: 'error' } }));
    const failing = (url: URL) => url.pathname === '/api/trpc/pipeline.list';
    await page.route(failing, (route) => route.fulfill({ status: 503, body: 'no' }));
    const away = banner('The controller cannot reach its database');
    await away.waitFor();
    await page.getByRole('table', { name: 'Pipelines' }).getByRole('link', { name: 'orders' }).waitFor();
    await page.unroute('**/api/health');
    await page.unroute(failing);
    await away.waitFor({ state: 'detached' });
  });

  it('tells of a full disk as such, on a page that goes on reading', async () => {
    await page.route('**/api/health', (route) =>
      route.fulfill({ status: 503, json: { status: 'error', reason: 'disk' } }),
    );
    const changing = (url: URL) => url.pathname === '/api/trpc/gitSync.syncNow';
    await page.route(changing, (route) => route.fulfill({ status: 503, body: 'no' }));
    await page.goto(at('git'));
    await page.getByRole('button', { name: 'Sync now' }).click();
    const full = banner('The disk of the controller’s database is full');
    await full.getByText('Free some space in its data directory').waitFor();
    await page.getByRole('list', { name: 'Manifests', exact: true }).getByText('orders').first().waitFor();
    expect(await full.getByText('What you see was read').count()).to.equal(0);
    expect(await violationsOf(page, 'git on a full disk')).to.deep.equal([]);
    await page.unroute(changing);
    await page.unroute('**/api/health');
    await full.waitFor({ state: 'detached' });
  });

  it('tells of a repository that cannot be read on the overview and the git page', async () => {
    const repository = session.site.gitdir;
    const hidden = `${repository}.hidden`;
    await page.goto(at('git'));
    await page.getByRole('list', { name: 'Manifests', exact: true }).waitFor();
    renameSync(repository, hidden);
    try {
      await page.getByRole('button', { name: 'Sync now' }).click();
      await banner('The repository could not be read').getByText('Everything runs on as it was').waitFor();
      await page.getByRole('list', { name: 'Manifests', exact: true }).getByText('orders').first().waitFor();
      expect(await violationsOf(page, 'git without its repository')).to.deep.equal([]);
      await page.goto(at('overview'));
      await page
        .getByRole('list', { name: 'Wrong in staging' })
        .getByRole('link', { name: /The repository could not be read/ })
        .click();
    } finally {
      renameSync(hidden, repository);
    }
    await page.getByRole('button', { name: 'Sync now' }).click();
    await banner('The repository could not be read').waitFor({ state: 'detached' });
  });

  it('says when a node was last heard and what it ran then, and forgets it when it is back', async () => {
    const pid = agent.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      await page.goto(at('overview'));
      const trouble = page
        .getByRole('list', { name: 'Wrong in staging' })
        .getByRole('link', { name: /is unreachable/ });
      await trouble.waitFor({ timeout: patient(30_000) });
      await trouble.click();
      await banner('What it ran then is shown below')
        .getByText(/^Last heard .*\d+ (s|min) ago$/)
        .waitFor();
      await page.getByText('Was running', { exact: true }).first().waitFor();
      await page.getByRole('region', { name: 'Host when last heard' }).waitFor();
      expect(await violationsOf(page, 'an unreachable node')).to.deep.equal([]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await banner('What it ran then is shown below').waitFor({ state: 'detached', timeout: patient(30_000) });
    await page.getByText('Running', { exact: true }).first().waitFor();
  });
});
