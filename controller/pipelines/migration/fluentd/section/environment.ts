/** The few expressions that stand inside `#{…}` in configurations: variables of the environment, the host, the worker. */
export type Embedded =
  | { kind: 'env'; name: string; fallback: string | null }
  | { kind: 'hostname' }
  | { kind: 'worker' }
  | { kind: 'text'; value: string }
  | { kind: 'unknown' };

const ENV =
  /^ENV(?:\[\s*(['"])([A-Za-z_]\w{0,127})\1\s*\]|\.fetch\(\s*(['"])([A-Za-z_]\w{0,127})\3\s*(?:,\s*([^)]{0,256}))?\))([\s\S]{0,512})$/;
const TEXT = /^(?:'([^'\\]{0,1024})'|"([^"\\#]{0,1024})"|(-?\d{1,18}(?:\.\d{1,9})?|true|false))$/;

export function readEmbedded(code: string): Embedded {
  const text = code.trim();
  if (text === 'hostname' || text === 'Socket.gethostname' || text === 'Socket.gethostname()')
    return { kind: 'hostname' };
  if (text === 'worker_id' || /^ENV\[['"]SERVERENGINE_WORKER_ID['"]\]$/.test(text)) return { kind: 'worker' };
  const plain = TEXT.exec(text);
  if (plain) return { kind: 'text', value: plain[1] ?? plain[2] ?? plain[3] ?? '' };
  const env = ENV.exec(text);
  if (!env) return { kind: 'unknown' };
  const name = env[2] ?? env[4] ?? '';
  if (name === 'HOSTNAME') return { kind: 'hostname' };
  let rest = (env[6] ?? '').trim();
  rest = rest.replace(/^\.(?:to_s|to_i|to_f|strip|chomp|dup)(?:\(\))?\s*/, '');
  if (rest === '') return { kind: 'env', name, fallback: fallbackOf(env[5]) };
  const or = /^(?:\|\||or\b)\s*([\s\S]+)$/.exec(rest);
  if (!or) return { kind: 'unknown' };
  const given = (or[1] ?? '').trim();
  if (given === 'use_nil' || given === 'use_default' || given === 'nil')
    return { kind: 'env', name, fallback: null };
  const fallback = fallbackOf(given);
  return fallback === null ? { kind: 'unknown' } : { kind: 'env', name, fallback };
}

function fallbackOf(text: string | undefined): string | null {
  const match = TEXT.exec((text ?? '').trim());
  return match ? (match[1] ?? match[2] ?? match[3] ?? '') : null;
}

/** A value in parts: texts as they are, and expressions. The code in `#{…}` may have braces of its own. */
export function splitEmbedded(value: string, embeddedRuby: readonly string[]): (string | { code: string })[] {
  const parts: (string | { code: string })[] = [];
  let rest = value;
  for (const code of embeddedRuby) {
    const at = rest.indexOf('#{');
    if (at < 0) break;
    if (at > 0) parts.push(rest.slice(0, at));
    const inside = rest.indexOf(code, at + 2);
    const end = inside < 0 ? -1 : rest.indexOf('}', inside + code.length);
    if (end < 0) break;
    parts.push({ code });
    rest = rest.slice(end + 1);
  }
  if (rest !== '') parts.push(rest);
  return parts;
}
