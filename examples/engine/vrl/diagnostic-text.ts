import type { CompilationDiagnostic } from '@bpinternal/verel';

const DOCS: Record<string, string> = {
  SeeErrorDocs: 'see documentation about error handling at https://errors.vrl.dev/#handling',
  SeeFunctionCharacteristicsDocs:
    'see function characteristics documentation at https://vrl.dev/expressions/#characteristics',
};

/**
 * Renders one diagnostic as Vector does: a headline, `┌─ :line:column` inside the VRL source, and the lines it is about.
 * Spans are byte offsets of the source in UTF-8.
 */
export function diagnosticText(diagnostic: CompilationDiagnostic, source: string): string {
  const code = String(diagnostic.code).padStart(3, '0');
  const labels = [...diagnostic.labels].sort((a, b) => Number(b.primary) - Number(a.primary));
  const places = labels.map((label) => ({ label, ...locate(source, label.span) }));
  const first = places[0];
  const gutter = ' '.repeat(String(Math.max(1, ...places.map((place) => place.line))).length);
  const lines = [`${diagnostic.severity}[E${code}]: ${diagnostic.message}`];

  if (first) {
    lines.push(`${gutter} ┌─ :${first.line}:${first.column}`, `${gutter} │`);
    let shown = 0;
    for (const { label, line, column, width, text } of places) {
      if (line !== shown) lines.push(`${String(line).padStart(gutter.length)} │ ${text}`);
      shown = line;
      const mark = (label.primary ? '^' : '-').repeat(width);
      lines.push(`${gutter} │ ${' '.repeat(column - 1)}${mark} ${label.message}`);
    }
    lines.push(`${gutter} │`);
  }
  for (const note of diagnostic.notes) {
    const text = note.message || DOCS[note.note_type];
    if (text) lines.push(`${gutter} = ${text}`);
  }
  if (diagnostic.code > 0) {
    lines.push(`${gutter} = learn more about error code ${code} at https://errors.vrl.dev/${code}`);
  }
  lines.push(`${gutter} = see language documentation at https://vrl.dev`);
  return lines.join('\n');
}

function locate(source: string, [start, end]: [number, number]) {
  const bytes = Buffer.from(source, 'utf8');
  const before = bytes.subarray(0, start).toString('utf8');
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  const column = before.length - lineStart + 1;
  const text = source.split('\n')[line - 1] ?? '';
  const spanned = bytes.subarray(start, end).toString('utf8').split('\n')[0]!;
  return { line, column, text, width: Math.max(1, spanned.length) };
}
