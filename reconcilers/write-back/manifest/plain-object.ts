/** Objects and manifests in one form, so that what the database holds and what git says can be held against each other. */
import type {
  PlainManifest,
  StoredConfig,
  StoredObject,
  StoredPipeline,
  StoredSilence,
  StoredWebhookEndpoint,
} from '../../../controller/delivery/bindings/index.ts';
import { compile, type Definition, definitionOf } from '../../../controller/pipelines/index.ts';
import { OWNABLE_KINDS, type OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import type {
  AlertRuleSpec,
  NodeGroupSpec,
  PipelineSpec,
  SilenceSpec,
  WebhookEndpointSpec,
} from '../../../schemas/manifests/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import { withReferences } from './sealed-endpoint.ts';

type Fields = Record<string, unknown>;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** In the order of the entries, without those that are undefined. */
const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
/** The same, without empty maps and lists, which are the default of such a field. */
const filled = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

/** Where components stand: `all`, as when a change is made; `chosen`, without what is only the first layout. */
export type Layout = 'all' | 'chosen';

export function plainObject(object: StoredObject, layout: Layout = 'all'): PlainManifest {
  const { kind, name, uid, labels } = object;
  return { kind, name, uid, labels, spec: specOfObject(object, layout) };
}

function specOfObject(object: StoredObject, layout: Layout): Fields {
  switch (object.kind) {
    case 'Pipeline':
      return pipelineSpec(definitionOfStored(object), object, layout);
    case 'AlertRule':
      return ruleSpec({ ...object, pipelineRef: object.pipelineName ?? undefined });
    case 'NodeGroup':
      return groupSpec(object);
    case 'Silence':
      return silenceOfObject(object);
    case 'WebhookEndpoint':
      return endpointOfObject(withReferences(object));
  }
}

export const definitionOfStored = (stored: StoredConfig): Definition => definitionOf(stored);

/** A manifest as the database would hold it: without values, tests and what else only git knows of. */
export function plainOfManifest(manifest: DesiredManifest): PlainManifest {
  const { name, uid, labels } = manifest;
  const base = { name, uid, labels };
  switch (manifest.kind) {
    case 'Pipeline': {
      const spec = manifest.spec as PipelineSpec;
      const { nodes, edges } = compile(spec as Definition);
      const stored: StoredConfig = {
        nodes,
        edges,
        globalConfig: spec.global,
        logLevel: spec.logLevel,
        drainSeconds: spec.drainSeconds ?? null,
        nodeSelector: spec.nodeSelector ?? null,
      };
      const { description, deployed, dependsOn, autoRevert = null } = spec;
      const more = { description: description ?? null, isDraft: !deployed, dependsOn, autoRevert };
      return { ...base, kind: 'Pipeline', spec: pipelineSpec(definitionOfStored(stored), more, 'all') };
    }
    case 'AlertRule':
      return { ...base, kind: 'AlertRule', spec: ruleSpec(manifest.spec as AlertRuleSpec) };
    case 'Silence':
      return { ...base, kind: 'Silence', spec: silenceSpec(manifest.spec as SilenceSpec) };
    case 'WebhookEndpoint':
      return { ...base, kind: 'WebhookEndpoint', spec: endpointSpec(manifest.spec as WebhookEndpointSpec) };
    default:
      return { ...base, kind: 'NodeGroup', spec: groupSpec(manifest.spec as NodeGroupSpec) };
  }
}

function pipelineSpec(
  definition: Definition,
  {
    description,
    isDraft,
    dependsOn,
    autoRevert,
  }: Pick<StoredPipeline, 'description' | 'isDraft' | 'dependsOn' | 'autoRevert'>,
  layout: Layout,
): Fields {
  const { sources, transforms, sinks, global, logLevel, drainSeconds, nodeSelector } = definition;
  return present({
    description: description ?? undefined,
    deployed: isDraft ? false : undefined,
    // A selector without labels says as much as none does: every node.
    nodeSelector: nodeSelector ?? undefined,
    logLevel: logLevel === 'info' ? undefined : logLevel,
    drainSeconds,
    ...filled({ sources, transforms, sinks, global, components: editorData(definition, layout) }),
    autoRevert: autoRevert ?? undefined,
    dependsOn: dependsOn.length === 0 ? undefined : [...new Set(dependsOn)],
  });
}

function editorData(definition: Definition, layout: Layout): Fields {
  const first = layout === 'chosen' ? firstLayout(definition) : null;
  return filled(
    Object.fromEntries(
      Object.entries(definition.components).map(([key, { displayName, position, disabled }]) => {
        const [x, y] = position ?? [];
        const at = first?.get(key);
        const chosen = at === undefined || at.x !== x || at.y !== y;
        return [
          key,
          present({
            displayName,
            position: chosen ? position : undefined,
            disabled: disabled === true ? true : undefined,
          }),
        ];
      }),
    ),
  );
}

function firstLayout(definition: Definition): Map<string, { x: number; y: number }> {
  const components = Object.fromEntries(
    Object.entries(definition.components).map(([key, { disabled }]) => [
      key,
      { disabled: disabled === true },
    ]),
  );
  const { nodes } = compile({ ...definition, components });
  return new Map(
    nodes.map(({ componentKey, positionX, positionY }) => [componentKey, { x: positionX, y: positionY }]),
  );
}

const ruleSpec = (
  rule: Pick<
    AlertRuleSpec,
    'pipelineRef' | 'metric' | 'condition' | 'threshold' | 'durationSeconds' | 'enabled'
  >,
): Fields =>
  present({
    pipelineRef: rule.pipelineRef,
    metric: rule.metric,
    condition: rule.condition,
    threshold: rule.threshold,
    durationSeconds: rule.durationSeconds === 60 ? undefined : rule.durationSeconds,
    enabled: rule.enabled ? undefined : false,
  });

const groupSpec = ({ criteria, labelTemplate, requiredLabels }: NodeGroupSpec): Fields => ({
  criteria,
  ...filled({ labelTemplate, requiredLabels }),
});

/** The database keeps no offsets: one moment has one text. */
const silenceSpec = ({ matchers, reason, startsAt, endsAt }: SilenceSpec): Fields =>
  present({
    matchers,
    reason: reason.trim(),
    startsAt: startsAt === undefined ? undefined : timeText(new Date(startsAt)),
    endsAt: timeText(new Date(endsAt)),
  });

const silenceOfObject = ({ matchers, reason, startsAt, endsAt, createdAt }: StoredSilence): Fields =>
  present({
    matchers,
    reason,
    startsAt: startsAt.getTime() === createdAt.getTime() ? undefined : timeText(startsAt),
    endsAt: timeText(endsAt),
  });

const endpointSpec = (spec: WebhookEndpointSpec): Fields =>
  present({
    url: spec.url?.trim(),
    ...{ urlRef: spec.urlRef, format: spec.format },
    eventTypes: spec.eventTypes && [...new Set(spec.eventTypes)],
    ...filled({ headers: spec.headers }),
    secretRef: spec.secretRef,
    enabled: spec.enabled ? undefined : false,
  });

const endpointOfObject = ({ url, urlRef, secretRef, eventTypes, ...object }: StoredWebhookEndpoint): Fields =>
  endpointSpec({
    ...{ format: object.format, headers: object.headers, enabled: object.enabled },
    ...(url === null ? {} : { url }),
    ...(urlRef === null ? {} : { urlRef }),
    ...(secretRef === null ? {} : { secretRef }),
    ...(eventTypes.length === 0 ? {} : { eventTypes }),
  });

const timeText = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

export const isOwnable = (kind: string): kind is OwnableKind => OWNABLE_KINDS.some((one) => one === kind);
