import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  holdFile,
  recordProcess,
  runningProcess,
  startOf,
} from '../../../controller/platform/runtime/process-record.ts';

describe('a process remembered in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-record-'));
  const file = join(folder, 'one.pid');
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => rmSync(file, { force: true }));

  it('is found while it runs, and no longer once it has ended', async () => {
    const child = spawn('sleep', ['60']);
    recordProcess(file, child.pid ?? 0);
    expect(runningProcess(file)).to.equal(child.pid);
    child.kill();
    await once(child, 'exit');
    expect(runningProcess(file)).to.equal(null);
  });

  const NOBODY: readonly { reason: string; text: string }[] = [
    { reason: 'the pid was given to a later process', text: `${process.pid} 1\n` },
    { reason: 'the start is missing', text: `${process.pid} \n` },
    { reason: 'it was cut off while it was written', text: `${process.pid}` },
    { reason: 'it is empty', text: '' },
    { reason: 'it holds something else', text: '-1 0\n' },
  ];
  for (const { reason, text } of NOBODY) {
    it(`is nobody where ${reason}`, () => {
      writeFileSync(file, text);
      expect(runningProcess(file)).to.equal(null);
    });
  }

  it('keeps a file from others until it lets go', () => {
    const release = holdFile(file);
    expect(release).to.be.a('function');
    expect(holdFile(file)).to.equal(process.pid);
    if (typeof release === 'function') release();
    expect(existsSync(file)).to.equal(false);
  });

  it('takes a file over from one that has ended', () => {
    writeFileSync(file, `${process.pid} 1\n`);
    expect(holdFile(file)).to.be.a('function');
    expect(runningProcess(file)).to.equal(process.pid);
  });

  it('has no start where it does not exist', () => {
    expect(startOf(2 ** 30)).to.equal(null);
  });
});
