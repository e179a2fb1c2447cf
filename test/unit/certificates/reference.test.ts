// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are what is tested here
import { expect } from 'chai';
import { checkVariables } from '../../../controller/pipelines/definition/checks/check-variables.ts';
import type { Definition } from '../../../controller/pipelines/definition/definition.ts';
import {
  certificateReferences,
  expandCertificates,
  filenameAfter,
  referenceTo,
} from '../../../controller/secrets/certificates/reference.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

describe('references to certificate files', () => {
  const CASES: { text: string; names: string[]; reason: string }[] = [
    { text: 'ca_file: ${SVC_CERT_DIR}/ca.pem', names: ['ca.pem'], reason: 'in braces' },
    { text: 'ca_file: "$SVC_CERT_DIR/ca.pem"', names: ['ca.pem'], reason: 'bare' },
    {
      text: '${SVC_CERT_DIR:-/var/lib/svc-agent/certs}/ca.pem',
      names: ['ca.pem'],
      reason: 'with a default for agents that do not set it',
    },
    {
      text: 'a: ${SVC_CERT_DIR}/b.key\nc: "${SVC_CERT_DIR}/a.pem", d: ${SVC_CERT_DIR}/b.key',
      names: ['a.pem', 'b.key'],
      reason: 'each once, sorted',
    },
    { text: '$${SVC_CERT_DIR}/ca.pem and $$SVC_CERT_DIR/ca.pem', names: [], reason: 'two dollars are text' },
    { text: '${SVC_CERT_DIR}', names: [], reason: 'the folder alone names none' },
    { text: '${SVC_CERT_DIR}/../node-token', names: [], reason: 'no way out' },
    { text: '${SVC_CERT_DIR}/.hidden', names: [], reason: 'no leading dot' },
    { text: '$SVC_CERT_DIRECTORY/ca.pem certs/ca.pem', names: [], reason: 'another name' },
  ];
  for (const { text, names, reason } of CASES) {
    it(`are found in ${JSON.stringify(text)}: ${reason}`, () => {
      expect(certificateReferences(text)).to.deep.equal(names);
    });
  }

  it('are what is shown to people', () => {
    expect(certificateReferences(referenceTo('ca.pem'))).to.deep.equal(['ca.pem']);
    expect(filenameAfter('/ca.pem"')).to.equal('ca.pem');
    expect(filenameAfter('ca.pem')).to.equal(null);
  });

  it('are expanded as an engine does it', () => {
    expect(expandCertificates('a: ${SVC_CERT_DIR}/ca.pem, $$SVC_CERT_DIR/x, $SVC_CERT_DIR', '/c')).to.equal(
      'a: /c/ca.pem, $$SVC_CERT_DIR/x, /c',
    );
  });

  it('are looked for in time linear to the text', () => {
    const began = cpuMs();
    certificateReferences('${SVC_CERT_DIR:-'.repeat(20_000));
    certificateReferences('$SVC_CERT_DIR/'.repeat(50_000));
    expect(cpuMs() - began).to.be.below(patient(2_000));
  });

  const definition = (path: string) =>
    ({
      sources: {},
      transforms: {},
      sinks: { out: { tls: { ca_file: path } } },
      global: {},
    }) as unknown as Definition;
  const has = new Set(['SVC_SECRET_DB', 'SVC_CERT_DIR/ca.pem']);

  it('pass the check where the file is there', () => {
    expect(checkVariables(definition('${SVC_CERT_DIR}/ca.pem'), has)).to.deep.equal([]);
  });

  const FAULTS: { path: string; message: string; hint: RegExp }[] = [
    {
      path: '${SVC_CERT_DIR}/cb.pem',
      message: 'the certificate file "cb.pem" does not exist in this environment',
      hint: /^did you mean "ca\.pem"\?$/,
    },
    {
      path: '${SVC_CERT_DIR:-/etc}/quite-another.crt',
      message: 'the certificate file "quite-another.crt" does not exist in this environment',
      hint: /^upload it with certificate\.upload and that file name/,
    },
    {
      path: '${SVC_CERT_DIR}/*.pem',
      message: '"${SVC_CERT_DIR}" names no certificate file',
      hint: /write the file name after it, for example "\$\{SVC_CERT_DIR\}\/ca\.pem"/,
    },
  ];
  for (const { path, message, hint } of FAULTS) {
    it(`are refused as ${path}, at their place`, () => {
      const [finding] = checkVariables(definition(path), has);
      expect(finding).to.include({ level: 'secrets', pointer: '/sinks/out/tls/ca_file', message });
      expect(finding).to.include({ componentKey: 'out', line: 1, column: 1 });
      expect(finding?.hint).to.match(hint);
    });
  }
});
