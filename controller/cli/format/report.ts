/** What a command has found, before it is written in one of the forms. */

import { visible } from '../../platform/text/visible-text.ts';
import type { Format } from '../command.ts';
import { githubAnnotations } from './github.ts';
import { junitXml } from './junit.ts';

export interface Finding {
  severity: 'error' | 'warning';
  message: string;
  /** What to do; empty where there is nothing to say. */
  hint: string;
  /** As the user of the command would write it; null where it is in no file. */
  path: string | null;
  line: number | null;
  column: number | null;
}

/** A manifest, a transform test or a change: what passes or fails on its own. */
export interface Case {
  name: string;
  /** Null where it stands in no file. */
  path: string | null;
  line: number | null;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  reason: string | null;
  findings: readonly Finding[];
}

export interface Suite {
  name: string;
  cases: readonly Case[];
}

export interface Report {
  command: string;
  suites: readonly Suite[];
  /** For people. */
  text: string;
  /** For programs. */
  json: unknown;
}

export function render(report: Report, format: Format): string {
  switch (format) {
    case 'text':
      return report.text;
    case 'json':
      return `${JSON.stringify(report.json, null, 2)}\n`;
    case 'junit':
      return junitXml(report);
    case 'github':
      return githubAnnotations(report);
  }
}

/** Place, what is wrong, what to do: a line each. Further lines of one are marked, so that a workflow takes none for a command. */
export function findingLines(finding: Finding, indent: string): string[] {
  const place = formatLocation(finding);
  const texts = [finding.message, finding.hint].filter((text) => text !== '');
  return [
    ...(place === '' ? [] : [`${indent}${visible(place)}`]),
    ...texts.flatMap((text) =>
      text.split('\n').map((line, index) => `${indent}    ${index === 0 ? '' : '| '}${visible(line)}`),
    ),
  ];
}

export function formatLocation({ path, line, column }: Pick<Finding, 'path' | 'line' | 'column'>): string {
  return [path ?? '', line, column].filter((part) => part !== null && part !== '').join(':');
}
