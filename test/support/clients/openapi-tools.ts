/** Linters of OpenAPI documents and a generator of clients, apart from our own packages: they want an older TypeScript. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Their folder; throws where they are not installed. */
export function openApiTools(): string {
  const folder = join(import.meta.dirname, '../../tools/openapi');
  if (!existsSync(join(folder, 'node_modules')))
    throw new Error(
      'Install the OpenAPI tools first: make test does so, or npm ci --ignore-scripts in test/tools/openapi',
    );
  return folder;
}
