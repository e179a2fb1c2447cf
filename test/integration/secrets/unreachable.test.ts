/** Stores of secrets that cannot be reached, whichever they are: not allowed, not there, or silent. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTargetGuard } from '../../../controller/platform/net/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { startOf } from '../../../controller/platform/runtime/process-record.ts';
import type { SecretBackend } from '../../../controller/secrets/backends/backend.ts';
import { createCloudBackend } from '../../../controller/secrets/backends/cloud-sm.ts';
import { createExecBackend } from '../../../controller/secrets/backends/exec.ts';
import { createVaultBackend } from '../../../controller/secrets/backends/vault.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { faultOf, refs, still } from '../../support/fixtures/secret-refs.ts';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { ACCESS_KEY, SecretsManagerServer } from '../../support/servers/secrets-manager-server.ts';
import { VaultServer } from '../../support/servers/vault-server.ts';

type Store = VaultServer | SecretsManagerServer;

function backendOf(store: Store, address = store.url, guard = localGuard()): SecretBackend {
  const parts = { guard, proxies: NO_PROXIES, serviceAccountToken: async () => '' };
  if (store instanceof VaultServer)
    return createVaultBackend({ address, auth: { method: 'token', token: 'hvs.root-of-the-test' } }, parts);
  const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: 'the/secret+key+of+the+test' };
  return createCloudBackend({ region: 'eu-central-1', endpoint: address, ...credentials }, parts);
}

describe('a store of secrets', () => {
  const made: SecretBackend[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'headgate-stores-'));
  let stores: Store[];

  beforeEach(async () => {
    stores = [await VaultServer.start(), await SecretsManagerServer.start()];
  });
  afterEach(async () => {
    for (const backend of made.splice(0)) backend.close();
    for (const store of stores) await store.close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const open = (...of: Parameters<typeof backendOf>) => {
    made.push(backendOf(...of));
    return made.at(-1)!;
  };

  it('is not asked at an address that the operator does not allow', async () => {
    const none = createTargetGuard([], createLogger('silent'));
    for (const store of stores) {
      for (const address of [store.url, store.url.replace('127.0.0.1', 'localhost')]) {
        const { fault, message } = await faultOf(open(store, address, none).check(still));
        expect(fault).to.equal('unreachable');
        expect(message).to.match(/cannot be reached: nothing answers there, or .*HEADGATE_PRIVATE_TARGETS/);
      }
      expect(store.requests).to.deep.equal([]);
    }
  });

  it('is out of reach where nobody listens', async () => {
    for (const store of stores.splice(0)) {
      const backend = open(store);
      await store.close();
      const { fault, message } = await faultOf(backend.check(still));
      expect(fault).to.equal('unreachable');
      expect(message).to.include('cannot be reached: nothing answers there');
    }
  });

  it('is given up at once when nobody wants its values any longer', async () => {
    for (const store of stores) {
      store.fault = 'silent';
      const stopping = new AbortController();
      const work = open(store).read(refs(['db']), stopping.signal);
      stopping.abort(new Error('stopping'));
      expect(await work.catch((error: Error) => error.message)).to.equal('stopping');
    }
  });

  it('is not waited for for longer than 10 seconds; of a program all that it has started ends', async function () {
    this.timeout(20_000);
    this.slow(13_000);
    const pid = join(folder, 'child');
    const command = join(folder, 'program');
    writeFileSync(command, `#!/bin/sh\nsleep 300 & echo $! > ${pid}\nwait\n`, { mode: 0o755 });
    for (const store of stores) store.fault = 'silent';
    const began = performance.now();
    const [program, ...silent] = await Promise.all([
      faultOf(createExecBackend({ command, args: [] }).read(refs(['db']), still)),
      ...stores.map((store) => faultOf(open(store).check(still))),
    ]);
    expect(performance.now() - began).to.be.within(9_500, patient(13_000));
    for (const { message } of silent) expect(message).to.include('cannot be reached: nothing answers there');
    expect(program.fault).to.equal('unreachable');
    expect(program.message).to.include('took longer than 10 s and was killed');
    await until(() => startOf(Number(readFileSync(pid, 'utf8'))) === null, { what: 'its child to end' });
  });
});
