/** A configuration of Fluentd and one of Vector become pipelines, as a person brings them in. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { Migration, MigrationSummary } from '../../../../schemas/api/pipelines/migrations.ts';
import type { Pipeline, PipelineSummary } from '../../../../schemas/api/pipelines/pipelines.ts';
import { pipelineInGit } from '../../../support/scenes/pipeline-in-git.ts';
import { beyondAPhone, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const CONFIG = `<source>
  @type tail
  path /var/log/app/access.log
  tag app.access
  <parse>
    @type json
  </parse>
</source>
<filter other.**>
  @type house_made
</filter>
<match app.**>
  @type stdout
</match>
`;
const SINK = `sinks:
  b3:
    type: console
    inputs: [tail_records]
    encoding:
      codec: json
      except_fields: [_fluentd, user]
`;
const VECTOR = `[sources.lines]
type = "demo_logs"
format = "json"

[sinks.out]
type = "blackhole"
inputs = ["lines"]
`;

describe('the pages of migrations', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  let drawnId: string;

  before(async () => {
    session = await openSite();
    ({ page } = session);
    errors = watchForErrors(page);
    api = await session.site.api();
    // A pull request needs a branch to be merged into.
    await pipelineInGit(session.site);
    const { teamId } = session.site;
    drawnId = (await api.mutate<{ id: string }>('environment.create', { teamId, name: 'drawn' })).id;
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  const tab = (name: string): Locator => page.getByRole('tab', { name });
  const block = (name: RegExp): Locator =>
    page.getByRole('navigation', { name: 'Blocks' }).getByRole('button', { name });
  const editor = (id: string): Locator =>
    page.getByRole('textbox', { name: `Components of ${id}`, exact: true });
  async function write(where: Locator, text: string): Promise<void> {
    await where.press('Control+a');
    await page.keyboard.insertText(text);
  }

  /** As somebody else would, with the same page open. */
  async function leaveOutBehind(blockId: string): Promise<void> {
    const { teamId } = session.site;
    const [migration] = await api.query<MigrationSummary[]>('migration.list', { teamId });
    await api.mutate('migration.updateBlockConfig', {
      ...{ id: migration?.id, teamId, blockId, config: { components: [] } },
    });
  }

  it('lead from a pasted text over its blocks, samples and a validation to a draft', async () => {
    await page.goto(session.at('pipelines', drawnId));
    await page.getByRole('link', { name: 'Migrate' }).click();
    await page.getByRole('heading', { name: 'No migrations yet' }).waitFor();
    expect(await violationsInBothSchemes(page, 'no migrations')).to.deep.equal([]);
    await button('New migration').click();
    await write(page.getByRole('textbox', { name: 'Configuration of Fluentd' }), CONFIG);
    await page.getByLabel('Name').fill('web');
    expect(await violationsInBothSchemes(page, 'a new migration')).to.deep.equal([]);
    await button('Find the blocks').click();
    await block(/house_made/).waitFor();
    await button('Translate').click();
    await button('Translate all again').waitFor();
    // What needs a user comes first.
    await block(/house_made/).click();
    await page.getByRole('list', { name: 'Notes on the block' }).getByText('To do').first().waitFor();
    await page.getByRole('textbox', { name: 'Original of b2' }).getByText('@type house_made').waitFor();
    expect(await violationsInBothSchemes(page, 'blocks')).to.deep.equal([]);
    expect(await beyondAPhone(page, 'blocks')).to.deep.equal([]);

    await write(editor('b2'), 'sources: [');
    await page.getByRole('alert').getByText(/^Line/).waitFor();
    await button('Leave out').click();
    await page.getByRole('status', { name: 'Notes' }).getByText('b2 is saved.').last().waitFor();
    await block(/stdout/).click();
    await page.getByText(/sure, by rules$/).waitFor();
    await write(editor('b3'), SINK);
    await leaveOutBehind('b3');
    await page.getByText(/sure, by hand$/).waitFor();
    expect(await editor('b3').innerText(), 'what is typed while somebody else saves').to.include(
      '_fluentd, user',
    );
    await button('Save the block').click();
    await page.getByRole('status', { name: 'Notes' }).getByText('b3 is saved.').waitFor();

    await tab('2 Samples').click();
    await page.getByLabel('Lines as the source reads them').fill('{"path":"/a"}\n{"path":"/b","user":"ada"}');
    await button('Run 2 lines').click();
    const lines = page.getByRole('list', { name: 'Lines and their events' });
    await lines.getByRole('listitem', { name: 'Line 1' }).getByText('Equal').first().waitFor();
    const second = lines.getByRole('listitem', { name: 'Line 2' });
    await second.getByRole('row', { name: 'user "ada" not there' }).waitFor();
    expect(await violationsInBothSchemes(page, 'samples')).to.deep.equal([]);
    expect(await beyondAPhone(page, 'samples')).to.deep.equal([]);

    await tab('3 Validate').click();
    await button('Validate').click();
    await page.getByText('Valid', { exact: true }).waitFor();
    expect(await violationsInBothSchemes(page, 'a validation')).to.deep.equal([]);

    await tab('4 Generate').click();
    await page.getByLabel('Name of the pipeline').fill('web-logs');
    await button('Make the draft').click();
    const link = page.getByRole('link', { name: /web-logs in drawn/ }).first();
    await link.waitFor();
    expect(await violationsInBothSchemes(page, 'what was generated')).to.deep.equal([]);
    await link.click();
    await page.getByRole('heading', { name: 'web-logs' }).waitFor();
    const [made] = await api.query<PipelineSummary[]>('pipeline.list', { environmentId: drawnId });
    const { nodes } = await api.query<Pipeline>('pipeline.get', { id: made?.id });
    expect(nodes.map(({ componentKey }) => componentKey)).to.deep.equal(['tail', 'tail_records', 'b3']);
  });

  it('open a pull request where git describes the environment', async () => {
    const { teamId } = session.site;
    const [{ id = '' } = {}] = await api.query<MigrationSummary[]>('migration.list', { teamId });
    await page.goto(session.at(`migrations/${id}?step=generate`));
    await page.getByLabel('Name of the pipeline').fill('in-git');
    await button('Open a pull request').click();
    await page
      .getByRole('link', { name: /Pull request #\d+ \(open\)/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Add the pipeline in-git' }).waitFor();
    const { generated } = await api.query<Migration>('migration.get', { id, teamId });
    expect(generated?.pullRequest?.state).to.equal('open');
  });

  it('take a configuration of Vector in TOML as it is', async () => {
    await page.goto(session.at('migrations?new=vector', drawnId));
    await write(page.getByRole('textbox', { name: 'Configuration of Vector' }), VECTOR);
    await page.getByText('Read as').getByText('TOML').waitFor();
    await page.getByLabel('Name').fill('from-toml');
    expect(await violationsInBothSchemes(page, 'a configuration of Vector')).to.deep.equal([]);
    await button('Make a draft in drawn').click();
    await page.waitForURL(/pipelines\/[^/]+\/edit$/);
    const { nodes, edges } = await api.query<Pipeline>('pipeline.get', { id: page.url().split('/').at(-2) });
    expect([nodes.map(({ componentKey }) => componentKey), edges.length]).to.deep.equal([
      ['lines', 'out'],
      1,
    ]);
  });

  it('show VIEWERs all of it, and let them change nothing', async () => {
    const viewer = await session.as('VIEWER');
    const { teamId } = session.site;
    const [{ id = '' } = {}] = await api.query<MigrationSummary[]>('migration.list', { teamId });
    await viewer.goto(session.at(`migrations/${id}`));
    await viewer.getByRole('navigation', { name: 'Blocks' }).waitFor();
    expect(await viewer.getByRole('button', { name: 'Save the block' }).count()).to.equal(0);
    expect(await viewer.getByRole('button', { name: 'Translate all again' }).isDisabled()).to.equal(true);
    await viewer.context().close();
  });
});
