import { expect } from 'chai';
import { type Command, EXIT, helpOf, parse, UsageError } from '../../../controller/cli/command.ts';

const COMMAND: Command = {
  usage: ['headgate try [folder]'],
  help: 'Tries.',
  options: {
    path: { value: '<folder>', repeated: true, help: 'where' },
    format: { value: '<form>', oneOf: ['text', 'json'], help: 'how' },
    force: { help: 'anyway' },
  },
  positionals: 1,
  run: async () => EXIT.fine,
};

describe('the arguments of a command', () => {
  it('are read in either order, with = or a space', () => {
    const given = parse(COMMAND, ['--path', 'a', 'folder', '--path=b', '--force', '--format=json']);
    expect(given.positionals).to.deep.equal(['folder']);
    expect(given.values('path')).to.deep.equal(['a', 'b']);
    expect([given.value('format'), given.flag('force'), given.help]).to.deep.equal(['json', true, false]);
    expect(parse(COMMAND, []).value('format')).to.equal(undefined);
    expect(parse(COMMAND, ['--', '--force']).positionals).to.deep.equal(['--force']);
  });

  for (const args of [
    ['--nope'],
    ['--format'],
    ['--format', 'xml'],
    ['a', 'b'],
    ['--force=1'],
    ['-x'],
    ['--format', 'json', '--nope=1'],
  ]) {
    it(`are refused: ${args.join(' ')}`, () => {
      expect(() => parse(COMMAND, args)).to.throw(UsageError);
    });
  }

  it('are explained with every option', () => {
    expect(parse(COMMAND, ['--help', 'a', 'b']).help).to.equal(true);
    expect(helpOf(COMMAND)).to.equal(`headgate try [folder]

Tries.

  --path <folder>            where
  --format <form>            how
  --force                    anyway
`);
  });
});
