/** Values of records with `${…}`: each becomes one expression in VRL. */

import type { ConfigParam } from '../../config-tree.ts';
import { readJson } from '../../params.ts';
import { readEmbedded, splitEmbedded } from '../../section/environment.ts';
import type { Section } from '../../section/section.ts';
import { translateRuby } from '../../text/ruby/expression.ts';
import { codeEnd } from '../../text/ruby/tokens.ts';
import { joinTexts, text, type VrlExpression } from '../../text/ruby/values.ts';
import { vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

/** Null after a note: the expression is not known. */
export function recordValue(param: ConfigParam, section: Section, draft: Draft): VrlExpression | null {
  if (param.embeddedRuby.length > 0) return embeddedValue(param, section, draft);
  const json = /^[[{]/.test(param.value) ? readJson(param.value) : undefined;
  return json === undefined ? expandText(param.value, param, draft) : expandJson(json, param, draft);
}

function expandJson(value: unknown, param: ConfigParam, draft: Draft): VrlExpression | null {
  if (typeof value === 'string') return expandText(value, param, draft);
  if (typeof value !== 'object' || value === null) {
    return { code: JSON.stringify(value), type: 'any', readsRecord: false };
  }
  const entries = Object.entries(value).map(([key, item]) => ({ key, item: expandJson(item, param, draft) }));
  if (entries.some(({ item }) => item === null)) return null;
  const readsRecord = entries.some(({ item }) => item?.readsRecord);
  const codes = entries.map(({ key, item }) => ({ key, code: item?.code ?? 'null' }));
  const code = Array.isArray(value)
    ? `[${codes.map((entry) => entry.code).join(', ')}]`
    : `{${codes.map((entry) => `${vrlString(entry.key)}: ${entry.code}`).join(', ')}}`;
  return { code, type: 'any', readsRecord };
}

/** A text that is one placeholder has the type of its value; others are texts. */
function expandText(value: string, param: ConfigParam, draft: Draft): VrlExpression | null {
  const parts: VrlExpression[] = [];
  let rest = value;
  for (let at = rest.indexOf('${'); at >= 0; at = rest.indexOf('${')) {
    const end = codeEnd(rest, at + 2);
    if (end === null) break;
    const code = rest.slice(at + 2, end);
    const expression = translateRuby(code);
    if (!expression) {
      draft.difference(
        `The Ruby expression of ${param.key} is not translated, and the field is not set: ${short(code)}`,
        param.line,
        'large',
      );
      return null;
    }
    if (at > 0) parts.push(text(rest.slice(0, at)));
    parts.push(expression);
    rest = rest.slice(end + 1);
  }
  if (rest !== '' || parts.length === 0) parts.push(text(rest));
  const [only] = parts;
  if (parts.length === 1 && only) return only;
  return joinTexts(parts);
}

/** `#{…}` is evaluated when Fluentd starts; `${…}` beside it for each record. */
function embeddedValue(param: ConfigParam, section: Section, draft: Draft): VrlExpression | null {
  const pieces: VrlExpression[] = [];
  for (const part of splitEmbedded(param.value, param.embeddedRuby)) {
    if (typeof part === 'string') {
      const expanded = expandText(part, param, draft);
      if (!expanded) return null;
      pieces.push(expanded);
    } else if (readEmbedded(part.code).kind === 'hostname') {
      pieces.push({ code: 'get_hostname!()', type: 'string', readsRecord: false });
    } else {
      const content = section.vrlContentOf({ ...param, value: `#{${part.code}}`, embeddedRuby: [part.code] });
      pieces.push({ code: `"${content}"`, type: 'string', readsRecord: false });
    }
  }
  return joinTexts(pieces);
}

const short = (code: string): string => (code.length > 120 ? `${code.slice(0, 120)}…` : code);
