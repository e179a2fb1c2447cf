/** What a command has found, before it is written in one of the forms. */
import type { Format } from '../command.ts';
import type { Finding } from './finding.ts';
import { githubAnnotations } from './github.ts';
import { junitXml } from './junit.ts';

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
