/**
 * An executable that has the version and the schema of Vector 0.57 and nothing else: `vector.json` holds the shapes of
 * all its components, without texts for people. It cannot validate, so the schema's word counts alone.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const VECTOR_SCHEMA = join(import.meta.dirname, 'vector.json');

/** `validate` is a shell command that gets the config by standard input. */
export function scriptedEngine(validate = 'cat > /dev/null; exit 3'): { bin: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'scripted-engine-'));
  const bin = join(folder, 'vector');
  writeFileSync(
    bin,
    `#!/bin/sh
case "$1" in
  --version) echo 'vector 0.57.0 (x86_64-unknown-linux-gnu)' ;;
  generate-schema) exec cat '${VECTOR_SCHEMA}' ;;
  validate) ${validate} ;;
  *) exit 2 ;;
esac
`,
  );
  chmodSync(bin, 0o755);
  return { bin, remove: () => rmSync(folder, { recursive: true }) };
}
