/** Pipelines that people make, from the list and on their own page, beside one that git describes; the node is played. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { enrollNode, heartbeat, type TestNode } from '../../../support/agents/agent-client.ts';
import { acceptingEngine } from '../../../support/fixtures/engine-schema/scripted-engine.ts';
import { component, soundGraph } from '../../../support/fixtures/graphs.ts';
import { namedPipeline } from '../../../support/fixtures/pipelines.ts';
import { until } from '../../../support/harness/until.ts';
import { pipelineInGit } from '../../../support/scenes/pipeline-in-git.ts';
import { closeByEscape, expectUsable, LOAD, settles, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

/** Of no node. */
const NOWHERE = { role: 'nowhere' };

describe('pipelines made by hand', function () {
  this.timeout(240_000);
  const engine = acceptingEngine();
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  let node: TestNode;
  let env: string;
  let lab: string;
  let production: string;

  before(async () => {
    session = await openSite({
      // One heartbeat holds until the next one.
      fleet: { pollIntervalMs: 600_000 },
      controller: { variables: { HEADGATE_ENGINE_BIN: engine.bin } },
    });
    ({ page } = session);
    env = session.site.environmentId;
    errors = watchForErrors(page);
    api = await session.site.api();
    const { teamId } = session.site;
    const another = async (name: string) =>
      (await api.mutate<{ id: string }>('environment.create', { name, teamId })).id;
    lab = await another('lab');
    production = await another('production');
    await pipelineInGit(session.site);
    node = await enrollNode(session.url, await session.site.enrollmentToken(), { hostname: 'edge-1' });
    await node.heartbeat(heartbeat());
  });
  after(async () => {
    await session?.close();
    engine.remove();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  async function made(name: string, graph = soundGraph(), environmentId = env): Promise<string> {
    const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name });
    await api.mutate('pipeline.saveGraph', { pipelineId: id, ...graph });
    return id;
  }
  async function madeForNoNode(name: string): Promise<string> {
    const id = await made(name);
    await api.mutate('pipeline.update', { id, nodeSelector: NOWHERE });
    return id;
  }
  /** What the only node reports once the version is deployed. */
  async function runs(pipelineId: string, version: number): Promise<void> {
    const isDeployed = async () => (await stored(pipelineId)).deployedVersionNumber === version;
    await until(isDeployed, { what: `version ${version} to be deployed` });
    const body = heartbeat({ pipelines: [{ pipelineId, version, status: 'RUNNING' }] });
    const isTaken = async () =>
      (await node.heartbeat(body)).json<{ rejected?: object[] }>().rejected === undefined;
    await until(isTaken, { what: 'the heartbeat to be taken' });
  }
  const stored = (id: string) => api.query<Pipeline>('pipeline.get', { id });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const table = (): Locator => page.getByRole('table', { name: 'Pipelines' });
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text);

  const isUsable = async (where: string): Promise<void> => {
    await settles(() => page.getByRole('status', { name: /^(Loading|Checking)/ }).count(), 0);
    await expectUsable(page, where);
  };

  const leaky = () => {
    const { nodes, edges } = soundGraph();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret, as configs write it.
    const uri = 'http://127.0.0.1:9/${SVC_SECRET_PATH}';
    const auth = { strategy: 'basic', user: 'ada', password: 'hunter2' };
    const out = component('out', 'http', 'SINK', { uri, encoding: { codec: 'json' }, auth });
    return { nodes: [...nodes.slice(0, 2), out], edges };
  };
  /** Opens the menu of a row, or of the page, and takes an entry. */
  async function act(name: string, entry: string): Promise<void> {
    await button(`Actions on ${name}`).click();
    await page.getByRole('menuitem', { name: entry }).click();
  }
  async function openList(query = '', environmentId = env): Promise<void> {
    await page.goto(session.at(`pipelines${query}`, environmentId));
    await table().waitFor();
  }
  async function openPage(id: string, query = ''): Promise<void> {
    await page.goto(session.at(`pipelines/${id}${query}`));
    await page.getByRole('group', { name: /^Gate of/ }).waitFor();
  }
  /** The page with its dialog on top. */
  async function openDeploy(id: string, name: string, query = ''): Promise<Locator> {
    await page.goto(session.at(`pipelines/${id}?deploy=1${query}`));
    const form = dialog(`Deploy ${name}`);
    await form.waitFor();
    return form;
  }

  it('makes a pipeline by its name, tells what is wrong with one, and leads to the editor', async () => {
    await openList();
    await button('New pipeline').click();
    const form = dialog('New pipeline');
    await form.getByLabel('Name').fill('-dash');
    await form.getByText('Begin with a letter or digit').waitFor();
    await settles(() => form.getByRole('button', { name: 'Make the pipeline' }).isDisabled(), true);
    await form.getByLabel('Name').fill('orders');
    await form.getByRole('button', { name: 'Make the pipeline' }).click();
    await form.getByRole('alert').getByText('exists already').first().waitFor();
    await form.getByLabel('Name').fill('fresh');
    await isUsable('the dialog of a new pipeline');
    await form.getByLabel('Description').fill('From an empty canvas');
    await form.getByRole('button', { name: 'Make the pipeline' }).click();
    await page.waitForURL(/\/edit$/);
    const { description, isDraft } = await stored((await namedPipeline(api, env, 'fresh')).id);
    expect({ description, isDraft }).to.deep.equal({ description: 'From an empty canvas', isDraft: true });
  });

  describe('one of them', () => {
    let id: string;

    it('is deployed once it is sound, with where that goes and what it ships, and watched until it runs', async () => {
      id = await made('turns', soundGraph('.a = upcasee("x")'));
      const form = await openDeploy(id, 'turns');
      const problem = form.getByRole('list', { name: 'Validation errors' }).getByRole('link');
      await settles(() => problem.textContent(), 'mark, source, line 1:6');
      await settles(() => form.getByRole('button', { name: /^Deploy version 1/ }).isDisabled(), true);
      await problem.click();
      await page.waitForURL(/\/edit\?component=mark/);

      await api.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph() });
      await openDeploy(id, 'turns');
      await form.getByRole('list', { name: 'Nodes that will run it' }).getByText('Healthy').waitFor();
      await settles(
        () => form.getByRole('list', { name: 'Levels of validation' }).getByText('passed').count(),
        6,
      );
      await form
        .getByRole('textbox', { name: 'Configuration to be deployed' })
        .getByText('demo_logs')
        .waitFor();
      await isUsable('the deploy');
      await form.getByLabel('What changed, and why').fill('The first one');
      await form.getByRole('button', { name: 'Deploy version 1 to 1 node' }).click();
      await runs(id, 1);
      await form.getByText('Version 1 runs on 1 node.').waitFor();
      await form.getByRole('group', { name: 'Gate of turns' }).getByText('v1').nth(2).waitFor();
      await form.getByRole('button', { name: 'Done' }).click();
      await form.waitFor({ state: 'hidden' });
      expect(page.url()).not.to.include('deploy=1');
      await button('Deploy').waitFor();
    });

    it('has its versions compared, shows what a rollback changes, and is rolled back', async () => {
      await api.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph('.seen = "second"') });
      await openPage(id);
      await page.getByText('Changes not deployed').waitFor();
      await button('Deploy').click();
      const form = dialog('Deploy turns');
      await form.getByRole('region', { name: 'What changes' }).getByText('.seen = "second"').waitFor();
      await form.getByRole('button', { name: 'Deploy version 2 to 1 node' }).click();
      await runs(id, 2);
      await form.getByText('Version 2 runs on 1 node.').waitFor();
      await form.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('tab', { name: 'Versions' }).click();
      const compared = page.getByRole('region', { name: 'v1 → v2' });
      await compared.getByText('.seen = "second"').waitFor();
      await compared.getByRole('button', { name: 'Side by side' }).click();
      await compared.getByRole('textbox', { name: 'Version 1' }).getByText('.seen = true').waitFor();
      await compared.getByRole('button', { name: 'Unified' }).click();

      await button('Roll back to version 1').click();
      const back = dialog('Roll turns back to version 1');
      await back.getByText('It restarts on 1 node.').waitFor();
      const change = back.getByRole('region', { name: 'What changes against now' });
      await change.getByText('.seen = true').waitFor();
      await isUsable('the rollback');
      await back.getByRole('button', { name: 'Roll back to version 1' }).click();
      await runs(id, 3);
      await back.getByText('Version 3 runs on 1 node.').waitFor();
      expect((await stored(id)).nodes.find(({ componentKey }) => componentKey === 'mark')?.config).to.include(
        {
          source: '.seen = true',
        },
      );
    });

    it('gets a version from YAML, and says of a mistake in which line and column it stands', async () => {
      await openPage(id, '?tab=versions');
      await button('New version from YAML').click();
      const form = dialog('New version of turns from YAML');
      const text = form.getByRole('textbox', { name: 'Engine config in YAML' });
      await text.getByText('demo_logs').waitFor();
      await isUsable('the version from YAML');
      await text.press('Control+a');
      await page.keyboard.insertText('sources:\n  ticks: { type: demo_logs, format: json }\nsinks: [');
      await form
        .getByRole('list', { name: 'Problems of the config' })
        .getByRole('button', { name: /^line [34]:\d+$/ })
        .first()
        .waitFor();
      await text.press('Control+a');
      await page.keyboard.insertText(
        'sources:\n  ticks: { type: demo_logs, format: json }\nsinks:\n  out: { type: blackhole, inputs: [ticks] }\n',
      );
      await form.getByRole('list', { name: 'Problems of the config' }).waitFor({ state: 'hidden' });
      await form.getByLabel('What changed, and why').fill('Written as text');
      await form.getByRole('button', { name: 'Make the version' }).click();
      await note('Version 4 is made. It is not deployed.').waitFor();
      await page.getByRole('table', { name: 'Versions' }).getByText('Written as text').waitFor();
      const pipeline = await stored(id);
      expect(pipeline).to.include({ latestVersionNumber: 4, deployedVersionNumber: 3 });
      expect(pipeline.nodes.map(({ componentKey }) => componentKey).sort()).to.deep.equal(['out', 'ticks']);
    });

    it('changes name, nodes, log level, drain time and auto revert, with the nodes that match while they are typed', async () => {
      await openPage(id, '?tab=settings');
      const matching = page.getByRole('status', { name: 'Nodes that match' });
      await matching.getByText('1 node of 1 matches.').waitFor();
      await isUsable('the settings');
      await button('Add a pair').click();
      await page.getByLabel('Key of pair 1').fill('role');
      await page.getByLabel('Value of pair 1').fill('nowhere');
      await matching.getByText('0 nodes of 1 match.').waitFor();
      await page.getByLabel('Name', { exact: true }).fill('settled well');
      await page.getByLabel('Log level of the engine').selectOption('debug');
      await page.getByLabel('Drain time in seconds').fill('601');
      await page.getByText('Give whole seconds from 1 to 600, or nothing for 25.').waitFor();
      await settles(() => button('Save the settings').isDisabled(), true);
      await page.getByLabel('Drain time in seconds').fill('90');
      await page.getByLabel('Auto revert').selectOption('stays');
      await button('Save the settings').click();
      await note('Saved. Log level, drain time and nodes change with the next deploy.').waitFor();
      await page.getByRole('heading', { level: 1, name: 'settled well' }).waitFor();
      const { nodeSelector, logLevel, drainSeconds, autoRevert } = await stored(id);
      expect({ nodeSelector, logLevel, drainSeconds, autoRevert }).to.deep.equal({
        nodeSelector: NOWHERE,
        logLevel: 'debug',
        drainSeconds: 90,
        autoRevert: false,
      });
      await page.getByRole('status', { name: 'Notes' }).getByRole('button', { name: 'Deploy' }).click();
      await dialog('Deploy settled well').getByText('No node carries the labels').waitFor();
      await closeByEscape(page);
    });

    it('is deleted with what that stops, brought back as a draft, and deleted again', async () => {
      await openList();
      await act('settled well', 'Delete');
      const form = dialog('Delete settled well');
      await form.getByText('This stops 1 process on 1 node.').waitFor();
      await isUsable('the dialog that deletes');
      await form.getByRole('button', { name: 'Delete settled well' }).click();
      await form.waitFor({ state: 'hidden' });
      await table().getByRole('link', { name: 'settled well' }).waitFor({ state: 'detached' });
      await page.getByRole('status', { name: 'Notes' }).getByRole('button', { name: 'Undo' }).click();
      await table().getByRole('link', { name: 'settled well' }).waitFor();
      expect((await stored(id)).isDraft).to.equal(true);
      await openPage(id, '?tab=settings');
      await button('Delete the pipeline').click();
      await dialog('Delete settled well').getByText('Nothing runs it.').waitFor();
      await dialog('Delete settled well').getByRole('button', { name: 'Delete settled well' }).click();
      await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor();
    });
  });

  it('says who depends on whom, warns by it, and takes it back', async () => {
    const [first, second] = [await madeForNoNode('first'), await madeForNoNode('second')];
    await api.mutate('deploy.agent', { pipelineId: first, changelog: '' });
    await openPage(second, '?tab=dependencies');
    await page.getByLabel('Add one').selectOption({ label: 'first' });
    await page.getByLabel('Why').fill('It fills the file');
    await button('Add the dependency').click();
    const upstreams = page.getByRole('list', { name: 'Upstream pipelines' });
    await upstreams.getByText('It fills the file').waitFor();
    await page
      .getByRole('region', { name: 'Graph of dependencies' })
      .getByRole('link', { name: 'first' })
      .waitFor();
    await isUsable('the dependencies');
    await api.mutate('deploy.agent', { pipelineId: second, changelog: '' });

    await openPage(first, '?tab=dependencies');
    await page
      .getByRole('list', { name: 'Downstream pipelines' })
      .getByRole('link', { name: 'second' })
      .waitFor();
    await act('first', 'Undeploy');
    const form = dialog('Undeploy first');
    await form.getByText('This stops 0 processes on 0 nodes.').waitFor();
    await form.getByText('1 deployed pipeline depends on it').waitFor();
    await form.getByRole('button', { name: 'Undeploy first' }).click();
    await form.waitFor({ state: 'hidden' });
    expect((await stored(first)).isDraft).to.equal(true);

    const again = await openDeploy(second, 'second', '&tab=dependencies');
    await again.getByText('It depends on what is not deployed').waitFor();
    await again.getByRole('button', { name: 'Cancel' }).click();
    await button('Remove the dependency on first').click();
    await upstreams.getByText('Nothing.').waitFor();
  });

  it('asks for the name in production', async () => {
    const id = await made('precious', soundGraph(), production);
    await openList('', production);
    await act('precious', 'Delete');
    const form = dialog('Delete precious');
    const confirm = form.getByRole('button', { name: 'Delete precious' });
    await settles(() => confirm.isDisabled(), true);
    await form.getByLabel('Type precious to confirm').fill('precious');
    await confirm.click();
    await form.waitFor({ state: 'hidden' });
    await until(async () => (await stored(id).catch(() => null)) === null, { what: 'precious to be gone' });
  });

  it('files pipelines in groups, several at once, and narrows the list by the tree', async () => {
    await made('one');
    await made('two');
    await openList();
    await button('New group').click();
    let form = dialog('New group');
    await form.getByLabel('Name').fill('Payments');
    await isUsable('the dialog of a new group');
    await form.getByRole('radio', { name: 'Teal' }).check({ force: true });
    await form.getByRole('button', { name: 'Make the group' }).click();
    const groups = page.getByRole('navigation', { name: 'Groups of pipelines' });
    await groups.getByRole('link', { name: /^Payments/ }).waitFor();
    await button('Actions on the group Payments').click();
    await page.getByRole('menuitem', { name: 'New group in it' }).click();
    form = dialog('New group in Payments');
    await form.getByLabel('Name').fill('Europe');
    await form.getByRole('button', { name: 'Make the group' }).click();
    await groups.getByRole('link', { name: /^Europe/ }).waitFor();

    await page.getByRole('checkbox', { name: 'Select one' }).check();
    await table().getByRole('link', { name: 'two', exact: true }).focus();
    await page.keyboard.press('x');
    await page
      .getByRole('region', { name: 'Selected pipelines' })
      .getByText('2 pipelines selected')
      .waitFor();
    await isUsable('the list with groups and chosen rows');
    await button('Move to a group').click();
    const move = dialog('Move 2 pipelines to a group');
    await move.getByLabel('Group').selectOption({ label: 'Payments / Europe' });
    await move.getByRole('button', { name: 'Move 2 pipelines' }).click();
    await move.waitFor({ state: 'hidden' });
    await groups.getByRole('link', { name: /^Payments.*2$/ }).click();
    await page.waitForURL(/[?&]group=/);
    await until(async () => (await table().getByRole('row').count()) === 3, {
      what: 'two rows and the head',
    });
    await groups.getByRole('link', { name: /^In no group/ }).click();
    await table().getByRole('link', { name: 'two', exact: true }).waitFor({ state: 'detached' });

    await button('Actions on the group Payments').click();
    await page.getByRole('menuitem', { name: 'Name, colour, place' }).click();
    await dialog('Change the group Payments').getByLabel('Name').fill('Money');
    await dialog('Change the group Payments').getByRole('button', { name: 'Save the group' }).click();
    await groups.getByRole('link', { name: /^Money/ }).waitFor();
    await button('Actions on the group Europe').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog('Delete the group Europe').getByText('2 pipelines will be in no group').waitFor();
    await dialog('Delete the group Europe').getByRole('button', { name: 'Delete the group' }).click();
    await dialog('Delete the group Europe').waitFor({ state: 'hidden' });
    await groups.getByRole('link', { name: /^Europe/ }).waitFor({ state: 'detached' });
  });

  it('keeps filters for everybody, and begins with the one that is the default', async () => {
    await openList();
    await button('Draft').click();
    await page.waitForURL(/status=draft/);
    await page.getByRole('button', { name: /^Saved filters/ }).click();
    await page.getByRole('menuitem', { name: 'Save these filters' }).click();
    const form = dialog('Save these filters');
    await form.getByLabel('Name').fill('Drafts');
    await form.getByLabel('The page begins with it').check();
    await form.getByRole('button', { name: 'Save the filters' }).click();
    await form.waitFor({ state: 'hidden' });
    await page.goto(session.at('pipelines'), LOAD);
    await page.waitForURL(/status=draft/);
    await page.getByRole('button', { name: 'Saved filters: Drafts' }).click();
    await page.getByRole('menuitem', { name: 'No filters' }).click();
    await table().getByRole('link', { name: 'orders' }).waitFor();
    const [preset] = await api.query<{ id: string }[]>('filterPreset.list', {
      environmentId: env,
      scope: 'pipeline_list',
    });
    await api.mutate('filterPreset.delete', { environmentId: env, id: preset?.id });
  });

  it('copies to another environment, and says what stayed behind and which secrets lack', async () => {
    await made('travels', leaky());
    await openList();
    await act('travels', 'Copy as a draft to');
    const form = dialog('Copy travels as a draft');
    await isUsable('the dialog that copies');
    await form.getByLabel('Environment').selectOption({ label: 'lab' });
    await form.getByLabel('Name there').fill('travelled');
    await form.getByRole('button', { name: 'Copy to lab' }).click();
    const copies = form.getByRole('list', { name: 'Copies' });
    await copies.getByText('out.auth.password').waitFor();
    await copies.getByText('SVC_SECRET_PATH').waitFor();
    await copies.getByRole('link', { name: 'travelled' }).click();
    await page.waitForURL(new RegExp(`/e/${lab}/pipelines/`));
    await page.getByRole('heading', { level: 1, name: 'travelled' }).waitFor();
    // Back in what git describes, there is no other place but those without git.
    await page.goto(session.at('pipelines', lab));
    await act('travelled', 'Copy as a draft to');
    await dialog(/^Copy travelled/)
      .getByText('because git describes their pipelines: staging')
      .waitFor();
    await closeByEscape(page);
  });

  it('clones, and deploys and stops several at once; one that is refused stops no other', async () => {
    await madeForNoNode('alpha');
    await made('beta', soundGraph('.a = upcasee("x")'));
    await openList('?q=alpha');
    await act('alpha', 'Clone');
    await note('alpha was cloned as alpha copy, a draft.').waitFor();
    await openList();
    for (const name of ['alpha', 'beta', 'orders']) {
      await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check();
    }
    const chosen = page.getByRole('region', { name: 'Selected pipelines' });
    await chosen.getByRole('button', { name: 'Deploy', exact: true }).click();
    const form = dialog('Deploy 2 pipelines');
    await form.getByText('Left out, because git describes it: orders.').waitFor();
    await form.getByRole('button', { name: 'Deploy 2 pipelines' }).click();
    const outcomes = form.getByRole('list', { name: 'Pipelines that are acted on' });
    await outcomes.getByRole('listitem').filter({ hasText: 'alpha' }).getByText('done').waitFor();
    await outcomes.getByRole('listitem').filter({ hasText: 'beta' }).getByText('refused').waitFor();
    await form.getByRole('button', { name: 'Close', exact: true }).last().click();
    expect((await stored((await namedPipeline(api, env, 'alpha')).id)).isDraft).to.equal(false);
    await chosen.getByRole('button', { name: 'Undeploy' }).click();
    const stop = dialog(/^Undeploy/);
    await stop.getByText('1 draft is left out').waitFor();
    await stop.getByRole('button', { name: /^Undeploy alpha/ }).click();
    await stop.waitFor({ state: 'hidden' });
  });

  it('leaves to git what git describes, with the reason and the line', async () => {
    const { id } = await namedPipeline(api, env, 'orders');
    await openList();
    await button('Actions on orders').click();
    await isUsable('the menu of a row');
    await page.getByRole('menuitem', { name: /staging\/orders\.yaml:\d/ }).waitFor();
    for (const entry of ['Deploy', 'Undeploy', 'Delete']) {
      expect(
        await page.getByRole('menuitem', { name: `${entry}…`, exact: true }).isDisabled(),
        entry,
      ).to.equal(true);
    }
    const hold = page.getByRole('menuitem', { name: 'Undeploy and hold…' });
    expect(await hold.isDisabled(), 'for emergencies').to.equal(false);
    await closeByEscape(page);
    await openPage(id, '?tab=settings');
    await page.getByText('This pipeline is described in git').waitFor();
    await page.getByRole('link', { name: 'staging/orders.yaml:1' }).first().waitFor();
    await settles(() => button('Deploy').isDisabled(), true);
    await settles(() => page.getByLabel('Name', { exact: true }).isDisabled(), true);
    await settles(() => page.getByLabel('Filed in').isDisabled(), false);
    await page.getByRole('tab', { name: 'Versions' }).click();
    await settles(() => button('Roll back to version 1').isDisabled(), false);
    await settles(() => button('New version from YAML').isDisabled(), true);
  });

  it('lets a VIEWER look and change nothing', async () => {
    const id = await made('watched');
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at('pipelines'));
    await viewer.getByRole('table', { name: 'Pipelines' }).waitFor();
    await settles(() => viewer.getByRole('button', { name: 'New pipeline' }).isDisabled(), true);
    await viewer.getByRole('checkbox', { name: 'Select watched' }).check();
    const chosen = viewer.getByRole('region', { name: 'Selected pipelines' });
    for (const word of ['Deploy', 'Clone', 'Delete']) {
      await settles(() => chosen.getByRole('button', { name: word, exact: true }).isDisabled(), true, word);
    }
    await viewer.goto(session.at(`pipelines/${id}?tab=settings`));
    await viewer.getByText('Your role here is VIEWER').waitFor();
    await settles(() => viewer.getByLabel('Name', { exact: true }).isDisabled(), true);
    await settles(() => viewer.getByRole('button', { name: 'Deploy', exact: true }).isDisabled(), true);
    await viewer.context().close();
  });

  it('gives the focus back to where a menu or a dialog was opened from', async () => {
    await made('focused');
    await openList('?q=focused');
    const focused = () => page.evaluate<string>(`document.activeElement?.getAttribute('aria-label') ?? ''`);
    const opener = button('Actions on focused');
    for (const entry of [null, 'Delete…', 'Move to a group…']) {
      await opener.press('Enter');
      await page.getByRole('menu').waitFor();
      if (entry === null) {
        await closeByEscape(page);
        await page.getByRole('menu').waitFor({ state: 'hidden' });
      } else {
        await page.getByRole('menuitem', { name: entry }).press('Enter');
        await page.getByRole('dialog').waitFor();
        await until(
          () => page.evaluate<boolean>(`document.activeElement?.closest('[role=dialog]') != null`),
          {
            what: () => `the dialog of ${entry} to have the focus`,
          },
        );
        await closeByEscape(page);
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
      }
      await until(async () => (await focused()) === 'Actions on focused', {
        what: () => `the focus back after ${entry}`,
      });
    }
  });

  it('begins and deploys pipelines by the palette', async () => {
    await openList();
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go to anything' });
    await box.fill('deploy focused');
    await page.getByRole('option', { name: /Deploy focused.*Action/ }).waitFor();
    await box.press('Enter');
    await dialog('Deploy focused').getByRole('button', { name: 'Cancel' }).click();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('new pipeline');
    await page.getByRole('combobox', { name: 'Go to anything' }).press('Enter');
    await dialog('New pipeline').waitFor();
    await closeByEscape(page);
  });
});
