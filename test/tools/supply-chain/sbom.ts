/**
 * `make sbom`: what is shipped, as a CycloneDX document in dist/headgate.cdx.json. npm writes it from the lockfile, without
 * asking anybody; what is not shipped is taken out.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf, ROOT, readLock, shippedPackages } from './shipped.ts';

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
  const lock = readLock();
  const shipped = new Set([...shippedPackages(lock)].map((path) => `${nameOf(path)}@${lock[path]?.version}`));
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bom = JSON.parse(text) as Bom;
  const isShipped = ({ name, version }: Component) => shipped.has(`${name}@${version}`);
  const refs = new Set(bom.components.filter(isShipped).map((component) => component['bom-ref']));
  const { component } = bom.metadata;
  refs.add(component['bom-ref']);
  return {
    ...bom,
    // npm names it after the folder that it is built in.
    metadata: { ...bom.metadata, component: { ...component, name: 'headgate' } },
    components: bom.components.filter((one) => refs.has(one['bom-ref'])).map(asShipped),
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: (dependsOn ?? []).filter((one) => refs.has(one)) })),
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
