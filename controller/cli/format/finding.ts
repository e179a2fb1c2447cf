/** One thing that is wrong, and where. */
import { visible } from '../../platform/text/visible-text.ts';

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
