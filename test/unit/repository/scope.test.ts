import { expect } from 'chai';
import { assertRefName, normalizeFolder } from '../../../controller/delivery/bindings/branch-and-folder.ts';

const outcome = (read: () => string): string => {
  try {
    return read();
  } catch (error) {
    return (error as Error).message.replace(/^.*is (not a \w+).*$/s, '$1');
  }
};

describe('what a binding follows', () => {
  const folders: [given: string, kept: string][] = [
    ['environments/production', 'environments/production'],
    ['./a//b/', 'a/b'],
    ['', ''],
    [' with blanks ', ' with blanks '],
    ['.github', '.github'],
    ['../x', 'not a folder'],
    ['a/../../b', 'not a folder'],
    ['/etc', 'not a folder'],
    ['a\\b', 'not a folder'],
    ['.git', 'not a folder'],
    ['a/.GIT/b', 'not a folder'],
    ['a\nb', 'not a folder'],
    ['a\u202eb', 'not a folder'],
  ];
  for (const [given, kept] of folders)
    it(`makes the folder ${JSON.stringify(given)} ${JSON.stringify(kept)}`, () =>
      expect(outcome(() => normalizeFolder(given))).to.equal(kept));

  for (const ref of ['main', 'feature/a-1', 'v1.0', 'Äpfel', 'refs/tags/v1', 'a@b'])
    it(`takes the branch ${ref}`, () => expect(outcome(() => assertRefName(ref))).to.equal(ref));
  const refused = [
    ...['-x', '/x', '.x', 'a/.x', 'a//b', 'a..b', 'a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', '[a', 'a\\b'],
    ...['@', '@{-1}', 'a.lock', 'a.lock/b', 'a/', 'a.', 'a\nb', 'a\u0000', 'a\u200bb', 'a\u202eb'],
  ];
  for (const ref of refused)
    it(`refuses the branch ${JSON.stringify(ref)}`, () =>
      expect(outcome(() => assertRefName(ref))).to.equal('not a branch'));
});
