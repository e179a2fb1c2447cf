/** Builds the web UI into dist/web. Run as a script, or call `buildWeb()`. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build } from 'vite';

const COMPRESSED = ['.js', '.css', '.html', '.svg'];

/** Rejects with Vite's own error when a source does not compile. */
export async function buildWeb(options: { quiet?: boolean } = {}): Promise<void> {
  await build({
    configFile: fileURLToPath(new URL('./vite.config.ts', import.meta.url)),
    logLevel: options.quiet ? 'error' : 'info',
  });
  await compressAll(fileURLToPath(new URL('../dist/web', import.meta.url)));
}

/** Once here instead of at every request: the server sends the `.br` and `.gz` beside each file. */
async function compressAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSED.includes(extname(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
    await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
  }
}

if (import.meta.main) await buildWeb({ quiet: process.argv.includes('--quiet') });
