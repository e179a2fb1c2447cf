/**
 * `make sbom`: what is shipped, as a CycloneDX document in dist/headgate.cdx.json. npm writes it from the lockfiles,
 * without asking anybody; what is not shipped is taken out.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Folder, nameOf, ROOT, readLock, SHIPPED_FOLDERS, shippedPackages } from './shipped.ts';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  scope?: string;
  hashes?: { alg: string; content: string }[];
  properties?: { name: string; value: string }[];
}

export interface Bom {
  bomFormat: string;
  specVersion: string;
  serialNumber?: string;
  metadata: { timestamp?: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/** Of now, with a serial number of its own, as the format wants it. */
export function writeSbom(): Bom {
  const [whole, ...parts] = SHIPPED_FOLDERS.map(shippedOf);
  if (!whole) throw new Error('there is no folder');
  const { component } = whole.metadata;
  // What the folders have in common is listed once, and each folder is a part of the project.
  const components = new Map(whole.components.map((one) => [one['bom-ref'], one]));
  const edges = new Map(whole.dependencies.map(({ ref, dependsOn = [] }) => [ref, new Set(dependsOn)]));
  for (const part of parts) {
    const own = part.metadata.component['bom-ref'];
    for (const one of part.components) components.set(one['bom-ref'], one);
    for (const { ref, dependsOn = [] } of part.dependencies) {
      const from = ref === own ? component['bom-ref'] : ref;
      edges.set(from, new Set([...(edges.get(from) ?? []), ...dependsOn]));
    }
  }
  return {
    ...whole,
    // npm names it after the folder that it is built in.
    metadata: { ...whole.metadata, component: { ...component, name: 'headgate' } },
    components: [...components.values()],
    dependencies: [...edges].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn] })),
  };
}

/** What npm lists of the folder, without what is not shipped. */
function shippedOf(folder: Folder): Bom {
  const lock = readLock(folder);
  const shipped = new Set(
    [...shippedPackages(folder, lock)].map((path) => `${nameOf(path)}@${lock[path]?.version}`),
  );
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: join(ROOT, folder),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bom = JSON.parse(text) as Bom;
  const isShipped = ({ name, version }: Component) => shipped.has(`${name}@${version}`);
  const refs = new Set(bom.components.filter(isShipped).map((component) => component['bom-ref']));
  refs.add(bom.metadata.component['bom-ref']);
  return {
    ...bom,
    components: bom.components.filter((one) => refs.has(one['bom-ref'])).map(asShipped),
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  };
}

/** What is built into the web UI is required as much as what is loaded. */
function asShipped({ scope: _, properties = [], ...component }: Component): Component {
  return {
    ...component,
    scope: 'required',
    properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
  };
}

if (import.meta.main) {
  const bom = writeSbom();
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  writeFileSync(join(ROOT, 'dist/headgate.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`);
  process.stdout.write(`dist/headgate.cdx.json: ${bom.components.length} packages\n`);
}
