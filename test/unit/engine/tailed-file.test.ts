import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Checkpoints } from '../../../examples/engine/sources/checkpoints.ts';
import { TailedFile } from '../../../examples/engine/sources/tailed-file.ts';

describe('following a file', () => {
  let folder: string;
  let path: string;
  const opened: TailedFile[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'engine-tail-'));
    path = join(folder, 'app.log');
  });
  afterEach(() => {
    for (const file of opened.splice(0)) file.close();
    rmSync(folder, { recursive: true });
  });

  const open = (maxLineBytes = 1000) => {
    const file = new TailedFile(path, '\n', maxLineBytes);
    opened.push(file);
    return file;
  };
  const texts = (file: TailedFile) => file.read(64).lines.map((line) => line.text);

  it('gives whole lines only, and the rest once its line break comes', () => {
    writeFileSync(path, 'one\r\ntwo\nthr');
    const file = open();
    expect(texts(file)).to.deep.equal(['one', 'two']);
    appendFileSync(path, 'ee\n');
    expect(texts(file)).to.deep.equal(['three']);
  });

  it('keeps characters whole that lie across two reads', () => {
    writeFileSync(path, `${'é'.repeat(40)}\n`);
    const file = open();
    expect([...texts(file), ...texts(file)]).to.deep.equal(['é'.repeat(40)]);
  });

  it('starts over when the file was cut short', () => {
    writeFileSync(path, 'one\ntwo\n');
    const file = open();
    texts(file);
    writeFileSync(path, 'new\n');
    const result = file.read(64);
    expect(result.truncated).to.equal(true);
    expect(result.lines.map((line) => line.text)).to.deep.equal(['new']);
  });

  it('starts over when the file was rewritten to a longer one', () => {
    writeFileSync(path, 'one\n');
    const file = open();
    texts(file);
    writeFileSync(path, 'other\nlines\n');
    expect(texts(file)).to.deep.equal(['other', 'lines']);
  });

  it('reads on after a rename', () => {
    writeFileSync(path, 'one\n');
    const file = open();
    texts(file);
    renameSync(path, `${path}.1`);
    appendFileSync(`${path}.1`, 'two\n');
    expect(texts(file)).to.deep.equal(['two']);
  });

  it('leaves out a line above the cap without holding it in memory, and goes on after it', () => {
    writeFileSync(path, `${'x'.repeat(200)}\nshort\n`);
    const file = open(50);
    const lines: string[] = [];
    let tooLong = 0;
    for (let round = 0; round < 5; round += 1) {
      const result = file.read(64);
      lines.push(...result.lines.map((line) => line.text));
      tooLong += result.tooLong;
    }
    expect(lines).to.deep.equal(['short']);
    expect(tooLong).to.equal(1);
  });

  it('goes on at a stored position, and not if the file is another one', () => {
    writeFileSync(path, 'one\ntwo\n');
    const first = open();
    texts(first);
    const stored = new Checkpoints(join(folder, 'in'));
    stored.set(first.checkpoint(Date.now()));
    stored.save(Date.now());

    appendFileSync(path, 'three\n');
    const again = new Checkpoints(join(folder, 'in'));
    again.load();
    const second = open();
    expect(second.resume(again.get(second.identity)!)).to.equal(true);
    expect(texts(second)).to.deep.equal(['three']);

    writeFileSync(path, 'something else altogether\n');
    expect(open().resume(again.get(second.identity)!)).to.equal(false);
  });

  it('knows a file again that was skipped to its end', () => {
    writeFileSync(path, 'old\n');
    const first = open();
    first.skipToEnd();
    appendFileSync(path, 'new\n');
    const second = open();
    expect(second.resume(first.checkpoint(0))).to.equal(true);
    expect(texts(second)).to.deep.equal(['new']);
  });

  it('forgets files that were not seen for 30 days', () => {
    const day = 24 * 3600 * 1000;
    const checkpoints = new Checkpoints(join(folder, 'in'));
    checkpoints.set({ identity: 'old', position: 1, head: '', headLength: 0, seen: 0 });
    checkpoints.set({ identity: 'new', position: 1, head: '', headLength: 0, seen: 20 * day });
    checkpoints.save(31 * day);
    const again = new Checkpoints(join(folder, 'in'));
    again.load();
    expect(again.get('old')).to.equal(undefined);
    expect(again.get('new')).not.to.equal(undefined);
  });
});
