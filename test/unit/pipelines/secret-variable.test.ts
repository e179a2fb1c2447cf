// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import { secretReferences } from '../../../controller/secrets/references/secret-references.ts';
import { secretVariable } from '../../../schemas/pipelines/secret-variable.ts';

describe('the variable of a secret', () => {
  const rows: [name: string, variable: string][] = [
    ['search_password', 'SVC_SECRET_SEARCH_PASSWORD'],
    ['Search Password', 'SVC_SECRET_SEARCH_PASSWORD'],
    ['search-password', 'SVC_SECRET_SEARCH_PASSWORD'],
    ['a--b__c', 'SVC_SECRET_A_B_C'],
    ['k8s.token', 'SVC_SECRET_K8S_TOKEN'],
    ['LD_PRELOAD', 'SVC_SECRET_LD_PRELOAD'],
  ];
  for (const [name, variable] of rows)
    it(`of "${name}" is ${variable}`, () => expect(secretVariable(name)).to.equal(variable));
});

describe('the secrets that a config names', () => {
  const rows: [reason: string, text: string, found: string[]][] = [
    ['braces', 'password: ${SVC_SECRET_A}', ['SVC_SECRET_A']],
    ['no braces', 'password: $SVC_SECRET_A', ['SVC_SECRET_A']],
    [
      'several, one twice',
      '${SVC_SECRET_B} ${SVC_SECRET_A} ${SVC_SECRET_B}',
      ['SVC_SECRET_A', 'SVC_SECRET_B'],
    ],
    ['inside other text', 'Bearer ${SVC_SECRET_A}.x', ['SVC_SECRET_A']],
    ['a default', '${SVC_SECRET_A:-x} ${SVC_SECRET_B-}', ['SVC_SECRET_A?', 'SVC_SECRET_B?']],
    ['a default at one place only', '${SVC_SECRET_A:-x} ${SVC_SECRET_A}', ['SVC_SECRET_A']],
    ['a message for its absence', '${SVC_SECRET_A:?must be set}', ['SVC_SECRET_A']],
    ['other variables', '${HOSTNAME} $HOME', []],
    ['a literal dollar', '$${SVC_SECRET_A} $$SVC_SECRET_B', []],
    ['a literal dollar before one', '$$${SVC_SECRET_A}', ['SVC_SECRET_A']],
    ['only the prefix', '${SVC_SECRET_}', []],
  ];
  for (const [reason, text, found] of rows) {
    it(`are ${found.join(', ') || 'none'} of ${reason}: ${text}`, () => {
      expect(
        secretReferences(text).map(({ variable, optional }) => variable + (optional ? '?' : '')),
      ).to.deep.equal(found);
    });
  }
});
