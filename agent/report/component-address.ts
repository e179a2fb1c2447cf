/**
 * Where a component listens, by the engine's config as it is written (block style, as the controller renders it): an engine
 * that cannot bind names no address. Placeholders stay placeholders, so that no secret is shown.
 */
import type { EngineComponent } from './engine-log.ts';

const MOST = 4;
/** Alone on its line, or in `grpc: {address: …}`. */
const ADDRESS = /(?:^ +|[{,] *)address: *([^,{}]+?) *(?:[,}].*)?$/;

export function componentAddress(
  configYaml: string,
  { kind, id }: EngineComponent,
  message: string,
): string | undefined {
  const found: string[] = [];
  // `opentelemetry` has two listeners, each with an address of its own.
  const [, listener] = /\b(gRPC|HTTP) server\b/.exec(message) ?? [];
  let section = '';
  let component = '';
  let part = '';
  for (const line of configYaml.split('\n')) {
    const key = /^( *)(?:"([^"]*)"|'([^']*)'|([^\s"'#:][^:]*)):/.exec(line);
    const depth = key?.[1]?.length;
    const name = key?.[2] ?? key?.[3] ?? key?.[4] ?? '';
    if (depth === 0) section = name;
    if (depth === 2) component = name;
    if (depth === 4) part = name;
    if (section !== `${kind}s` || component !== id || (depth ?? 0) < 4) continue;
    const address = ADDRESS.exec(line)?.[1];
    if (address === undefined || found.length >= MOST) continue;
    if (listener && part !== listener.toLowerCase()) continue;
    found.push(address.replace(/^(["'])(.*)\1$/, '$2').slice(0, 200));
  }
  return found.length > 0 ? found.join(', ') : undefined;
}
