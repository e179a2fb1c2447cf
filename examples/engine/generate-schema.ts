import { existsSync, writeFileSync } from 'node:fs';
import { schemaDocument } from './config/schema-document.ts';
import { EXIT_CANNOT_CREATE, EXIT_IO, EXIT_OK } from './exit-codes.ts';

export interface GenerateSchemaDeps {
  write(text: string): void;
  complain(text: string): void;
}

/** Writes the schema of the configuration to a file that is not there yet, or prints it. Gives the exit code. */
export function generateSchema(
  { output }: { output: string | undefined },
  { write, complain }: GenerateSchemaDeps,
): number {
  const text = `${JSON.stringify(schemaDocument(), null, 2)}\n`;
  if (output === undefined) {
    write(text);
    return EXIT_OK;
  }
  if (existsSync(output)) {
    complain(`Error: Output file "${output}" already exists\n`);
    return EXIT_CANNOT_CREATE;
  }
  try {
    writeFileSync(output, text, { flag: 'wx' });
  } catch (error) {
    complain(`Error writing to file "${output}": ${(error as Error).message}\n`);
    return EXIT_IO;
  }
  write(`Schema successfully written to "${output}"\n`);
  return EXIT_OK;
}
