/** The assistant in the browser: its provider, a proposal that is applied, a fault that is explained, an answer that is stopped. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { git } from '../../../support/clients/fast-import.ts';
import { drawPipeline } from '../../../support/fixtures/graphs.ts';
import { until } from '../../../support/harness/until.ts';
import { suggest } from '../../../support/scenes/assisted.ts';
import { pipelineInGit } from '../../../support/scenes/pipeline-in-git.ts';
import { ScriptedProvider } from '../../../support/servers/scripted-provider.ts';
import { closeByEscape, expectUsable, LOAD, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

type Box = Awaited<ReturnType<Locator['boundingBox']>>;
const areApart = (a: Box, b: Box): boolean =>
  a !== null &&
  b !== null &&
  (a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y);

describe('the assistant in the browser', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let provider: ScriptedProvider;
  let pipelineId: string;
  let pipelineInGitId: string;

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    provider = await ScriptedProvider.start();
    const { site } = session;
    const api = await site.api();
    pipelineInGitId = await pipelineInGit(site);
    ({ id: pipelineId } = await drawPipeline(api, site.environmentId));
  });
  after(async () => {
    await provider?.close();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const panel = (): Locator => page.getByRole('region', { name: 'Assistant' });
  const ask = async (question: string): Promise<void> => {
    await panel().getByLabel('Question').fill(question);
    await panel().getByLabel('Question').press('Enter');
  };
  const isUsable = (where: string) => expectUsable(page, where);

  it('teaches what it is for, and leads to the settings where a provider is added and tested', async () => {
    await page.goto(session.at(`pipelines/${pipelineId}`));
    await page.getByRole('button', { name: 'Assistant' }).click();
    await panel().getByText('The assistant needs an AI provider').waitFor();
    await panel().getByRole('link', { name: 'Add a provider' }).click();
    await page.getByRole('button', { name: 'Add a provider' }).click();
    await page.getByLabel('Model').fill('scripted');
    await page.getByLabel('Address').fill(provider.openAiUrl);
    await page.getByLabel('API key').fill('sk-of-the-team');
    await page.getByRole('button', { name: 'Save the provider' }).click();
    await page.getByRole('button', { name: 'Test the provider' }).click();
    await page.getByRole('status').getByText(/ms\)$/).waitFor();
    expect(provider.last.headers.authorization).to.equal('Bearer sk-of-the-team');
    expect(await page.content()).to.not.include('sk-of-the-team');
    await page.getByText('Tokens of the team today').waitFor();
    await isUsable('the settings of the assistant');
  });

  it('shows what is sent, streams an answer, and applies a proposal by a click alone', async () => {
    provider.script([
      { text: 'See [the manual](https://evil.example/?leak) and **note** this.' },
      suggest('Mark each line twice', { type: 'setVrl', componentKey: 'mark', program: '.twice = true' }),
    ]);
    await page.goto(session.at(`pipelines/${pipelineId}`));
    await page.getByRole('button', { name: 'Assistant' }).click();
    await panel().getByRole('button', { name: 'What is sent' }).click();
    const sent = page.getByRole('dialog', { name: 'What is sent' });
    await sent.getByText('type: remap').waitFor();
    await sent.getByRole('button', { name: 'Close' }).click();
    await ask('Mark each line twice');
    const card = panel().getByRole('article', { name: 'Mark each line twice' });
    await card.getByText('Passes the checks').waitFor();
    await panel().getByText('the manual (https://evil.example/?leak)').waitFor();
    expect(await panel().locator('a[href*="evil"]').count()).to.equal(0);
    await isUsable('a proposal');
    await card.getByRole('button', { name: /^Apply/ }).click();
    await card.getByText('Applied', { exact: true }).waitFor();
    const { site } = session;
    const { nodes } = await (await site.api()).query<{
      nodes: { componentKey: string; config: { source?: string } }[];
    }>('pipeline.get', { id: pipelineId });
    expect(nodes.find(({ componentKey }) => componentKey === 'mark')?.config.source).to.equal(
      '.twice = true',
    );
    await page.reload();
    await page.getByRole('button', { name: 'Assistant' }).click();
    await card.getByText('Applied', { exact: true }).waitFor();
  });

  it('says which pull request a proposal became, and still after a reload', async () => {
    const { site } = session;
    const before = git(site.gitdir, 'rev-parse', 'main');
    provider.script([
      suggest('Ticks as syslog', { type: 'setConfig', componentKey: 'ticks', config: { format: 'syslog' } }),
    ]);
    await page.goto(session.at(`pipelines/${pipelineInGitId}`));
    await page.getByRole('button', { name: 'Assistant' }).click();
    await ask('Ticks as syslog');
    const card = panel().getByRole('article', { name: 'Ticks as syslog' });
    await card.getByRole('button', { name: /^Apply/ }).click();
    await card.getByText('Proposed in #1').waitFor();
    expect(git(site.gitdir, 'rev-parse', 'main')).to.equal(before);
    await page.reload();
    await page.getByRole('button', { name: 'Assistant' }).click();
    await card.getByText('Proposed', { exact: true }).waitFor();
    await isUsable('a proposal that became a pull request');
    await card.getByRole('link', { name: 'Proposed in #1' }).click();
    await page.waitForURL(/\/promotions\/1$/);
    await page
      .getByRole('heading', { name: /orders/ })
      .first()
      .waitFor();
  });

  it('explains what is in the log, is stopped, and asks again', async () => {
    provider.script(
      [{ text: 'It began when' }, { stall: true }],
      [{ status: 401 }],
      [{ text: 'All is well.' }],
    );
    await page.goto(session.at(`pipelines/${pipelineId}?tab=logs`));
    await page.getByRole('button', { name: 'Ask why' }).click();
    expect(await panel().getByLabel('Question').inputValue()).to.equal('Why are there errors in the log?');
    await panel().getByLabel('Question').press('Enter');
    await panel().getByText('It began when').waitFor();
    await panel().getByRole('button', { name: 'Stop' }).click();
    await panel().getByText('Stopped.').waitFor();
    await until(() => provider.last.isClosedEarly, { what: 'the request to the provider to end' });
    await panel().getByRole('button', { name: 'Ask again' }).click();
    await panel().getByRole('note').getByText(/key/i).waitFor();
    await panel().getByRole('button', { name: 'Ask again' }).click();
    await panel().getByText('All is well.').waitFor();
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
  });

  it('keeps a question and an answer while the window becomes narrower and wider', async () => {
    let goOn = (): void => {};
    const rest = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    provider.reset();
    provider.script([{ text: 'It began when' }, { until: rest }, { text: ' the disk was full.' }]);
    await page.goto(session.at(`pipelines/${pipelineId}`), LOAD);
    await page.getByRole('button', { name: 'Assistant' }).click();
    await ask('When did it begin?');
    await panel().getByText('It began when').waitFor();
    const typed = 'And what is next';
    await panel().getByLabel('Question').fill(typed);
    const sheet = page.getByRole('dialog', { name: 'Assistant' });
    for (const [width, frame] of [
      [1100, panel()],
      [800, sheet],
      [390, sheet],
      [1440, panel()],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await frame.getByText('It began when').waitFor();
      await frame.getByRole('button', { name: 'Stop' }).waitFor();
      expect(await frame.getByLabel('Question').inputValue(), `at ${width} px`).to.equal(typed);
      expect(provider.last.isClosedEarly, `at ${width} px`).to.equal(false);
    }
    goOn();
    await panel().getByText('It began when the disk was full.').waitFor();
    await page.setViewportSize({ width: 800, height: 844 });
    await sheet.getByRole('button', { name: 'What is sent' }).click();
    await page.getByRole('dialog', { name: 'What is sent' }).getByText('type: remap').waitFor();
    await closeByEscape(page);
    await page.getByRole('dialog', { name: 'What is sent' }).waitFor({ state: 'detached' });
    expect(await sheet.getByLabel('Question').inputValue()).to.equal(typed);
    await sheet.getByLabel('Question').press('Escape');
    await sheet.waitFor({ state: 'detached' });
    expect(provider.requests).to.have.length(1);
  });

  it('leaves the question free of notes in windows of every width, and keeps the focus in a sheet', async () => {
    const widths = [1440, 1100, 900, 800, 390];
    provider.reset();
    provider.script(
      widths.map((width) =>
        suggest(`Mark ${width}`, { type: 'setVrl', componentKey: 'mark', program: `.width = ${width}` }),
      ),
    );
    await page.setViewportSize({ width: 1440, height: 844 });
    await page.goto(session.at(`pipelines/${pipelineId}`), LOAD);
    await page.getByRole('button', { name: 'Assistant' }).click();
    await panel().getByRole('button', { name: 'New conversation' }).click();
    // What is asked before it has begun belongs to the one before.
    await panel().getByRole('list', { name: 'Examples' }).waitFor();
    await ask('Mark it');
    await panel()
      .getByRole('button', { name: `Apply Mark ${widths.at(-1)}` })
      .waitFor();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 844 });
      const frame = width < 900 ? page.getByRole('dialog', { name: 'Assistant' }) : panel();
      await frame.getByRole('button', { name: `Apply Mark ${width}` }).click();
      const card = frame.getByRole('article', { name: `Mark ${width}` });
      await card.getByText('Applied', { exact: true }).waitFor();
      const note = page.getByRole('group').filter({ hasText: 'Applied and saved.' }).last();
      await note.waitFor();
      const [noteBox = null, ...boxes] = await Promise.all(
        [note, frame.locator('form'), frame.locator('.assistant-head')].map((each) => each.boundingBox()),
      );
      expect(noteBox?.x, `at ${width} px`).to.be.at.least(0);
      for (const box of boxes)
        expect(areApart(noteBox, box), `at ${width} px: ${JSON.stringify([noteBox, box])}`).to.equal(true);
      if (width >= 900) continue;
      const isInside = `document.activeElement.closest('[role=dialog]') !== null`;
      for (let tab = 0; tab < 20; tab += 1) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate(isInside), `Tab ${tab} at ${width} px`).to.equal(true);
      }
    }
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('puts a program into the drawing of the graph editor, on a phone as a sheet', async () => {
    provider.reset();
    provider.script([suggest('Count', { type: 'setVrl', componentKey: 'mark', program: '.count = 1' })]);
    await page.goto(session.at(`pipelines/${pipelineId}/edit`));
    await page.getByRole('button', { name: /^mark/ }).first().click();
    await page.getByRole('button', { name: 'Ask about VRL' }).click();
    const vrl = page.getByRole('region', { name: 'VRL of mark' });
    await vrl.getByRole('button', { name: 'Explain this program' }).click();
    await vrl.getByRole('button', { name: 'Apply Count' }).click();
    await vrl.getByText('Applied', { exact: true }).waitFor();
    await page.getByText('Unsaved changes').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('dialog', { name: 'VRL of mark' }).getByLabel('Question').waitFor();
    const found = await violationsInBothSchemes(page, 'the sheet of a phone');
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
