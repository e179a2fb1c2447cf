export interface TestOutcome {
  name: string;
  /** None where it passed. */
  failures: readonly string[];
  seconds: number;
}

/** A report as build servers read it. */
export function junitReport(outcomes: readonly TestOutcome[]): string {
  const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
  const cases = outcomes.map(({ name, failures, seconds }) => {
    const open = `    <testcase name="${escaped(name)}" time="${seconds.toFixed(6)}"`;
    if (failures.length === 0) return `${open} />`;
    const texts = failures.map(
      (failure) => `      <failure type="assertion" message="${escaped(failure)}" />`,
    );
    return `${open}>\n${texts.join('\n')}\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="vector" tests="${outcomes.length}" failures="${failed}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const NAMES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

const escaped = (text: string): string =>
  // Control characters that XML has no way to write.
  text.replaceAll(/[&<>"\n]/g, (sign) => NAMES[sign]!).replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, ' ');
