// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references as a config writes them
/** Certificate files: from the upload to what nodes are served. */
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { CertificateSummary } from '../../../schemas/api/secrets/certificates.ts';
import { enrollNode, type TestNode } from '../../support/agents/agent-client.ts';
import { Clone } from '../../support/clients/clone.ts';
import { withCredentials } from '../../support/clients/git-client.ts';
import { AUTHORITY, base64, EXPIRED, LEAF, LEAF_KEY } from '../../support/fixtures/certificates.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { expectRefused, makeUser, signIn, type TestUser } from '../../support/users/person.ts';

type Uploaded = CertificateSummary & { replaced: boolean };

describe('certificate files', function () {
  this.timeout(30_000);
  const test = useController();
  const root = useRoot(test);
  let editor: TestUser;
  let viewer: TestUser;
  let teamId: string;
  let environmentId: string;
  let made = 0;

  before(async () => {
    ({ id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'Shop' }));
    const person = async (name: string, role: 'EDITOR' | 'VIEWER') => {
      await makeUser(test.db, { email: `${name}@example.org`, teams: { [teamId]: role } });
      return signIn(test.url, `${name}@example.org`);
    };
    editor = await person('editor', 'EDITOR');
    viewer = await person('viewer', 'VIEWER');
  });
  const newEnvironment = async () =>
    (await root.mutate<{ id: string }>('environment.create', { name: `env ${++made}`, teamId })).id;
  beforeEach(async () => {
    environmentId = await newEnvironment();
  });

  const upload = (name: string, filename: string, fileType: string, pem: string) =>
    editor.call<Uploaded>('mutation', 'certificate.upload', {
      ...{ environmentId, name, filename, fileType },
      dataBase64: base64(pem),
    });
  const uploaded = async (...input: Parameters<typeof upload>): Promise<Uploaded> => {
    const { output, fault } = await upload(...input);
    if (!output) throw new Error(fault?.message);
    return output;
  };
  const list = () => viewer.query<CertificateSummary[]>('certificate.list', { environmentId });
  const otherKey = () =>
    generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();

  it('are told of, and never given out', async () => {
    const answer = await upload('shop', 'shop.pem', 'cert', LEAF);
    expect(answer.output).to.deep.include({
      ...{ name: 'shop', filename: 'shop.pem', fileType: 'cert', replaced: false },
      ...{ reference: '${SVC_CERT_DIR}/shop.pem', expired: false, warning: null, usedBy: [] },
    });
    const key = await upload('shop', 'shop.key', 'key', LEAF_KEY);
    expect(key.output).to.deep.include({ warning: null, expiresAt: null, expired: false });
    const all = await viewer.call('query', 'certificate.list', { environmentId });
    for (const { text } of [answer.answer, key.answer, all.answer]) {
      expect(text).not.to.include('BEGIN').and.not.include(base64(LEAF_KEY).slice(50, 90));
      for (const line of LEAF_KEY.split('\n').slice(1, 3)) expect(text).not.to.include(line);
    }
    const rows = await test.db('certificates').where({ environment_id: environmentId });
    for (const { sealed_data } of rows) expect(sealed_data).to.match(/^v1\.[0-9a-f]{8}\./);
    const audit = await test
      .db('audit_log')
      .where({ action: 'certificate.uploaded', entity_id: key.output?.id });
    expect(audit[0].metadata).to.deep.equal({
      ...{ name: 'shop', filename: 'shop.key', fileType: 'key', replaced: false },
    });
  });

  it('that have expired are taken, and say so', async () => {
    expect(await uploaded('old', 'old.pem', 'cert', EXPIRED)).to.include({
      expired: true,
      expiresAt: '2020-02-01T00:00:00.000Z',
    });
  });

  it('of one name that do not belong together are taken with a warning on both', async () => {
    await uploaded('Shop', 'shop.pem', 'cert', LEAF);
    const key = await uploaded('shop', 'shop.key', 'key', otherKey());
    expect(key.warning).to.include('does not belong to the certificate of that name');
    expect((await list()).map(({ warning }) => warning)).to.deep.equal(
      [key.warning, key.warning].map((text, index) =>
        index === 0 ? text?.replace('"shop"', '"Shop"') : text,
      ),
    );
    const right = await uploaded('shop', 'shop.key', 'key', LEAF_KEY);
    expect(right).to.include({ replaced: true, id: key.id, warning: null });
  });

  it('are refused as garbage with the reason, and nothing is kept', async () => {
    expectRefused(
      await upload('shop', 'shop.pem', 'cert', 'garbage'),
      400,
      'dataBase64: it contains no PEM block',
    );
    expect(await list()).to.deep.equal([]);
  });

  const NAMES = '../x.pem /etc/x.pem a/b.pem .. .hidden -x x\0y ü.pem'.split(' ');
  it('are refused under a name that is no name of a file, or that leads elsewhere', async () => {
    for (const filename of [...NAMES, 'a'.repeat(129), 'a b', '']) {
      const { status, fault } = await upload('shop', filename, 'cert', LEAF);
      expect(status, filename).to.equal(400);
      expect(fault?.message, filename).to.include('filename');
    }
  });

  it('have names of their own, in whatever case', async () => {
    await uploaded('shop', 'shop.pem', 'cert', LEAF);
    const { status, fault } = await upload('other', 'SHOP.pem', 'cert', LEAF);
    expect(status).to.equal(409);
    expect(fault?.message).to.include('SHOP.pem exists already');
    expect((await upload('shop', 'ca.pem', 'ca', AUTHORITY)).status, 'the same name, another type').to.equal(
      200,
    );
    const renamed = await uploaded('SHOP', 'renamed.pem', 'cert', LEAF);
    expect(renamed).to.include({ replaced: true, name: 'SHOP', filename: 'renamed.pem' });
    expect(await list()).to.have.length(2);
  });

  it('of which ten are uploaded at once are one, and nobody is answered 500', async () => {
    const same = await Promise.all(
      Array.from({ length: 10 }, () => upload('shop', 'shop.pem', 'cert', LEAF)),
    );
    expect(same.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 200));
    expect(same.filter(({ output }) => output?.replaced === false)).to.have.length(1);
    const different = await Promise.all(
      Array.from({ length: 10 }, (_, n) => upload(`name ${n}`, 'one.pem', 'cert', LEAF)),
    );
    expect(different.map(({ status }) => status).sort()).to.deep.equal([
      200,
      ...Array.from({ length: 9 }, () => 409),
    ]);
    expect(await list()).to.have.length(2);
  });

  it('are not found in another environment', async () => {
    const { id } = await uploaded('shop', 'shop.pem', 'cert', LEAF);
    const other = await newEnvironment();
    const { status } = await editor.call('mutation', 'certificate.delete', { environmentId: other, id });
    expect(status).to.equal(404);
    expect(await list()).to.have.length(1);
  });

  describe('that deployed pipelines refer to', () => {
    let clone: Clone;
    let node: TestNode;
    let path: string;
    let said = '';

    beforeEach(async () => {
      path = `environments/${environmentId}`;
      await root.mutate('gitSync.configure', { environmentId, mode: 'sync', path });
      const { token } = await root.mutate<{ token: string }>('user.createToken', { name: `git ${made}` });
      clone = await Clone.of(withCredentials(`${test.url}/git/config.git`, 'git', token));
      node = await enrollNode(test.url, await enrollmentToken(root, environmentId));
      ({ said } = await clone.push('Three pipelines', {
        [`${path}/secure.yaml`]: using(
          'secure',
          'ca: "${SVC_CERT_DIR}/ca.pem", key: "${SVC_CERT_DIR}/shop.key"',
        ),
        [`${path}/other.yaml`]: using('other', 'ca: "${SVC_CERT_DIR}/ca.pem"'),
        [`${path}/plain.yaml`]: idleManifest('plain'),
      }));
    });
    afterEach(() => clone?.remove());

    const using = (name: string, options: string) =>
      idleManifest(name).replace('type: blackhole', `type: blackhole, ${options}`);
    const served = async () =>
      (await node.config())
        .json<{ pipelines: PipelineEntry[] }>()
        .pipelines.sort((a, b) => (a.pipelineName < b.pipelineName ? -1 : 1));
    /** A node may poll 120 times a minute. */
    const everyMs = 100;
    const untilServed = (count: number) =>
      until(async () => (await served()).length === count, { what: `${count} pipelines`, everyMs });
    const checksums = async () =>
      Object.fromEntries((await served()).map(({ pipelineName, checksum }) => [pipelineName, checksum]));
    async function both() {
      const ca = await uploaded('ca', 'ca.pem', 'ca', AUTHORITY);
      const key = await uploaded('shop', 'shop.key', 'key', LEAF_KEY);
      await uploaded('nobody', 'nobody.pem', 'cert', LEAF);
      await untilServed(3);
      return { ca, key };
    }

    it('are asked for at their place, go to nodes with exactly these pipelines, and restart them when replaced', async () => {
      expect(said).to.include('the certificate file "ca.pem" does not exist in this environment');
      expect((await served()).map(({ pipelineName }) => pipelineName)).to.deep.equal(['plain']);
      await uploaded('ca', 'ca.pem', 'ca', AUTHORITY);
      await untilServed(2);
      await uploaded('shop', 'shop.key', 'key', LEAF_KEY);
      await uploaded('nobody', 'nobody.pem', 'cert', LEAF);
      await untilServed(3);

      const [other, plain, secure] = await served();
      const ca = { name: 'ca', filename: 'ca.pem', data: base64(AUTHORITY) };
      expect(other?.certFiles).to.deep.equal([ca]);
      expect(plain?.certFiles).to.deep.equal([]);
      expect(secure?.certFiles).to.deep.equal([
        ca,
        { name: 'shop', filename: 'shop.key', data: base64(LEAF_KEY) },
      ]);
      expect(secure?.configYaml).to.include('${SVC_CERT_DIR}/shop.key');
      expect((await list()).map(({ filename, usedBy }) => [filename, usedBy])).to.deep.equal([
        ['ca.pem', ['other', 'secure']],
        ['nobody.pem', []],
        ['shop.key', ['secure']],
      ]);

      const before = await checksums();
      await uploaded('shop', 'shop.key', 'key', otherKey());
      await until(async () => (await checksums()).secure !== before.secure, {
        what: 'the new key',
        everyMs,
      });
      expect(await checksums()).to.include({ other: before.other, plain: before.plain });
      const middle = await checksums();
      await uploaded('nobody', 'nobody.pem', 'cert', EXPIRED);
      await uploaded('ca', 'ca.pem', 'ca', AUTHORITY + AUTHORITY);
      await until(async () => (await checksums()).other !== middle.other, {
        what: 'the new authority',
        everyMs,
      });
      const after = await checksums();
      expect(after.secure).not.to.equal(middle.secure);
      expect(after.plain).to.equal(middle.plain);
    });

    it('are not deleted, and not renamed, while they do', async () => {
      const { ca } = await both();
      const { status, fault } = await editor.call('mutation', 'certificate.delete', {
        environmentId,
        id: ca.id,
      });
      expect(status).to.equal(412);
      expect(fault?.message).to.match(
        /^ca\.pem is used by deployed pipelines: other, secure\. Remove the reference/,
      );
      const renamed = await upload('ca', 'new-ca.pem', 'ca', AUTHORITY);
      expect(renamed.status).to.equal(412);
      await clone.push('Without', {
        [`${path}/secure.yaml`]: null,
        [`${path}/other.yaml`]: idleManifest('other'),
      });
      await untilServed(2);
      await editor.mutate('certificate.delete', { environmentId, id: ca.id });
      expect(await list()).to.have.length(2);
    });

    it('and that cannot be opened any longer leave the pipelines as they last were', async () => {
      await both();
      const before = await served();
      await test.db('certificates').where({ filename: 'shop.key' }).update({ sealed_data: 'damaged' });
      await uploaded('ca', 'ca.pem', 'ca', AUTHORITY + AUTHORITY);
      await until(
        async () =>
          (await checksums()).other !== before.find(({ pipelineName }) => pipelineName === 'other')?.checksum,
        { what: 'the other pipeline to move on', everyMs },
      );
      expect((await served()).find(({ pipelineName }) => pipelineName === 'secure')).to.deep.equal(
        before.find(({ pipelineName }) => pipelineName === 'secure'),
      );
    });
  });
});
