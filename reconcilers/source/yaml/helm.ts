/**
 * Templates of Helm and of Go in a file that is no sound YAML for them. Vector has templates of its own, `{{ field }}`, that
 * stand in texts: those are never meant here.
 */
import type { Finding } from '../finding.ts';

const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/g;

/** One finding that says so, where one of the findings is on a line with a bare `{{`; else null. */
export function helmFinding(text: string, findings: readonly Finding[]): Finding | null {
  if (!text.includes('{{')) return null;
  const lines = text.split(/\r?\n/);
  for (const { line } of findings) {
    const written = line === undefined ? undefined : lines[line - 1];
    // Of the same length, so that columns stay.
    const bare = written?.replace(QUOTED, (quoted) => ' '.repeat(quoted.length)).indexOf('{{') ?? -1;
    if (bare >= 0)
      return {
        stage: 'parse',
        message: '`{{ … }}` outside of quotes is no YAML; it looks like a template of Helm',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written in a manifest
        hint: "Templates of Helm are not rendered here: commit what Helm renders, or write ${value.name} for what differs between environments. Vector's own {{ field }} belongs in quotes.",
        ...(line === undefined ? {} : { line, column: bare + 1 }),
      };
  }
  return null;
}
