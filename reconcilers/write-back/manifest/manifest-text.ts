/** A manifest as canonical YAML: one order of fields, programs as `|` blocks, nothing that is a default. */
import { Document, isMap, isScalar, isSeq, visit, type YAMLSeq } from 'yaml';
import type { PlainManifest } from '../../../controller/delivery/bindings/index.ts';
import { API_VERSION } from '../../../schemas/manifests/index.ts';
import { schemaAddress } from '../../../schemas/manifests/published.ts';
import { fitsBlock } from '../yaml/render.ts';

/** Lists of a few short words stand in one line. */
const LINE = 80;

export function manifestText({ kind, name, uid, labels, spec }: PlainManifest, remark?: string): string {
  const document = new Document(
    {
      apiVersion: API_VERSION,
      kind,
      metadata: {
        name,
        ...(uid === null ? {} : { uid }),
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
      },
      spec,
    },
    { version: '1.2', schema: 'core', aliasDuplicateObjects: false },
  );
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string' || !/[\n\r]/.test(node.value)) return;
      node.type = fitsBlock(node.value) ? 'BLOCK_LITERAL' : 'QUOTE_DOUBLE';
    },
    Seq(_key, node) {
      if (isShort(node)) node.flow = true;
    },
    Map(_key, node) {
      if (node.items.length === 0) node.flow = true;
    },
  });
  if (remark !== undefined) document.commentBefore = ` ${remark}`;
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: 1_000_000_000 });
}

/** The first line of a new file: by it editors find the schema that the server at `baseUrl` publishes. */
export const schemaLine = (baseUrl: string, kind: PlainManifest['kind']): string =>
  `# yaml-language-server: $schema=${schemaAddress(baseUrl, kind)}\n`;

function isShort(list: YAMLSeq): boolean {
  if (!isSeq(list) || list.items.some((item) => isMap(item) || isSeq(item))) return false;
  const texts = list.items.map((item) => (isScalar(item) ? String(item.value) : ''));
  return texts.join(', ').length <= LINE && !texts.some((text) => /[\n\r]/.test(text));
}
