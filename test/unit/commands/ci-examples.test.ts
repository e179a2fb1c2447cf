/** The CI examples are YAML, and every command in them is one that there is, with options that it takes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseDocument } from 'yaml';
import { type Command, parse } from '../../../controller/cli/command.ts';
import { plan } from '../../../controller/cli/plan.ts';
import { test } from '../../../controller/cli/test.ts';
import { validate } from '../../../controller/cli/validate.ts';

const folder = join(import.meta.dirname, '../../../examples/deploy/ci');
const COMMANDS: Readonly<Record<string, Command>> = { plan, test, validate };

function read(file: string): unknown {
  const tags = [{ tag: '!reference', collection: 'seq' as const, resolve: () => undefined }];
  const document = parseDocument(readFileSync(join(folder, file), 'utf8'), { customTags: tags });
  expect(document.errors.concat(document.warnings), file).to.deep.equal([]);
  return document.toJS();
}

/** Every text that a shell would run. */
function scripts(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return /^(run|script|before_script)$/.test(key) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => scripts(item, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => scripts(item, name));
}

/** What stands behind `headgate`, up to the shell's own signs. */
const calls = (script: string): string[][] =>
  [...script.matchAll(/(?:^|&& |\| )headgate ([^|&>\n]+)/gm)].map(([, args = '']) =>
    args
      .trim()
      .split(/\s+(?![^{]*\}\})/)
      .map((word) => word.replaceAll('"', '')),
  );

describe('the CI examples', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

  it('are there for GitHub and GitLab', () => {
    expect(files).to.deep.equal(['github.yaml', 'gitlab.yaml']);
  });

  for (const file of files) {
    it(`${file} validates, tests and plans, by commands and options that there are`, () => {
      const found = scripts(read(file)).flatMap(calls);
      expect([...new Set(found.map(([name]) => name))].sort()).to.deep.equal(['plan', 'test', 'validate']);
      for (const [name = '', ...args] of found) {
        const command = COMMANDS[name];
        expect(command, name).not.to.equal(undefined);
        if (command) expect(parse(command, args).help).to.equal(false);
      }
    });

    it(`${file} hands keys over by the environment alone`, () => {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const call of scripts(read(file)).flatMap(calls)) expect(call.join(' ')).not.to.include('KEY');
      expect(text).not.to.match(/svc_\w/);
    });
  }

  it('give the workflow of GitHub no right but to read', () => {
    expect((read('github.yaml') as { permissions: object }).permissions).to.deep.equal({ contents: 'read' });
  });
});
