// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import { secretReferences, secretVariable } from '../../../controller/secrets/secrets/variable.ts';

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
  const rows: { reason: string; text: string; found: string[] }[] = [
    { reason: 'braces', text: 'password: ${SVC_SECRET_A}', found: ['SVC_SECRET_A'] },
    { reason: 'no braces', text: 'password: $SVC_SECRET_A', found: ['SVC_SECRET_A'] },
    {
      reason: 'several, one twice',
      text: '${SVC_SECRET_B} ${SVC_SECRET_A} ${SVC_SECRET_B}',
      found: ['SVC_SECRET_A', 'SVC_SECRET_B'],
    },
    { reason: 'inside other text', text: 'Bearer ${SVC_SECRET_A}.x', found: ['SVC_SECRET_A'] },
    {
      reason: 'a default',
      text: '${SVC_SECRET_A:-x} ${SVC_SECRET_B-}',
      found: ['SVC_SECRET_A?', 'SVC_SECRET_B?'],
    },
    {
      reason: 'a default at one place only',
      text: '${SVC_SECRET_A:-x} ${SVC_SECRET_A}',
      found: ['SVC_SECRET_A'],
    },
    { reason: 'a message for its absence', text: '${SVC_SECRET_A:?must be set}', found: ['SVC_SECRET_A'] },
    { reason: 'other variables', text: '${HOSTNAME} $HOME', found: [] },
    { reason: 'a literal dollar', text: '$${SVC_SECRET_A} $$SVC_SECRET_B', found: [] },
    { reason: 'a literal dollar before one', text: '$$${SVC_SECRET_A}', found: ['SVC_SECRET_A'] },
    { reason: 'only the prefix', text: '${SVC_SECRET_}', found: [] },
  ];
  for (const { reason, text, found } of rows) {
    it(`are ${found.join(', ') || 'none'} of ${reason}: ${text}`, () => {
      expect(
        secretReferences(text).map(({ variable, optional }) => variable + (optional ? '?' : '')),
      ).to.deep.equal(found);
    });
  }
});
