/** The JUnit form that CI servers read: a suite each environment, a case each manifest, test or change. */

import { formatLocation } from './finding.ts';
import type { Case, Report, Suite } from './report.ts';

/** XML has no other control characters, not even escaped. */
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu;
const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};
const inText = (text: string): string =>
  text.replaceAll(FORBIDDEN, '\ufffd').replaceAll(/[&<>\r]/g, (sign) => SIGNS[sign] ?? sign);
const attribute = (name: string, value: string | number): string =>
  ` ${name}="${String(value)
    .replaceAll(FORBIDDEN, '\ufffd')
    .replaceAll(/[&<>"\n\r\t]/g, (sign) => SIGNS[sign] ?? sign)}"`;

const counts = (cases: readonly Case[]): string =>
  attribute('tests', cases.length) +
  attribute('failures', cases.filter(({ outcome }) => outcome === 'failed').length) +
  attribute('skipped', cases.filter(({ outcome }) => outcome === 'skipped').length);

function caseXml(suite: Suite, { name, path, line, outcome, reason, findings }: Case): string {
  const place =
    (path === null ? '' : attribute('file', path)) + (line === null ? '' : attribute('line', line));
  const head = `    <testcase${attribute('classname', suite.name)}${attribute('name', name)}${place}`;
  if (outcome === 'passed') return `${head}/>`;
  if (outcome === 'skipped')
    return `${head}>\n      <skipped${attribute('message', reason ?? '')}/>\n    </testcase>`;
  const body = findings.map((one) =>
    [formatLocation(one), one.message, one.hint].filter((part) => part !== '').join('\n'),
  );
  const message = findings[0]?.message ?? reason ?? 'failed';
  return `${head}>\n      <failure${attribute('message', message)}>${inText(body.join('\n\n'))}</failure>\n    </testcase>`;
}

export function junitXml({ command, suites }: Report): string {
  const all = suites.flatMap(({ cases }) => cases);
  const lines = suites.flatMap((suite) => [
    `  <testsuite${attribute('name', suite.name)}${counts(suite.cases)}>`,
    ...suite.cases.map((one) => caseXml(suite, one)),
    '  </testsuite>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attribute('name', `headgate ${command}`)}${counts(all)}>`,
    ...lines,
    '</testsuites>',
    '',
  ].join('\n');
}
