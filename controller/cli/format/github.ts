/** Annotations of a GitHub workflow: https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
import type { Finding } from './finding.ts';
import type { Report } from './report.ts';

/** GitHub shows 10 errors and 10 warnings of a step; the rest would only fill the log. */
const MOST = 50;

const inMessage = (text: string): string =>
  text
    .replaceAll(/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]/g, '\ufffd')
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
const inProperty = (text: string): string => inMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

export function annotation({ severity, message, hint, path, line, column }: Finding): string {
  const place = [
    ...(path === null ? [] : [`file=${inProperty(path)}`]),
    ...(line === null ? [] : [`line=${line}`]),
    ...(column === null ? [] : [`col=${column}`]),
  ].join(',');
  return `::${severity}${place === '' ? '' : ` ${place}`}::${inMessage(hint === '' ? message : `${message}\n${hint}`)}`;
}

/** What is no annotation is written with a leading space at least, so that no line of it is taken for a command. */
export function githubAnnotations({ suites, text }: Report): string {
  const findings = suites.flatMap(({ cases }) => cases.flatMap((one) => one.findings));
  const plain = text
    .split(/\r\n|[\r\n]/)
    .map((line) => (line.trimStart().startsWith('::') || line.includes('##[') ? `| ${line}` : line));
  return `${plain.join('\n')}${findings.slice(0, MOST).map(annotation).join('\n')}${findings.length > 0 ? '\n' : ''}`;
}
