import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadNodeToken, saveNodeToken } from '../../../agent/link/node-token.ts';
import { TokenFile } from '../../../agent/link/token-file.ts';
import { createLogger } from '../../../agent/log.ts';
import { DataDirectory } from '../../../agent/supervise/files/data-directory.ts';

describe('the node token of a running agent', () => {
  let folder: string;
  let directory: DataDirectory;
  let lines: string[];
  let file: TokenFile;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-token-'));
    directory = new DataDirectory(join(folder, 'data'));
    directory.ensureRoot();
    saveNodeToken(directory, 'the-token');
    lines = [];
    file = new TokenFile(
      directory,
      'the-token',
      createLogger('info', (line) => lines.push(line)),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is written again, for its owner alone, when its file or its folder is gone or the file is empty', () => {
    for (const lose of [
      () => rmSync(directory.token),
      () => writeFileSync(directory.token, ''),
      () => rmSync(directory.root, { recursive: true }),
    ]) {
      lose();
      file.restore();
      expect(loadNodeToken(directory)).to.equal('the-token');
      expect(statSync(directory.token).mode & 0o777).to.equal(0o600);
      expect(readdirSync(directory.root)).to.deep.equal(['node-token']);
    }
    expect(lines).to.have.length(3);
    expect(lines[0]).to.match(/level=warn .*written again/);
    expect(lines.join('')).not.to.contain('the-token');
  });

  it('is left alone while its file is there', () => {
    writeFileSync(directory.token, 'another\n');
    const { ino } = statSync(directory.token);
    file.restore();
    expect(readFileSync(directory.token, 'utf8')).to.equal('another\n');
    expect(statSync(directory.token).ino).to.equal(ino);
    expect(lines).to.deep.equal([]);
  });

  it('says once that it cannot be written, and goes on trying', () => {
    rmSync(directory.root, { recursive: true });
    writeFileSync(directory.root, 'in the way');
    for (let n = 0; n < 3; n += 1) file.restore();
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/level=error .*cannot be written/);
    rmSync(directory.root);
    file.restore();
    expect(loadNodeToken(directory)).to.equal('the-token');
  });
});
