/** What is pushed comes into pages that are open, whatever became of their streams meanwhile. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Clone } from '../../../support/clients/clone.ts';
import { idleManifest } from '../../../support/fixtures/pipelines.ts';
import { BROWSER_WAIT_MS, patient } from '../../../support/harness/patience.ts';
import { launch } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const manifest = (interval: number): string => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: pushed-live }
spec:
  deployed: true
  sources: { demo: { type: demo_logs, format: json, interval: ${interval} } }
  sinks: { out: { type: blackhole, inputs: [demo] } }
`;

describe('a push, watched in the browser', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let clone: Clone;

  before(async () => {
    session = await openSite();
    await session.site.agent();
    clone = await Clone.of(session.site.cloneUrl());
    await clone.push('Add idle', { 'staging/idle.yaml': idleManifest('idle') });
  });
  after(async () => {
    await clone?.remove();
    await session?.close();
  });

  async function push(text: string, subject: string): Promise<string> {
    const { sha } = await clone.push(subject, { 'staging/pushed-live.yaml': text });
    return sha.slice(0, 7);
  }

  it('brings a new pipeline into the list without a reload, and its commit to running', async () => {
    const { page } = session;
    await page.goto(session.at('pipelines'));
    await page.getByRole('table', { name: 'Pipelines' }).waitFor();
    const commit = await push(manifest(0.2), 'Add pushed-live');
    const gate = page.getByRole('group', { name: 'Gate of pushed-live' });
    await gate
      .getByRole('link', { name: new RegExp(`^running: ${commit}, done`) })
      .waitFor({ timeout: patient(30_000) });
    await page.getByRole('link', { name: 'pushed-live', exact: true }).click();
    await page.getByText('Add pushed-live').first().waitFor();
    await page
      .getByRole('list', { name: 'Conditions of pushed-live' })
      .getByText('Healthy', { exact: true })
      .waitFor();
  });

  it('shows a refused manifest with its line, and what is accepted keeps its commit', async () => {
    const { page } = session;
    await page.goto(session.at('git'));
    await page.getByRole('list', { name: 'Manifests', exact: true }).waitFor();
    const commit = await push(manifest(0.2).replace('sinks:', 'sink:'), 'Break pushed-live');
    const errors = page.getByRole('list', { name: 'Import errors' });
    await errors.getByText(/pushed-live\.yaml:\d+/).waitFor({ timeout: patient(30_000) });
    expect(await errors.textContent()).to.include(commit);
    const gate = page.getByRole('group', { name: 'Gate of Pipeline pushed-live' });
    await gate.getByRole('link', { name: /^accepted: .*, failed/ }).waitFor();
    await push(manifest(0.5), 'Mend pushed-live');
    await errors.waitFor({ state: 'detached', timeout: patient(30_000) });
  });

  it('says since when the page is stale while the stream is away, and catches up by itself', async () => {
    const page = await session.page.context().newPage();
    await page.clock.install();
    await page.route('**/api/events', (route) => route.abort());
    await page.goto(session.at('pipelines'));
    await page.getByText('Reconnecting', { exact: true }).waitFor();
    await page.clock.fastForward('00:20');
    await page.getByText(/^Stale since \d/).waitFor();
    await page.unroute('**/api/events');
    await page.getByText('Live', { exact: true }).waitFor({ timeout: patient(30_000) });
    await page.close();
  });

  it('loads however many pages were left before, and is live again when one goes back', async () => {
    // As people have it: pages that were left are kept, with whatever they hold open.
    const browser = await launch({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
    try {
      const context = await browser.newContext({ storageState: await session.page.context().storageState() });
      context.setDefaultTimeout(BROWSER_WAIT_MS);
      const page = await context.newPage();
      // One more than the six connections that a browser opens to one server.
      for (const path of ['fleet', 'git', 'promotions', 'alerts', 'secrets', 'pipelines', 'fleet']) {
        await page.goto(session.at(path));
        await page.getByText('Live', { exact: true }).waitFor();
      }
      // Nothing loads then: the page is shown as it was kept.
      await page.goBack({ waitUntil: 'commit' });
      const commit = await push(manifest(0.3), 'More of pushed-live');
      await page
        .getByRole('group', { name: 'Gate of pushed-live' })
        .getByRole('link', { name: new RegExp(`^accepted: ${commit}`) })
        .waitFor();
    } finally {
      await browser.close();
    }
  });

  it('lets go of the stream in tabs that nobody sees, so that a seventh tab is live as well', async () => {
    const context = session.page.context();
    const see = (page: Page, state: 'hidden' | 'visible') =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
         document.dispatchEvent(new Event('visibilitychange'));`,
      );
    const tabs: Page[] = [];
    try {
      for (let n = 0; n < 6; n += 1) {
        const tab = await context.newPage();
        tabs.push(tab);
        await tab.clock.install();
        await tab.goto(session.at('pipelines'));
        await tab.getByText('Live', { exact: true }).waitFor();
        await see(tab, 'hidden');
        await tab.clock.fastForward('00:11');
      }
      const seventh = await context.newPage();
      tabs.push(seventh);
      await seventh.goto(session.at('fleet'));
      await seventh.getByText('Live', { exact: true }).waitFor();
      const commit = await push(manifest(0.4), 'Unseen by six tabs');
      const [first] = tabs as [Page];
      await see(first, 'visible');
      await first
        .getByRole('group', { name: 'Gate of pushed-live' })
        .getByRole('link', { name: new RegExp(`^accepted: ${commit}`) })
        .waitFor();
    } finally {
      await Promise.all(tabs.map((tab) => tab.close()));
    }
  });
});
