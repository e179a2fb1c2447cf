/** The page of the API: for everybody, and as usable as the others. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { BROWSER_WAIT_MS } from '../../support/harness/patience.ts';
import {
  beyondAPhone,
  closePages,
  settles,
  sharedBrowser,
  violationsInBothSchemes,
  watchForErrors,
} from './browser.ts';

describe('the page of the API', function () {
  this.timeout(60_000);
  this.slow(10_000);
  let test: TestController;
  let page: Page;
  let errors: string[];

  before(async () => {
    test = await startTestController();
    const context = await (await sharedBrowser()).newContext({
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    page = await context.newPage();
    errors = watchForErrors(page);
  });
  after(async () => {
    await closePages(await sharedBrowser());
    await test?.stop();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const card = (name: RegExp | string) => page.getByRole('button', { name });

  it('says so while it loads and when the controller does not answer, and needs no session', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let fail = true;
    await page.route('**/api/v1/openapi.json', async (route) => {
      await held;
      if (fail) await route.fulfill({ status: 503, body: '{}' });
      else await route.continue();
    });
    await page.goto(`${test.url}/docs/api`);
    await page.getByRole('status', { name: 'Loading the API' }).waitFor();
    release();
    await page.getByRole('heading', { name: 'The API could not be shown' }).waitFor();
    fail = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'REST v1' }).waitFor();
    await page.unroute('**/api/v1/openapi.json');
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).to.deep.equal([
      'REST v1',
      'Procedures',
    ]);
    await card(/^POST \/api\/trpc\/pipeline\.create /).waitFor();
    await settles(() => page.getByRole('link', { name: 'Sign in' }).count(), 1);
  });

  it('opens an operation with what it takes and answers, a request to copy, and what is inside of a field', async () => {
    await card(/^POST \/api\/v1\/alerts\/rules /).click();
    const shown = page.getByRole('article', { name: 'Make an alert rule' });
    await shown.getByText('alerts.manage').waitFor();
    await shown.getByRole('table', { name: 'Parameters' }).getByText('Idempotency-Key').waitFor();
    const body = shown.getByRole('table', { name: 'Body' });
    await body.getByRole('row', { name: /^condition text one of gt, lt, eq$/ }).waitFor();
    const answer = shown.getByRole('table', { name: 'Answer 201' });
    // An only field is open at first.
    await answer.getByRole('row', { name: /^condition text/ }).waitFor();
    await answer.getByRole('button', { name: 'rule' }).click();
    await answer.getByRole('row', { name: /^condition text/ }).waitFor({ state: 'detached' });
    await answer.getByRole('button', { name: 'rule' }).click();
    await answer.getByRole('row', { name: /^condition text/ }).waitFor();
    await shown.getByText('403').waitFor();
    await shown.getByRole('button', { name: 'Copy Request of POST /api/v1/alerts/rules' }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).to.match(/^curl /);
    expect(copied)
      .to.include('Authorization: Bearer $HEADGATE_KEY')
      .and.to.include(`${test.url}/api/v1/alerts/rules`);
    await card(/^GET \/api\/v1\/nodes List/).click();
    await page.getByRole('link', { name: 'Link to listNodes' }).click();
    await page.waitForURL(/#listNodes$/);
  });

  it('opens and shows the operation that the address names', async () => {
    await page.goto('about:blank');
    await page.goto(`${test.url}/docs/api#user.me`);
    const shown = page.getByRole('article', { name: 'The signed-in user', exact: true });
    await shown.getByRole('heading', { name: 'Example' }).waitFor();
    // It is scrolled to once it is open.
    const isInSight = async (): Promise<boolean> => {
      const box = await shown.boundingBox();
      return box !== null && box.y >= 0 && box.y <= 900;
    };
    await settles(isInSight, true, 'whether it is in the window');
    const found = await violationsInBothSchemes(page, 'the API');
    found.push(...(await beyondAPhone(page, 'the API')));
    expect(found, found.join('\n')).to.deep.equal([]);
  });

  it('is searched by every word, in the address too, in both schemes and on a phone', async () => {
    const search = page.getByRole('searchbox', { name: 'Search the API' });
    await search.fill('secrets.manage delete');
    await page.getByRole('status').getByText('1 operation', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Example' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).to.equal('secrets.manage delete');
    const found: string[] = [];
    for (const [text, shown] of [
      ['createAlertRule', '1 operation'],
      ['no such thing', '0 operations'],
    ] as const) {
      await search.fill(text);
      await page.getByRole('status').getByText(shown, { exact: true }).waitFor();
      found.push(...(await violationsInBothSchemes(page, text)), ...(await beyondAPhone(page, text)));
    }
    await page.getByText('Nothing of the API is called “no such thing”.').waitFor();
    expect(found, found.join('\n')).to.deep.equal([]);
  });

  it('leads back to the pages who is signed in, and is found from there', async () => {
    const root = await test.root();
    const cookies = root.cookie.split('; ').map((one) => {
      const [name = '', value = ''] = one.split('=');
      return { name, value, url: test.url };
    });
    await page.context().addCookies(cookies);
    const team = await root.mutate<{ id: string }>('team.create', { name: `Readers ${Date.now()}` });
    const { id } = await root.mutate<{ id: string }>('environment.create', {
      name: 'staging',
      teamId: team.id,
    });
    await page.goto(`${test.url}/e/${id}/settings`);
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'To the pages' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // The frame of the page is new, and hears keys as soon as it follows events.
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('api');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
  });
});
