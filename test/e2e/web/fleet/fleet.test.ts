/** Nodes and groups of nodes as a person looks after them, with agents that are played by HTTP. */
import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { enrollNode, heartbeat, type TestNode } from '../../../support/agents/agent-client.ts';
import { soundGraph } from '../../../support/fixtures/graphs.ts';
import { until } from '../../../support/harness/until.ts';
import {
  beyondAPhone,
  closeByEscape,
  LOAD,
  settles,
  violationsInBothSchemes,
  watchForErrors,
} from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const IN_CONTAINER = 'hub-2';
const SUM = `sha256:${'ab'.repeat(32)}`;

/** A release as `make agent-release` leaves it; nobody loads its file. */
async function writeRelease(folder: string, version: string): Promise<void> {
  const place = join(folder, version);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'headgate-agent-linux-x64'), 'not loaded');
  const file = { os: 'linux', arch: 'x64', libc: 'glibc', name: 'headgate-agent-linux-x64' };
  await writeFile(
    join(place, 'release.json'),
    JSON.stringify({
      ...{ version, channel: 'stable', releasedAt: '2026-01-02T03:04:05Z' },
      files: [{ ...file, checksum: SUM, bytes: 10, signature: null }],
    }),
  );
}

describe('the pages of nodes', function () {
  this.timeout(240_000);
  let releases: string;
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let pipelineId: string;
  const nodes = new Map<string, TestNode>();

  /** What an agent reports that runs what it should, of this moment. */
  const beat = async (name: string, more: Record<string, unknown> = {}): Promise<void> => {
    const role = name.split('-')[0];
    const running = role === 'edge' ? [{ pipelineId, version: 1, status: 'RUNNING', eventsIn: 1 }] : [];
    const deploymentMode = name === IN_CONTAINER ? 'DOCKER' : 'STANDALONE';
    const said = { labels: { role }, pipelines: running, deploymentMode, ...more };
    // A pipeline that was made a moment ago may not be known yet.
    const isTaken = async (): Promise<boolean> =>
      (await nodes.get(name)?.heartbeat(heartbeat(said)))?.json<{ rejected?: object[] }>().rejected ===
      undefined;
    await until(isTaken, { what: `the heartbeat of ${name} to be taken` });
  };

  before(async () => {
    releases = mkdtempSync(join(tmpdir(), 'headgate-releases-'));
    await writeRelease(releases, 'v0.7.0');
    session = await openSite({
      // One heartbeat holds for the whole test.
      fleet: { pollIntervalMs: 600_000 },
      controller: { variables: { HEADGATE_AGENT_RELEASES: releases } },
    });
    page = session.page;
    errors = watchForErrors(page);
    const { environmentId } = session.site;
    const api = await session.site.api();
    const made = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name: 'orders' });
    pipelineId = made.id;
    await api.mutate('pipeline.saveGraph', { pipelineId, ...soundGraph() });
    await api.mutate('pipeline.update', { id: pipelineId, nodeSelector: { role: 'edge' } });
    await api.mutate('deploy.agent', { pipelineId, changelog: '' });
    const token = await session.site.enrollmentToken();
    for (const hostname of ['edge-1', 'hub-1', 'hub-2']) {
      nodes.set(hostname, await enrollNode(session.url, token, { hostname }));
      await beat(hostname);
    }
  });
  after(async () => {
    await session?.close();
    await rm(releases, { recursive: true, force: true });
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const table = (): Locator => page.getByRole('table', { name: 'Nodes', exact: true });
  const row = (name: string): Locator => table().getByRole('row').filter({ hasText: name });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text);
  const idOf = (name: string): string => nodes.get(name)?.nodeId ?? '';
  const openNode = async (name: string, on = page): Promise<void> => {
    await on.goto(session.at(`fleet/${idOf(name)}`));
    await on.getByRole('heading', { name, level: 1 }).waitFor();
  };
  const seen = async (name: string): Promise<FleetNode> =>
    (await session.site.api()).query<FleetNode>('fleet.get', { id: idOf(name) });
  const act = async (name: string, item: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions on ${name}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  describe('their list', () => {
    it('takes a node that is made by hand, from the palette, and refuses a second one that waits for its host', async () => {
      await page.goto(session.at('overview'));
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      const box = page.getByRole('combobox', { name: 'Go to anything' });
      await box.fill('add a node');
      await box.press('Enter');
      const form = dialog('Add a node by hand');
      await form.getByLabel('Name').fill('cellar');
      await form.getByLabel('Host').fill('cellar 1');
      await form.getByText('A host name has no spaces.').waitFor();
      await form.getByLabel('Host').fill('cellar-1');
      await form.getByLabel('Port of its agent').fill('99999');
      await form.getByText('A whole number from 1 to 65,535, or nothing.').waitFor();
      await form.getByLabel('Port of its agent').fill('9090');
      expect(await violationsInBothSchemes(page, 'adding a node')).to.deep.equal([]);
      await form.getByRole('button', { name: 'Add the node' }).click();
      await form.waitFor({ state: 'hidden' });
      await note('cellar waits for an agent from cellar-1.').waitFor();
      await row('cellar').getByText('Never heard').waitFor();
      await page.getByRole('button', { name: 'Add by hand' }).click();
      await form.getByLabel('Name').fill('another');
      await form.getByLabel('Host').fill('cellar-1');
      await form.getByRole('button', { name: 'Add the node' }).click();
      await form
        .getByRole('alert')
        .getByText(/is already waiting for the host "cellar-1"/)
        .waitFor();
      await closeByEscape(page);
    });

    it('shows the lines that enroll one within the dialog, on a phone too', async () => {
      await page.goto(session.at('fleet?new=enroll'));
      const form = dialog('Enroll a node');
      await form.getByRole('button', { name: 'Generate token' }).click();
      await form.getByText('is shown only now').waitFor();
      const inFrame = async (): Promise<boolean> => {
        const frame = await form.boundingBox();
        const inner = await Promise.all(
          [
            form.getByRole('button', { name: 'Done' }),
            form.getByRole('button', { name: /^Copy/ }).first(),
          ].map((each) => each.boundingBox()),
        );
        return inner.every((box) => !!box && !!frame && box.x + box.width <= frame.x + frame.width);
      };
      expect(await inFrame(), 'on a desk').to.equal(true);
      await page.setViewportSize({ width: 390, height: 844 });
      await settles(inFrame, true, 'all to be within the dialog');
      await page.setViewportSize({ width: 1440, height: 900 });
      await form.getByRole('button', { name: 'Done' }).click();
    });

    it('puts several into maintenance with what that stops, one refusal stopping no other, and takes it back', async () => {
      await page.goto(session.at('fleet'));
      for (const name of ['cellar', 'edge-1', 'hub-1'])
        await table()
          .getByRole('checkbox', { name: `Select ${name}` })
          .check();
      const bar = page.getByRole('region', { name: 'Selected nodes' });
      await bar.getByRole('button', { name: 'Put into maintenance' }).click();
      const form = dialog('Put 3 nodes into maintenance');
      await form.getByText('This stops 1 process on 1 node.').waitFor();
      expect(await violationsInBothSchemes(page, 'maintenance of several')).to.deep.equal([]);
      // One of them goes meanwhile.
      const { id } = (await session.site.nodes()).find(({ name }) => name === 'cellar') ?? { id: '' };
      await (await session.site.api()).mutate('fleet.delete', { id });
      await form.getByRole('button', { name: 'Put 3 nodes into maintenance' }).click();
      const outcomes = form.getByRole('list', { name: 'Nodes that are acted on' });
      await outcomes.getByRole('listitem').filter({ hasText: 'cellar' }).getByText('refused').waitFor();
      await outcomes.getByRole('listitem').filter({ hasText: 'edge-1' }).getByText('done').waitFor();
      await outcomes.getByRole('listitem').filter({ hasText: 'hub-1' }).getByText('done').waitFor();
      await form.getByText('3 of 3 nodes, 1 refused').waitFor();
      await form.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('combobox', { name: 'State' }).selectOption('In maintenance');
      await page.waitForURL(/state=maintenance/);
      await page.getByText('2 nodes', { exact: true }).waitFor();
      await table().getByRole('checkbox', { name: 'Select all nodes' }).check();
      await bar.getByRole('button', { name: 'End maintenance' }).click();
      const end = dialog('End the maintenance of 2 nodes');
      await end.getByText('This starts 1 process on 1 node.').waitFor();
      await end.getByRole('button', { name: 'End the maintenance' }).click();
      await note('The maintenance of 2 nodes has ended.').waitFor();
      await page.getByText('No node here.').waitFor();
    });

    it('asks several agents to update themselves, and says which it leaves out', async () => {
      await page.goto(session.at('fleet'), LOAD);
      for (const name of ['hub-1', 'hub-2'])
        await table()
          .getByRole('checkbox', { name: `Select ${name}` })
          .check();
      await page
        .getByRole('region', { name: 'Selected nodes' })
        .getByRole('button', { name: 'Update the agents' })
        .click();
      const form = dialog('Update the agents of 2 nodes');
      await form.getByText('v0.7.0').first().waitFor();
      await form.getByText('1 node is left out').click();
      await form.getByText('hub-2: runs in a container: pull a new image instead').waitFor();
      await form.getByRole('button', { name: 'Update the agent' }).click();
      await note('The update of hub-1 was asked for.').waitFor();
      await row('hub-1').getByText('v0.7.0').waitFor();
      await page.getByRole('combobox', { name: 'State' }).selectOption('Update under way');
      await page.getByText('1 node', { exact: true }).waitFor();
    });
  });

  describe('the page of one', () => {
    it('shows an update under way, and takes it back', async () => {
      await openNode('hub-1');
      const agent = page.getByRole('region', { name: 'Agent', exact: true });
      await agent.getByText('Updating to v0.7.0').waitFor();
      await agent.getByText('Not begun yet').waitFor();
      expect(await violationsInBothSchemes(page, 'an update under way')).to.deep.equal([]);
      await agent.getByRole('button', { name: 'Cancel the update' }).click();
      await note('The update of hub-1 to v0.7.0 was taken back.').waitFor();
      await agent.getByText('Updating to v0.7.0').waitFor({ state: 'detached' });
    });

    it('offers the file for its system, takes another one, and shows what the controller refuses', async () => {
      await openNode('hub-1');
      await act('hub-1', 'Update the agent…');
      const form = dialog('Update the agent of hub-1');
      await form.getByText('0.6.0 → v0.7.0').waitFor();
      await form.getByText(SUM).waitFor();
      await form.getByLabel('C library of the machine').selectOption('musl: Alpine and alike');
      await form.getByText('hub-1: v0.7.0 has no file for linux/x64, musl.').waitFor();
      await settles(() => form.getByRole('button', { name: 'Update the agent' }).isDisabled(), true);
      await form.getByRole('button', { name: 'Another file' }).click();
      await form.getByLabel('Version').fill('v0.8.0');
      await form.getByLabel('Address of the file').fill('http://example.org/agent');
      await form.getByLabel('SHA-256 of the file').fill('12');
      await form.getByText('64 hexadecimal digits, as sha256sum prints them.').waitFor();
      await form.getByLabel('SHA-256 of the file').fill('cd'.repeat(32));
      expect(await violationsInBothSchemes(page, 'updating an agent')).to.deep.equal([]);
      await form.getByRole('button', { name: 'Update the agent' }).click();
      await form
        .getByRole('alert')
        .getByText(/must begin with https/)
        .waitFor();
      await form.getByLabel('Address of the file').fill('https://example.org/agent');
      await form.getByRole('button', { name: /Update the agent|Try the rest again/ }).click();
      await note('The update of hub-1 was asked for.').waitFor();
      await page.getByText('Updating to v0.8.0').waitFor();
      // The agent tells that it could not.
      await nodes.get('hub-1')?.config();
      const failed = async (): Promise<boolean> => {
        await beat('hub-1', { updateError: 'download failed: 404' });
        return (await seen('hub-1')).failedUpdates.length > 0;
      };
      await until(failed, { what: 'the failure to be kept' });
      await page
        .getByRole('list', { name: 'Updates that failed' })
        .getByText('Download failed: 404.')
        .waitFor();
    });

    it('says of a container that a new image is pulled; foretells what labels start and stop, and saves them', async () => {
      await openNode('hub-2');
      await page.getByText('in a container').waitFor();
      await act('hub-2', 'Update the agent…');
      await dialog('Update the agent of hub-2').getByText('docker compose pull').waitFor();
      await closeByEscape(page);
      await page.getByRole('button', { name: 'Edit labels' }).click();
      const form = dialog('Labels of hub-2');
      await form.getByText('No pipeline starts or stops by this.').waitFor();
      await form.getByRole('button', { name: 'Add a label' }).click();
      await form.getByLabel('Key of label 1').fill('role');
      await form.getByLabel('Value of label 1').fill('edge');
      await form.getByText('Starts here: orders.').waitFor();
      await form.getByText('overridden: role=edge is set here').waitFor();
      expect(await violationsInBothSchemes(page, 'labels of a node')).to.deep.equal([]);
      await form.getByRole('button', { name: 'Save the labels' }).click();
      await note('The labels of hub-2 were saved. Starts here: orders.').waitFor();
      await page.getByRole('table', { name: 'Pipelines on hub-2' }).getByText('orders').waitFor();
      await page.getByRole('button', { name: 'Edit labels' }).click();
      await form.getByRole('button', { name: 'Remove label 1' }).click();
      await form.getByText('Stops here: orders.').waitFor();
      await form.getByRole('button', { name: 'Save the labels' }).click();
      await note('The labels of hub-2 were saved. Stops here: orders.').waitFor();
    });

    it('renames it, and names in the maintenance dialog what stops, from the palette too', async () => {
      await beat('edge-1');
      await openNode('edge-1');
      await act('edge-1', 'Rename…');
      const form = dialog('Rename edge-1');
      await form.getByLabel('Name').fill('first edge');
      await form.getByRole('button', { name: 'Save the name' }).click();
      await form.waitFor({ state: 'hidden' });
      await page.getByRole('heading', { name: 'first edge', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      const box = page.getByRole('combobox', { name: 'Go to anything' });
      await box.fill('put first edge into');
      await page.getByRole('option', { name: 'Put first edge into maintenance' }).waitFor();
      await box.press('Enter');
      const hold = dialog('Put first edge into maintenance');
      await hold.getByText('This stops 1 process on 1 node: orders.').waitFor();
      await hold.getByRole('button', { name: 'Put first edge into maintenance' }).click();
      await page.getByText('In maintenance', { exact: true }).waitFor();
      await note('first edge is in maintenance.').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('In maintenance', { exact: true }).waitFor({ state: 'detached' });
    });

    it('is put into maintenance and back by keys alone, the focus staying on the button', async () => {
      await openNode('hub-1');
      const focused = () => page.evaluate<string>(`document.activeElement.textContent.trim()`);
      const isInDialog = () =>
        page.evaluate<boolean>(`document.activeElement?.closest('[role=dialog]') != null`);
      for (const [from, to, dialogName] of [
        ['Put into maintenance', 'End maintenance', 'Put hub-1 into maintenance'],
        ['End maintenance', 'Put into maintenance', 'End the maintenance of hub-1'],
      ] as const) {
        await page.getByRole('button', { name: from, exact: true }).press('Enter');
        const form = dialog(dialogName);
        // It takes the focus a moment after it is there.
        await until(isInDialog, { what: () => `${dialogName} to have the focus` });
        await form.getByRole('button', { name: 'Cancel' }).focus();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await form.waitFor({ state: 'hidden' });
        await settles(focused, to, 'the focus');
      }
    });

    it('restarts an agent', async () => {
      await openNode('hub-1');
      await act('hub-1', 'Restart the agent…');
      const form = dialog('Restart the agent of hub-1');
      await form.getByRole('button', { name: 'Restart the agent' }).click();
      await note('The agent of hub-1 was asked to restart.').waitFor();
    });

    it('leaves to an ADMIN what is his, and nothing to a VIEWER', async () => {
      const user = await session.as('EDITOR');
      const item = (name: string) => user.getByRole('menuitem', { name });
      await openNode('hub-1', user);
      await user.getByRole('button', { name: 'Actions on hub-1' }).click();
      await user.getByText('Updating, restarting and revoking need ADMIN').waitFor();
      await settles(() => item('Revoke its token…').isDisabled(), true);
      await settles(() => item('Rename…').isDisabled(), false);
      await closeByEscape(user);
      await user.goto(session.at('fleet?view=groups'));
      await settles(() => user.getByRole('button', { name: 'New node group' }).isDisabled(), true);
      await session.site
        .db('team_members')
        .whereIn('user_id', session.site.db('users').where({ email: 'editor@example.org' }).select('id'))
        .update({ role: 'VIEWER' });
      await user.goto(session.at('fleet?new=node'), LOAD);
      await settles(() => user.getByRole('button', { name: 'Add by hand' }).isDisabled(), true);
      await user.getByRole('checkbox', { name: 'Select hub-1' }).check();
      const bar = user.getByRole('region', { name: 'Selected nodes' });
      await settles(() => bar.getByRole('button', { name: 'Delete' }).isDisabled(), true);
      await user.goto(session.at(`fleet/${idOf('hub-1')}?do=maintenance`));
      await user.getByRole('heading', { name: 'hub-1', level: 1 }).waitFor();
      await settles(() => user.getByRole('button', { name: 'Edit labels' }).isDisabled(), true);
      await settles(() => user.getByRole('button', { name: 'Put into maintenance' }).isDisabled(), true);
      expect(await user.getByRole('dialog').count()).to.equal(0);
      await user.getByRole('button', { name: 'Actions on hub-1' }).click();
      await settles(() => item('Delete…').isDisabled(), true);
      await item('Delete…').click({ force: true });
      expect(await user.getByRole('dialog').count()).to.equal(0);
      // It has the focus, though nothing in it may be done.
      await closeByEscape(user);
      await user.getByRole('menu').waitFor({ state: 'detached' });
      await user.context().close();
    });

    it('revokes a token, says what to do, and deletes the node with a warning while it is heard', async () => {
      await beat('hub-2');
      await openNode('hub-2');
      await act('hub-2', 'Revoke its token…');
      const form = dialog('Revoke the token of hub-2');
      await form.getByRole('button', { name: 'Revoke the token' }).click();
      await form.waitFor({ state: 'hidden' });
      await page.getByText('The token of this node was revoked').waitFor();
      await page.getByText('Revoked', { exact: true }).waitFor();
      const found = await violationsInBothSchemes(page, 'a revoked node');
      found.push(...(await beyondAPhone(page, 'a revoked node')));
      expect(found, found.join('\n')).to.deep.equal([]);
      await beat('hub-1');
      await openNode('hub-1');
      const other = await page.context().newPage();
      await openNode('hub-1', other);
      await page.getByText('Healthy', { exact: true }).first().waitFor();
      await act('hub-1', 'Delete…');
      const remove = dialog('Delete hub-1');
      await remove.getByText('its engines run on until the agent is stopped').waitFor();
      expect(await violationsInBothSchemes(page, 'deleting')).to.deep.equal([]);
      await remove.getByRole('button', { name: 'Delete hub-1' }).click();
      await note('hub-1 was deleted.').waitFor();
      await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor();
      await settles(() => row('hub-1').count(), 0);
      // A page that shows it elsewhere does not go on as if it were there.
      await other.getByText('This node could not be shown').waitFor();
      await other.getByRole('link', { name: 'Fleet' }).last().click();
      await other.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor();
      await other.close();
    });

    it('is out of the list once it is archived, until archived nodes are asked for', async () => {
      // Its token was revoked, so that its agent does not bring it back.
      const archive = (archived_at: Date | null) =>
        session.site
          .db('nodes')
          .where({ id: idOf('hub-2') })
          .update({ archived_at });
      await archive(new Date(Date.now() - 3_600_000));
      await page.goto(session.at('fleet'));
      await table().waitFor();
      await settles(() => row('hub-2').count(), 0);
      // Its state follows the address of the page, a moment after the click.
      await page.getByLabel('Show archived').click();
      await row('hub-2').getByText('Archived', { exact: true }).waitFor();
      await row('hub-2').getByText('Archived since').waitFor();
      const found = await violationsInBothSchemes(page, 'archived nodes');
      found.push(...(await beyondAPhone(page, 'archived nodes')));
      expect(found, found.join('\n')).to.deep.equal([]);
      await page.reload();
      await row('hub-2').waitFor();
      await page.getByLabel('Show archived').click();
      await settles(() => row('hub-2').count(), 0);
      await archive(null);
    });
  });

  describe('groups', () => {
    const groups = (): Locator => page.getByRole('table', { name: 'Groups' });

    it('makes one, with how many nodes match as it is typed', async () => {
      await page.goto(session.at('fleet?view=groups'));
      await page.getByRole('button', { name: 'New node group' }).click();
      const form = dialog('New node group');
      await form.getByText('2 of 2 nodes match now').waitFor();
      await form.getByLabel('Name').fill('edges');
      await form.getByLabel('Key of pair 1').fill('role');
      await form.getByLabel('Value of pair 1').fill('edge');
      await form.getByText('1 of 2 nodes match now: first edge.').waitFor();
      await form.getByRole('button', { name: 'Add a label' }).click();
      await form.getByLabel('Key of label 1').fill('tier');
      await form.getByLabel('Value of label 1').fill('outer');
      await form.getByLabel('Labels that they must have').fill('zone, tier');
      expect(await violationsInBothSchemes(page, 'a new group')).to.deep.equal([]);
      await form.getByRole('button', { name: 'Make the group' }).click();
      await note('edges was saved, with 1 node.').waitFor();
      await groups().getByRole('link', { name: 'edges', exact: true }).waitFor();
      await groups().getByText('1 node', { exact: true }).waitFor();
    });

    it('foretells who joins and leaves, and which pipelines start and stop by that', async () => {
      await page.getByRole('button', { name: 'New node group' }).click();
      const form = dialog('New node group');
      await form.getByText('No pipeline starts or stops by this.').waitFor();
      await form.getByLabel('Key of pair 1').fill('role');
      await form.getByLabel('Value of pair 1').fill('edge');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.keyboard.type('role');
      await settles(() => form.getByLabel('Key of pair 2').inputValue(), 'role');
      await form.getByText('role stands twice: take one away.').waitFor();
      await form.getByRole('button', { name: 'Remove pair 2' }).press('Enter');
      await settles(
        () =>
          page.evaluate<string | null>(
            `document.activeElement && document.activeElement.getAttribute('aria-label')`,
          ),
        'Remove pair 1',
      );
      await form.getByRole('button', { name: 'Add a label' }).click();
      await page.keyboard.type('role');
      await form.getByLabel('Value of label 1').fill('hub');
      // The label is the agent's own: whether it gives way is not in the list.
      await form.getByText(/May start or stop more on 1 node/).waitFor();
      await closeByEscape(page);
    });

    it('changes it from its page, and deletes it with what its nodes lose', async () => {
      await groups().getByRole('link', { name: 'edges', exact: true }).click();
      await page.getByRole('heading', { name: 'edges', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      const form = dialog('Change edges');
      await form.getByLabel('Value of pair 1').fill('hub');
      await form.getByText('Leaves: first edge.').waitFor();
      await form.getByLabel('Value of pair 1').fill('edge');
      await form.getByLabel('Labels that they must have').fill('tier');
      await form.getByRole('button', { name: 'Save the group' }).click();
      await note('edges was saved, with 1 node.').waitFor();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const remove = dialog('Delete edges');
      await remove.getByText(/without the labels that it gave: tier=outer/).waitFor();
      await remove.getByText('No pipeline starts or stops by this.').waitFor();
      await remove.getByRole('button', { name: 'Delete the group' }).click();
      await page.getByRole('heading', { name: 'No groups yet' }).waitFor();
    });
  });
});
