/** A new build of the web UI takes the place of the one that a controller serves. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Koa from 'koa';
import { webRoutes } from '../../../api/http/static.ts';
import { send } from '../../support/clients/http.ts';

describe('the files of the web UI', () => {
  it('that an upgrade in place has taken away are not found, and the controller goes on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-web-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><script nonce=""></script>');
    for (const name of ['old.js', 'stays.js']) writeFileSync(join(folder, 'assets', name), '1;\n');
    const server = new Koa().use(webRoutes(folder)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect((await send(`${url}/assets/old.js`)).status).to.equal(200);
      rmSync(join(folder, 'assets/old.js'));
      expect((await send(`${url}/assets/old.js`)).status).to.equal(404);
      expect((await send(`${url}/assets/stays.js`)).status).to.equal(200);
    } finally {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
