/** The pages of what only a push brings, with a real agent: alert rules, groups, logs, and pipelines that crash. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { Clone } from '../../support/clients/clone.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { freePort } from '../../support/harness/headgate.ts';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { beyondAPhone, LOAD, untilLive, violationsInBothSchemes, watchForErrors } from './browser.ts';
import { openSite, type SiteSession } from './site-session.ts';

const FOLDER = 'staging';

const rule = (name: string, spec: string): string => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name} }
spec: ${spec}
`;

const GROUP = `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: edge }
spec:
  criteria: { name: node }
  labelTemplate: { tier: outer, zone: north }
  requiredLabels: [tier, owner]
`;

/** Comes first by name. */
const OTHER_GROUP = `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: demo }
spec: { criteria: { name: node }, labelTemplate: { tier: trial } }
`;

/** A misspelt field. */
const REFUSED_GROUP = `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: canaries }
spec: { criterias: { ring: "0" } }
`;

/** Twenty JSON lines a second on standard error. */
const CHATTY = `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: chatty }
spec:
  deployed: true
  sources: { demo: { type: demo_logs, format: json, interval: 0.05 } }
  sinks: { out: { type: console, inputs: [demo], target: stderr, encoding: { codec: json } } }
`;

/** Its port is taken: by the controller itself. */
const crashing = (port: string, name = 'crashing'): string => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name} }
spec:
  deployed: true
  sources: { in: { type: http_server, address: "127.0.0.1:${port}" } }
  sinks: { out: { type: blackhole, inputs: [in] } }
`;

/** As the server refuses a read. */
const REFUSAL = {
  error: {
    json: { message: 'It was not to be.', code: -32_600, data: { code: 'BAD_REQUEST', httpStatus: 400 } },
  },
};

describe('the pages of what was pushed', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let clone: Clone;
  let errors: string[];
  let takenPort: string;

  const at = (path: string): string => session.at(path);

  before(async () => {
    session = await openSite({ fleet: { pollIntervalMs: 1_000 } });
    page = session.page;
    errors = watchForErrors(page);
    takenPort = new URL(session.url).port;
    clone = await Clone.of(session.site.cloneUrl());
    await session.site.agent();
    await page.goto(at('alerts?tab=rules'));
    await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor();
    await untilLive(page);
    await clone.push('Rules, a group, three pipelines', {
      [`${FOLDER}/alerts/cpu.yaml`]: // More than a machine has: tests keep it busy.
        rule('Busy CPU', '{ metric: cpu_usage, condition: gt, threshold: 100 }'),
      [`${FOLDER}/alerts/errors.yaml`]: rule(
        'Errors in orders',
        '{ pipelineRef: orders, metric: error_rate, condition: gt, threshold: 5, durationSeconds: 300, enabled: false }',
      ),
      [`${FOLDER}/alerts/bad.yaml`]: rule(
        'Refused rule',
        '{ pipelineRef: not-there, metric: pipeline_crashed, condition: eq, threshold: 1 }',
      ),
      [`${FOLDER}/groups/edge.yaml`]: GROUP,
      [`${FOLDER}/groups/demo.yaml`]: OTHER_GROUP,
      [`${FOLDER}/groups/refused.yaml`]: REFUSED_GROUP,
      [`${FOLDER}/pipelines/orders.yaml`]: idleManifest('orders'),
      [`${FOLDER}/pipelines/chatty.yaml`]: CHATTY,
      [`${FOLDER}/pipelines/crashing.yaml`]: crashing(takenPort),
    });
  });
  after(async () => {
    await clone?.remove();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  async function openPipeline(name: string, query = ''): Promise<void> {
    await page.goto(at('pipelines'));
    const link = page.getByRole('table', { name: 'Pipelines' }).getByRole('link', { name, exact: true });
    await page.goto(`${session.url}${await link.getAttribute('href')}${query}`);
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  }

  it('brings rules into the open page, each in words with its last evaluation, a refused one with its line', async () => {
    const table = page.getByRole('table', { name: 'Alert rules' });
    const row = table.getByRole('row', { name: /Busy CPU/ });
    await row.getByText('CPU usage above 100 % for 60 s').waitFor({ timeout: patient(30_000) });
    await row.getByText('whole environment').waitFor();
    await row.getByRole('link', { name: 'alerts/cpu.yaml:1', exact: true }).waitFor();
    const problem = page.getByRole('list', { name: 'Manifests with a problem' }).getByRole('listitem');
    await problem.getByRole('link', { name: /alerts\/bad\.yaml:\d+/ }).waitFor();
    await problem.getByText('not-there').waitFor();
    await row.getByText(/^1 series/).waitFor({ timeout: patient(30_000) });
    await row.getByText('OK', { exact: true }).waitFor({ timeout: patient(60_000) });
    await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Silent' }).click();
    await page.waitForURL(/state=silent/);
    await page.reload();
    const silent = table.getByRole('row', { name: /Errors in orders/ });
    await silent.getByText('Silent', { exact: true }).waitFor();
    expect(await table.getByRole('row').count(), 'the head and one rule').to.equal(2);
    await silent.getByRole('link', { name: 'orders', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor();
  });

  it('shows groups with the health of their nodes and a refused one, and a group with what it gives and what is missing', async () => {
    await page.goto(at('fleet'));
    await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Groups' }).click();
    await page.waitForURL(/view=groups/);
    const problems = page.getByRole('list', { name: 'Manifests with a problem' });
    await problems.getByText('criterias', { exact: true }).waitFor();
    const row = page.getByRole('table', { name: 'Groups' }).getByRole('row', { name: /edge/ });
    await row.getByRole('list', { name: 'Nodes of edge by health' }).getByRole('link').waitFor();
    await row.getByText('1 node', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'In no group' }).waitFor();
    await row.getByRole('link', { name: 'edge', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'edge' }).waitFor();
    const node = page.getByRole('table', { name: 'Nodes of edge' }).getByRole('row').nth(1);
    await node.getByText('zone=north given').waitFor();
    expect(await problems.count(), 'of another group').to.equal(0);
    await node.getByText('overridden: tier=trial outranks it').waitFor();
    await node.getByText('owner', { exact: true }).waitFor();
    await node.getByRole('link').first().click();
    const labels = page.getByRole('term').filter({ hasText: /^Labels$/ });
    await labels.locator('xpath=following-sibling::dd').getByText('zone=north group').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'edge', exact: true }).waitFor();
    await page.goto(at('fleet/groups/__ungrouped__'));
    await page.getByRole('heading', { level: 1, name: 'Nodes in no group' }).waitFor();
    await page.getByRole('heading', { name: 'Every node is in a group' }).waitFor();
  });

  it('calls rules and groups ready once they are applied, and a pipeline that crashes not', async () => {
    await page.goto(at('git'));
    const manifests = page.getByRole('list', { name: 'Manifests', exact: true });
    const row = (name: string) => manifests.getByRole('listitem').filter({ hasText: name });
    await row('Busy CPU').getByText('Ready', { exact: true }).waitFor();
    const points = row('Busy CPU').getByRole('group').getByRole('link');
    expect(await points.count(), 'git and accepted, as a rule runs nowhere').to.equal(2);
    expect(await points.last().getAttribute('aria-label')).to.match(/^accepted: [0-9a-f]{7}, done/);
    await row('crashing')
      .getByText('Not ready', { exact: true })
      .waitFor({ timeout: patient(30_000) });
    await row('canaries').getByText('Not ready', { exact: true }).waitFor();
  });

  it('says what could not be read in place of the rules and the groups, and reads them again by a click', async () => {
    // News from the node would have it read again before the click.
    const news = (url: URL) => url.pathname === '/api/events';
    await page.route(news, () => {});
    for (const { procedure, path, what, table } of [
      { procedure: 'alert.listRules', path: 'alerts?tab=rules', what: 'Alert rules', table: 'Alert rules' },
      { procedure: 'nodeGroup.list', path: 'fleet?view=groups', what: 'Groups', table: 'Groups' },
    ]) {
      const failing = (url: URL) => url.pathname === `/api/trpc/${procedure}`;
      await page.route(failing, (route) => route.fulfill({ status: 400, json: REFUSAL }));
      await page.goto(at(path), LOAD);
      const alert = page.getByRole('alert');
      await alert.getByRole('heading', { name: `${what} could not be shown` }).waitFor();
      await alert.getByText('It was not to be.').waitFor();
      await page.unroute(failing);
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table', { name: table }).waitFor();
    }
    await page.unroute(news);
  });

  it('says how often a pipeline crashed, when it starts again, and leads to its errors in the log', async () => {
    await openPipeline('crashing');
    const banner = page.getByRole('status').filter({ hasText: 'It crashed on 1 of 1 node' });
    await banner.getByText(/Crashed (once|\d+ times), next start within about \d+ s\./).waitFor({
      timeout: patient(30_000),
    });
    await banner.getByRole('link', { name: 'Its errors in the log' }).click();
    await page.waitForURL(/tab=logs.*level=ERROR/);
    const log = page.getByRole('log', { name: 'Log lines, newest last' });
    await log.getByText('Address already in use').first().waitFor();
    expect(await log.getByText('INFO', { exact: true }).count()).to.equal(0);
    const pressed = page.getByRole('button', { name: 'ERROR', exact: true });
    expect(await pressed.getAttribute('aria-pressed')).to.equal('true');
  });

  it('says which version runs where a newer one failed, and serves that one again on request', async () => {
    const file = `${FOLDER}/pipelines/returned.yaml`;
    await clone.push('A pipeline that runs', { [file]: crashing(String(await freePort()), 'returned') });
    await openPipeline('returned');
    await page.getByText('1/1 running').waitFor({ timeout: patient(30_000) });
    await clone.push('Its port is taken', { [file]: crashing(takenPort, 'returned') });
    const banner = page
      .getByRole('status')
      .filter({ hasText: 'The newer version does not run on 1 of 1 node' });
    await banner.getByText('version 2 crashed repeatedly; the node was returned to version 1.').waitFor({
      timeout: patient(60_000),
    });
    await banner.getByText('Address already in use').waitFor();
    expect(await violationsInBothSchemes(page, 'a pipeline with a failed version')).to.deep.equal([]);
    expect(await beyondAPhone(page, 'a pipeline with a failed version')).to.deep.equal([]);
    await banner.getByRole('button', { name: 'Try again' }).click();
    await page
      .getByRole('status', { name: 'Notes' })
      .getByText('The version is served again. A node where it fails returns to the version before.')
      .waitFor();
    await banner.waitFor({ timeout: patient(60_000) });
  });

  describe('the log of a pipeline', () => {
    let log: Locator;
    before(async () => {
      await openPipeline('chatty', '?tab=logs');
      log = page.getByRole('log', { name: 'Log lines, newest last' });
      await log.getByRole('time').first().waitFor();
    });

    const lastLine = async (): Promise<string> =>
      (await log.getByRole('time').last().getAttribute('datetime')) ?? '';
    const fromEnd = (): Promise<number> =>
      log.evaluate((frame) => frame.scrollHeight - frame.scrollTop - frame.clientHeight);

    it('follows new lines at its end, stays where its reader scrolled to, counts what is new, and goes there by a click', async () => {
      const before = await lastLine();
      await until(async () => (await lastLine()) > before, { what: 'a newer line', timeoutMs: 15_000 });
      await until(async () => (await fromEnd()) <= 24, { what: 'the end' });
      await until(async () => (await log.evaluate((frame) => frame.scrollHeight)) > 2_000, {
        what: 'enough lines to scroll',
        timeoutMs: 30_000,
      });
      await log.hover();
      // Lines that come in the first moment of the turn bring the list back to its end.
      await until(
        async () => {
          await page.mouse.wheel(0, -600);
          return (await fromEnd()) > 500;
        },
        { what: 'the list to leave its end', everyMs: 100 },
      );
      const button = page.getByRole('button', { name: /^\d+ new lines?$/ });
      await button.waitFor({ timeout: patient(15_000) });
      expect(await fromEnd()).to.be.above(500);
      await button.click();
      await until(async () => (await fromEnd()) <= 24, { what: 'the end' });
      await button.waitFor({ state: 'detached' });
    });

    it('reads the lines before when it is scrolled to the top', async () => {
      const count = page.getByText(/^[\d,]+ lines$/);
      const held = async (): Promise<number> => Number((await count.textContent())?.replaceAll(/\D/g, ''));
      // A page begins with the newest 200.
      await until(async () => (await held()) > 250, { what: 'more lines than a page', timeoutMs: 30_000 });
      await page.reload();
      await log.getByRole('time').first().waitFor();
      const before = await held();
      await log.hover();
      await page.mouse.wheel(0, -100_000);
      await until(async () => (await held()) >= before + 50, { what: 'the lines before' });
      await until(
        async () => {
          await page.mouse.wheel(0, -1_000_000);
          return log.getByText('Nothing is kept from before.').isVisible();
        },
        { what: 'the first line that is kept', timeoutMs: 15_000 },
      );
      await page.getByRole('button', { name: /^(\d+ new lines?|To the newest)$/ }).click();
      await until(async () => (await fromEnd()) <= 24, { what: 'the end' });
    });

    it('unfolds a JSON line, and copies it', async () => {
      await log.hover();
      const newest = page.getByRole('button', { name: /^(\d+ new lines?|To the newest)$/ });
      // What follows the newest line moves under the focus, until it leaves the document.
      await until(
        async () => {
          await page.mouse.wheel(0, -300);
          return newest.isVisible();
        },
        { what: 'the list to hold still', everyMs: 100 },
      );
      const foldable = log.getByRole('button', { name: 'Unfold the JSON' });
      await foldable.nth(Math.floor((await foldable.count()) / 2)).focus();
      await page.keyboard.press('Enter');
      await log.getByRole('button', { name: 'Unfold the JSON', expanded: true }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await log.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).to.match(/^\{\n {2}"/);
      expect(JSON.parse(copied)).to.have.property('message');
    });

    it('narrows by level, text and time in the address, and says when nothing matches', async () => {
      await page.getByRole('searchbox', { name: 'Only lines with this text' }).fill('no line has this');
      await page.waitForURL(/text=no/);
      await page.getByRole('heading', { name: 'No line matches' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'No line matches' }).waitFor();
      await page.getByRole('button', { name: 'Show all lines' }).click();
      await log.getByRole('time').first().waitFor();
      await page
        .getByRole('group', { name: /^Levels/ })
        .getByRole('button', { name: 'INFO' })
        .click();
      await page
        .getByRole('group', { name: 'Received since' })
        .getByRole('button', { name: '15 min' })
        .click();
      await page.waitForURL(/level=INFO.*since=15m/);
      await log.getByText('INFO', { exact: true }).first().waitFor();
    });
  });

  it('shows the lines of all its pipelines on the page of a node', async () => {
    await page.goto(at('fleet'));
    await page.getByRole('table', { name: 'Nodes' }).getByRole('link').first().click();
    const logs = page.getByRole('region', { name: 'Logs' });
    await logs.getByRole('combobox', { name: 'Lines of which pipeline' }).selectOption({ label: 'chatty' });
    await page.waitForURL(/pipeline=/);
    await logs.getByRole('log').getByText('chatty', { exact: true }).first().waitFor();
  });
});
