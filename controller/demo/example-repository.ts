/** The example repository, as the demo's embedded repository starts with it. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedRepository } from '../delivery/repository/index.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/config-repo');
/** The line by which editors find a manifest's schema, as it stands in the files of the example. */
const SCHEMA_LINE = /^(# yaml-language-server: \$schema=)http:\/\/localhost:8080(?=\/schemas\/)/gm;

/** One commit on `main` of an empty repository. Manifests name the schemas of the server at `baseUrl`. */
export async function seedExample(
  gitdir: string,
  author: { name: string; email: string },
  baseUrl: string,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-example-'));
  try {
    await cp(EXAMPLE, folder, { recursive: true });
    const names = await readdir(folder, { recursive: true });
    for (const name of names.filter((one) => /\.ya?ml$/.test(one))) {
      const text = await readFile(join(folder, name), 'utf8');
      // As a function: `$` in the address stands for itself.
      const adapted = text.replace(SCHEMA_LINE, (_, start: string) => start + baseUrl.replace(/\/+$/, ''));
      if (adapted !== text) await writeFile(join(folder, name), adapted);
    }
    await seedRepository(gitdir, folder, author);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
