/** Certificates and secrets as a person uploads, replaces and deletes them, with what that touches. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { enrollNode, heartbeat } from '../../../support/agents/agent-client.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { AUTHORITY, ENCRYPTED_KEY, EXPIRED, LEAF, LEAF_KEY } from '../../../support/fixtures/certificates.ts';
import { namedPipeline, untilRunning } from '../../../support/fixtures/pipelines.ts';
import { closeByEscape, settles, violationsInBothSchemes } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

/** Names a file and a secret, and reads nothing. */
const SHIPPER = `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: shipper }
spec:
  sources:
    lines: { type: demo_logs, format: shuffle, lines: ["\${SVC_CERT_DIR}/ca.pem \${SVC_SECRET_SHIP_TOKEN}"] }
  sinks:
    out: { type: blackhole, inputs: [lines] }
`;

describe('the page of secrets and certificates', function () {
  this.timeout(180_000);
  const session = useSite();
  const { dialog, note, isUsable } = partsOf(session);
  let git: GitClient | undefined;
  let page: Page;
  before(() => {
    page = session.page;
  });
  after(() => git?.remove());

  const tab = (): string => session.at('secrets?tab=certificates');
  const table = (): Locator => page.getByRole('table', { name: 'Certificates' });
  const row = (file: string): Locator => table().getByRole('row').filter({ hasText: file });
  const file = (name: string, content: string) => ({
    name,
    mimeType: 'application/x-pem-file',
    buffer: Buffer.from(content),
  });

  it('teaches how a config names one, takes a file by the palette, and tells what is in it', async () => {
    await page.goto(session.at('secrets'));
    await page.getByRole('tab', { name: 'Certificates' }).click();
    await page.waitForURL(/tab=certificates/);
    await page.getByRole('heading', { name: 'No certificates yet' }).waitFor();
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go to anything' });
    await box.fill('upload a certificate');
    await box.press('Enter');
    await dialog('Upload a certificate').waitFor();
    expect(await violationsInBothSchemes(page, 'uploading')).to.deep.equal([]);
    const form = dialog('Upload a certificate');
    await form.getByLabel('Choose a file').setInputFiles(file('ca.pem', AUTHORITY));
    await settles(() => form.getByLabel('File name').inputValue(), 'ca.pem');
    await form.getByLabel('Name', { exact: true }).fill('Company authority');
    await form.getByText(`Configs write \${SVC_CERT_DIR}/ca.pem`).waitFor();
    await form.getByRole('button', { name: 'Upload the file' }).click();
    await form.waitFor({ state: 'hidden' });
    await note('ca.pem was uploaded.');
    await row('ca.pem').getByText('Test authority').waitFor();
    await row('ca.pem')
      .getByText(/in \d+ years/)
      .waitFor();
    await row('ca.pem')
      .getByRole('button', { name: /^Copy reference/ })
      .click();
    await settles(() => page.evaluate<string>('navigator.clipboard.readText()'), `\${SVC_CERT_DIR}/ca.pem`);
    await row('ca.pem').getByRole('button', { name: 'ca.pem', exact: true }).click();
    const facts = dialog('Company authority: ca.pem').getByRole('region', { name: 'Certificate 1' });
    await facts.getByText('O=Headgate tests').first().waitFor();
    await facts.getByRole('button', { name: /^Copy fingerprint/ }).waitFor();
    expect(await violationsInBothSchemes(page, 'facts of a certificate')).to.deep.equal([]);
    await closeByEscape(page);
  });

  it('takes a pasted key, draws none that came from a file, and refuses one behind a passphrase', async () => {
    await page.goto(tab());
    await page.getByRole('button', { name: 'Upload a certificate' }).click();
    const form = dialog('Upload a certificate');
    await form.getByLabel('Content, in PEM form').fill('no key at all');
    await form.getByText('There is no PEM block in it').waitFor();
    await form.getByLabel('Choose a file').setInputFiles(file('shop.key', ENCRYPTED_KEY));
    await settles(() => form.getByLabel('What it is').inputValue(), 'key');
    expect(await page.content()).not.to.include(ENCRYPTED_KEY.split('\n')[1]);
    await form.getByLabel('Name', { exact: true }).fill('shop');
    await form.getByRole('button', { name: 'Upload the file' }).click();
    await form
      .getByRole('alert')
      .getByText(/passphrase|encrypted/)
      .waitFor();
    await form.getByRole('button', { name: 'Paste instead' }).click();
    await form.getByLabel('Content, in PEM form').fill(LEAF_KEY);
    await form.getByRole('button', { name: 'Upload the file' }).click();
    await form.waitFor({ state: 'hidden' });
    await row('shop.key').getByText('private key').waitFor();
    expect(await page.content()).not.to.include(LEAF_KEY.split('\n')[1]);
  });

  it('warns of one that has expired, and of a key that belongs to another until the file is replaced', async () => {
    for (const [name, filename, content, said] of [
      ['old', 'old.crt', EXPIRED, 'old.crt was uploaded. Mind that it has expired.'],
      ['shop', 'shop.crt', AUTHORITY, 'shop.crt was uploaded.'],
    ] as const) {
      await page.getByRole('button', { name: 'Upload a certificate' }).click();
      const form = dialog('Upload a certificate');
      await form.getByLabel('Choose a file').setInputFiles(file(filename, content));
      await form.getByLabel('What it is').selectOption('cert');
      await form.getByLabel('Name', { exact: true }).fill(name);
      await form.getByRole('button', { name: 'Upload the file' }).click();
      await form.waitFor({ state: 'hidden' });
      // A note is there for some seconds only.
      await note(said);
    }
    await row('old.crt').getByText('Expired', { exact: true }).waitFor();
    await row('shop.crt').getByText('Mismatch', { exact: true }).waitFor();
    await isUsable('certificates');

    await page.getByRole('button', { name: 'Replace shop.crt' }).click();
    const form = dialog('Replace shop.crt');
    await form.getByText('Nothing that is deployed refers to it, so nothing restarts.').waitFor();
    await form.getByLabel('Content, in PEM form').fill(LEAF);
    await form.getByRole('button', { name: 'Replace the file' }).click();
    await form.waitFor({ state: 'hidden' });
    await note('shop.crt was replaced.');
    await row('shop.crt').getByText('shop.example.org').waitFor();
    await settles(() => table().getByText('Mismatch').count(), 0);
  });

  it('says which pipelines restart with another file or value, and deletes what none refers to', async () => {
    const { environmentId } = session.site;
    const api = await session.site.api();
    await api.mutate('secret.create', { environmentId, name: 'ship-token', value: 'hidden' });
    const node = await enrollNode(session.url, await session.site.enrollmentToken(), { hostname: 'edge-1' });
    git = new GitClient(session.site.cloneUrl());
    await git.clone();
    await git.commit({ 'staging/shipper.yaml': SHIPPER });
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
    const { id: pipelineId } = await namedPipeline(api, environmentId, 'shipper');
    await node.heartbeat(
      heartbeat({ pipelines: [{ pipelineId, version: 1, status: 'RUNNING', pid: 7, uptimeSeconds: 3 }] }),
    );
    await untilRunning(api, pipelineId, 1);
    await page.goto(tab());
    await row('ca.pem').getByText('shipper').waitFor();
    await page.getByRole('button', { name: 'Replace ca.pem' }).click();
    await dialog('Replace ca.pem').getByText('Restarts 1 process on 1 node').waitFor();
    await closeByEscape(page);
    await page.getByRole('button', { name: 'Delete ca.pem' }).click();
    let form = dialog('Delete ca.pem');
    await form.getByText('1 deployed pipeline refers to it and must let go of it first: shipper.').waitFor();
    await settles(() => form.getByRole('button', { name: 'Delete the file' }).isDisabled(), true);
    await closeByEscape(page);
    await page.getByRole('button', { name: 'Delete old.crt' }).click();
    form = dialog('Delete old.crt');
    await form.getByText('Nothing that is deployed refers to it.').waitFor();
    await form.getByRole('button', { name: 'Delete the file' }).click();
    await form.waitFor({ state: 'hidden' });
    await row('old.crt').waitFor({ state: 'detached' });

    await page.goto(session.at('secrets'));
    await page.getByRole('button', { name: 'Replace the value of ship-token' }).click();
    form = dialog('Replace the value of ship-token');
    await form.getByText('Restarts 1 process on 1 node').waitFor();
    await form.getByText('shipper').waitFor();
    expect(await violationsInBothSchemes(page, 'replacing a value')).to.deep.equal([]);
    await closeByEscape(page);
  });

  it('lets a viewer look and change nothing', async () => {
    const viewer = await session.as('VIEWER');
    await viewer.goto(tab());
    await viewer.getByRole('table', { name: 'Certificates' }).waitFor();
    for (const name of ['Upload a certificate', 'Replace ca.pem', 'Delete ca.pem'])
      await settles(() => viewer.getByRole('button', { name }).isDisabled(), true, name);
    await viewer.getByRole('button', { name: 'ca.pem', exact: true }).click();
    await viewer.getByRole('dialog', { name: 'Company authority: ca.pem' }).waitFor();
    await viewer.context().close();
  });
});
