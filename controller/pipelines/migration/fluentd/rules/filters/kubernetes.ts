/** `kubernetes_metadata`: what the name of a log file tells about its container. */

import { TAG_TEXT } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { vrlRegexp } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

const FILE =
  'var\\.log\\.containers\\.(?P<pod_name>[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)_(?P<namespace_name>[^_]+)_(?P<container_name>.+)-(?P<container_id>[a-z0-9]{64})\\.log$';

/** Labels and annotations are in the API of Kubernetes, which a transform cannot ask. */
export function kubernetesMetadataRule(section: Section, draft: Draft): void {
  section.ignoreAll();
  draft.remap('', [
    `found = parse_regex(${TAG_TEXT}, ${vrlRegexp(FILE)}) ?? {}`,
    'if found.pod_name != null {',
    '  .kubernetes.pod_name = found.pod_name',
    '  .kubernetes.namespace_name = found.namespace_name',
    '  .kubernetes.container_name = found.container_name',
    '  .kubernetes.host = get_hostname!()',
    '  .docker.container_id = found.container_id',
    '}',
  ]);
  draft.difference(
    'Pod, namespace, container and host come from the name of the file. Labels, annotations and images do not: for these, replace the source by kubernetes_logs, which asks the API of Kubernetes.',
    section.line,
    'large',
  );
}
