import { buildErrors, type Compiled } from '../config/compile.ts';
import { ConfigError } from '../config/config-error.ts';
import { compileErrors, createProgram, loadVerel, type VrlProgram } from './program.ts';

/** Builds the transforms: their own checks and their programs. Throws ConfigError with all that is wrong. */
export async function buildTransforms(compiled: Compiled): Promise<Map<string, VrlProgram[]>> {
  const { transforms, settings } = compiled;
  const errors = buildErrors('Transform', transforms, settings.globals);
  try {
    const programs = await compileTransforms(compiled);
    if (errors.length === 0) return programs;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.push(...error.messages);
  }
  throw new ConfigError(errors);
}

/**
 * Compiles every VRL program of a configuration; the answer maps a transform's id to its programs.
 * Loads VRL only if there is one. Throws ConfigError with `Transform "id":` and the compiler's text.
 */
export async function compileTransforms(
  compiled: Pick<Compiled, 'transforms'>,
): Promise<Map<string, VrlProgram[]>> {
  const programs = new Map<string, VrlProgram[]>();
  const withVrl = compiled.transforms.filter(({ definition }) => definition.programs.length > 0);
  if (withVrl.length === 0) return programs;

  const verel = await loadVerel();
  const errors: string[] = [];
  for (const { id, definition } of withVrl) {
    for (const source of definition.programs) {
      const found = compileErrors(verel, source);
      if (found.length > 0)
        errors.push(
          `Transform "${id}": ${/^error/.test(found[0]!) ? `\n${found.join('\n\n')}\n` : found[0]}`,
        );
    }
    programs.set(
      id,
      definition.programs.map((source) => createProgram(verel, source)),
    );
  }
  if (errors.length > 0) throw new ConfigError(errors);
  return programs;
}
