/** The library of a team and the playground, on a controller with a real compiler behind it. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { acceptingEngine } from '../../../support/fixtures/engine-schema/scripted-engine.ts';
import { component, edge } from '../../../support/fixtures/graphs.ts';
import { until } from '../../../support/harness/until.ts';
import { expectUsable, settles, watchForErrors } from '../browser.ts';
import { giveCredentials, makePerson, openBrowser, type Somebody } from '../people.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const GRAPH = {
  nodes: [
    component('ticks', 'demo_logs', 'SOURCE', { format: 'json', interval: 1 }),
    component('tidy', 'remap', 'TRANSFORM', { source: '.seen = true' }),
    component('out', 'blackhole', 'SINK'),
  ],
  edges: [edge('ticks', 'tidy'), edge('tidy', 'out')],
};

/** What a browser keeps of a page. */
const STORED = 'JSON.stringify(localStorage)';

describe('the library and the playground', function () {
  this.timeout(180_000);
  const engine = acceptingEngine();
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  let env: string;

  before(async () => {
    session = await openSite({ controller: { variables: { HEADGATE_ENGINE_BIN: engine.bin } } });
    ({ page } = session);
    env = session.site.environmentId;
    errors = watchForErrors(page);
    api = await session.site.api();
  });
  after(async () => {
    await session?.close();
    engine.remove();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  async function made(name: string): Promise<string> {
    const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId: env, name });
    await api.mutate('pipeline.saveGraph', { pipelineId: id, ...GRAPH });
    return id;
  }
  const stored = (id: string) => api.query<Pipeline>('pipeline.get', { id });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  const program = (): Locator => page.getByRole('textbox', { name: 'VRL program' });
  const event = (): Locator => page.getByRole('textbox', { name: 'Event as JSON' });
  const leaves = (): Locator => page.getByRole('textbox', { name: 'The event that leaves' });
  const said = (): Locator => page.getByRole('list', { name: 'What the compiler says' });

  const isUsable = async (where: string): Promise<void> => {
    await settles(() => page.getByRole('status', { name: /^Loading/ }).count(), 0);
    await expectUsable(page, where);
  };
  async function write(where: Locator, text: string): Promise<void> {
    await where.press('Control+a');
    await page.keyboard.insertText(text);
  }

  it('keeps the graph of a pipeline as a template, shows it, and begins another pipeline with it', async () => {
    await made('model');
    await page.goto(session.at('library'));
    await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
    await button('New template from a pipeline').click();
    const form = dialog('New template from a pipeline');
    await form.getByLabel('Pipeline', { exact: true }).selectOption({ label: 'model' });
    await form.getByLabel('Name').fill('Tidy lines');
    await form.getByRole('combobox', { name: 'Category' }).fill('Logs');
    await form.getByLabel('Description').fill('Parsed and thrown away');
    await form.getByRole('button', { name: 'Save the template' }).click();
    const card = page.getByRole('list', { name: 'Templates of Logs' }).getByRole('listitem');
    await card.getByText('3 components').waitFor();
    await isUsable('templates');

    await button('Preview Tidy lines').click();
    const shown = dialog('Tidy lines');
    await shown.getByRole('region', { name: 'Graph of components' }).getByText('demo_logs').waitFor();
    await isUsable('a template');
    await shown.getByRole('button', { name: 'Use it' }).click();
    const making = dialog('New pipeline');
    await making.getByText('Parsed and thrown away').waitFor();
    await making.getByLabel('Name').fill('begun');
    await making.getByRole('button', { name: 'Make the pipeline' }).click();
    await page.waitForURL(/pipelines\/[^/]+\/edit$/);
    const id = page.url().split('/').at(-2) ?? '';
    const { nodes, edges } = await stored(id);
    expect(nodes.map(({ componentKey }) => componentKey).sort()).to.deep.equal(['out', 'ticks', 'tidy']);
    expect(edges).to.have.length(2);

    await page.goto(session.at('library'));
    await button('Delete Tidy lines').click();
    await dialog('Delete Tidy lines').getByRole('button', { name: 'Delete the template' }).click();
    await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
  });

  it('keeps a snippet with its test beside it, changes and copies it, and brings a deleted one back', async () => {
    await page.goto(session.at('library?tab=snippets'));
    await button('New snippet').click();
    await page.getByLabel('Name').fill('Lower level');
    await page.getByRole('combobox', { name: 'Category' }).fill('Levels');
    await write(program(), '.level = downcase(string!(.level))');
    await write(event(), '{ "level": "WARN" }');
    await leaves().getByText('"warn"').waitFor();
    await isUsable('a snippet');
    await button('Keep the snippet').click();
    await page.waitForURL(/id=(?!new)/);
    await button('Save the snippet').waitFor();

    await write(program(), '.level = upcase(string!(.level))');
    await button('All snippets').click();
    const asked = dialog('Leave without saving?');
    await asked.getByRole('button', { name: 'Stay' }).click();
    await button('Save the snippet').click();
    await until(() => button('Save the snippet').isDisabled(), { what: 'nothing to be left to save' });
    await button('All snippets').click();
    const table = page.getByRole('table', { name: 'Snippets' });
    await table.getByRole('button', { name: 'Copy the code of Lower level' }).click();
    await settles(
      () => page.evaluate<string>('navigator.clipboard.readText()'),
      '.level = upcase(string!(.level))',
    );
    await isUsable('snippets');
    await button('Delete Lower level').click();
    await dialog('Delete Lower level').getByRole('button', { name: 'Delete the snippet' }).click();
    await page.getByRole('heading', { name: 'No snippets yet' }).waitFor();
    await page.getByRole('status', { name: 'Notes' }).getByRole('button', { name: 'Undo' }).click();
    await table.getByRole('link', { name: 'Lower level' }).waitFor();
  });

  it('makes a shared component, says who would have an update, brings it to them, and what its end unlinks', async () => {
    await page.goto(session.at('library?tab=shared'));
    await button('New shared component').click();
    await page.getByLabel('Name').fill('Tidy');
    await page.getByRole('combobox', { name: 'Type' }).fill('remap');
    const config = page.getByRole('textbox', { name: 'Config in YAML' });
    await isUsable('a new shared component');
    await write(config, 'source: [');
    await page
      .getByText(/^line \d+:\d+:/)
      .first()
      .waitFor();
    await settles(() => button('Make the component').isDisabled(), true);
    await write(config, 'source: .seen = true');
    await button('Make the component').click();
    await page.waitForURL(/id=(?!new)/);
    const sharedComponentId = new URL(page.url()).searchParams.get('id');

    const pipelineId = await made('user');
    const { nodes } = await stored(pipelineId);
    const nodeId = nodes.find(({ componentKey }) => componentKey === 'tidy')?.id;
    await api.mutate('sharedComponent.linkExisting', { pipelineId, nodeId, sharedComponentId });
    const users = page.getByRole('list', { name: 'Pipelines that use it' });
    await users.getByRole('link', { name: 'user' }).waitFor();
    await isUsable('a shared component');
    await write(config, 'source: .seen = false');
    await page.getByText('it would have an update').waitFor();
    await button('Save as version 2').click();
    await page.getByText('1 pipeline has an update to accept').waitFor();
    await users.getByText('v1, v2 is there').waitFor();
    await button('Take it over in user').click();
    await users.getByText('v2', { exact: true }).waitFor();

    await write(config, 'source: .seen = 3');
    await button('Save as version 3').click();
    await users.getByText('v2, v3 is there').waitFor();
    const library = page.url();
    await page.goto(session.at(`pipelines/${pipelineId}`));
    await page.getByText('1 shared component with a newer version').waitFor();
    await button('Take over the newer version').click();
    await page.getByText('1 shared component with a newer version').waitFor({ state: 'detached' });
    const taken = (await stored(pipelineId)).nodes.find(({ componentKey }) => componentKey === 'tidy');
    expect(taken).to.deep.include({ config: { source: '.seen = 3' }, sharedComponentVersion: 3 });
    await page.goto(session.at('library?tab=shared'));
    await page.getByRole('table', { name: 'Shared components' }).getByText('Tidy').waitFor();
    await isUsable('shared components');
    await page.goto(library);

    await button('Delete').click();
    const form = dialog('Delete Tidy');
    await form.getByText('1 component of 1 pipeline (user) will be unlinked').waitFor();
    await form.getByRole('button', { name: 'Delete the component' }).click();
    await page.getByRole('heading', { name: 'No shared components yet' }).waitFor();
    const kept = (await stored(pipelineId)).nodes.find(({ componentKey }) => componentKey === 'tidy');
    expect(kept?.config).to.deep.equal({ source: '.seen = 3' });
  });

  it('runs a program on an event, shows what the compiler says at its place, and inserts and saves snippets', async () => {
    const snippet = { name: 'Mark', category: 'Marks', code: '.marked = true' };
    await api.mutate('vrlSnippet.create', { teamId: session.site.teamId, ...snippet });
    await page.goto(session.at('playground'));
    await leaves().getByText('"ada"').waitFor();
    await write(program(), '.a = 1\n.b = upcasee("x")\n');
    await said().getByRole('button', { name: 'line 2:6' }).waitFor();
    await page.getByRole('region', { name: 'Result' }).getByText('does not compile').waitFor();
    await isUsable('the playground with an error');
    await said().getByRole('button', { name: 'line 2:6' }).click();
    await page.keyboard.press('Home');
    await page.keyboard.insertText('# ');
    await leaves().getByText('"a": 1').waitFor();
    await said().waitFor({ state: 'hidden' });

    await write(program(), '.kept = 1\n');
    await page.getByLabel('Insert a snippet').selectOption({ label: 'Marks: Mark' });
    await leaves().getByText('"marked": true').waitFor();
    await button('Save as a snippet').click();
    const form = dialog('Save as a snippet');
    await form.getByLabel('Name').fill('Kept and marked');
    await form.getByRole('combobox', { name: 'Category' }).fill('Marks');
    await form.getByRole('button', { name: 'Save the snippet' }).click();
    await form.waitFor({ state: 'hidden' });
    const snippets = await api.query<{ name: string; code: string }[]>('vrlSnippet.list', {
      teamId: session.site.teamId,
    });
    expect(snippets.find(({ name }) => name === 'Kept and marked')?.code).to.equal(
      '.kept = 1\n.marked = true\n',
    );

    await write(event(), '{ "a": ');
    await page
      .getByRole('region', { name: 'Event' })
      .getByText('Keys and texts stand in double quotes')
      .waitFor();
    await write(event(), '{ "level": "debug" }');
    await write(program(), 'if .level == "debug" { abort }');
    await page.getByText('No event leaves: the program called abort.').waitFor();
    await button('Condition').click();
    const condition = page.getByRole('textbox', { name: 'VRL condition' });
    await write(condition, '.level != "debug"');
    await page.getByText('No event leaves: the condition is false.').waitFor();
  });

  it('keeps programs and events in this browser, out of the address, until somebody signs out', async () => {
    const other = await session.another();
    await other.goto(session.at('playground'));
    const text = other.getByRole('textbox', { name: 'VRL program' });
    await text.press('Control+a');
    await other.keyboard.insertText('.token = "not for the address"');
    await other
      .getByRole('textbox', { name: 'The event that leaves' })
      .getByText('not for the address')
      .waitFor();
    expect(decodeURIComponent(other.url())).not.to.include('token');
    await other.reload();
    await text.getByText('not for the address').waitFor();
    await other.getByRole('button', { name: 'Account' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await other.getByLabel('Email').waitFor();
    expect(await other.evaluate<string>(STORED)).not.to.include('not for the address');
    await other.context().close();
  });

  it('shows nobody what another user has tried whose session ended by itself, and shows it to that user again', async () => {
    const typed = '.token = "for nobody else"';
    const reader = await makePerson(session, 'next', { role: 'VIEWER' });
    const writer = await makePerson(session, 'before', { role: 'VIEWER' });
    const other = await openBrowser(session);
    const text = other.getByRole('textbox', { name: 'VRL program' });
    const endSession = (id: string) => session.site.db('sessions').where({ user_id: id }).delete();
    const enter = async (person: Somebody) => {
      await other.goto(session.at('playground'));
      await giveCredentials(other, person);
      await other.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
    };
    await enter(writer);
    await text.press('Control+a');
    await other.keyboard.insertText(typed);
    await settles(async () => (await other.evaluate<string>(STORED)).includes('for nobody else'), true);
    await endSession(writer.id);
    await enter(writer);
    await text.getByText('for nobody else').waitFor();
    await endSession(writer.id);
    await enter(reader);
    await text.waitFor();
    expect(await text.innerText()).not.to.include('for nobody else');
    expect(await other.evaluate<string>(STORED)).not.to.include('for nobody else');
    await other.context().close();
  });

  it('checks an engine config, with every error at its line and column', async () => {
    await page.goto(session.at('playground?tab=config'));
    await page.getByText('sound', { exact: true }).waitFor();
    const config = page.getByRole('textbox', { name: 'Engine config in YAML' });
    await write(
      config,
      'sources:\n  in: { type: demo_logs, format: json }\nsinks:\n  out: { type: blackhole, inputs: [inn] }\n',
    );
    const problems = page.getByRole('list', { name: 'Problems of the config' });
    await problems.waitFor();
    await isUsable('a config with problems');
    await problems
      .getByRole('button', { name: /^line 4:\d+$/ })
      .first()
      .click();
    expect(await page.evaluate<string>(`document.activeElement?.getAttribute('aria-label')`)).to.equal(
      'Engine config in YAML',
    );
    await write(config, 'sources: [');
    await problems
      .getByRole('button', { name: /^line 1:\d+$/ })
      .first()
      .waitFor();
  });

  it('lets a VIEWER look and try, and change nothing', async () => {
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at('library'));
    await viewer.getByRole('button', { name: 'New template from a pipeline' }).waitFor();
    await settles(
      () => viewer.getByRole('button', { name: 'New template from a pipeline' }).isDisabled(),
      true,
    );
    await viewer.getByRole('tab', { name: 'Snippets' }).click();
    await settles(() => viewer.getByRole('button', { name: 'New snippet' }).isDisabled(), true);
    await viewer.getByRole('link', { name: 'Mark' }).first().click();
    await viewer
      .getByRole('textbox', { name: 'The event that leaves' })
      .getByText('"marked": true')
      .waitFor();
    await settles(() => viewer.getByRole('button', { name: 'Save the snippet' }).isDisabled(), true);
    await viewer.context().close();
  });
});
