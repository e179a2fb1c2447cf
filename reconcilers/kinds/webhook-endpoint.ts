import {
  assertTarget,
  convergeWebhookEndpoints,
  isMailto,
  pruneWebhookEndpoint,
  readMailto,
} from '../../controller/insight/notifications/index.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import { replaceSecrets, secretReferences, secretVariable } from '../../controller/secrets/index.ts';
import type { WebhookEndpointSpec } from '../../schemas/manifests/index.ts';
import { type DesiredManifest, holdsPlainSecret, type Problem, pointerTo } from '../source/index.ts';
import { flatKind } from './flat.ts';

interface Fault {
  pointer: string;
  stage: 'schema' | 'secrets';
  message: string;
  hint: string;
}

/** Who has the address of an incoming webhook may write into the channel. */
const SECRET_ADDRESSES: ReadonlySet<string> = new Set(['slack', 'teams']);
/** In the place of a secret, whose value is not known here. */
const UNKNOWN = 'unknown-until-it-is-sent';

const specOf = (manifest: DesiredManifest) => (manifest as DesiredManifest<'WebhookEndpoint'>).spec;

export const webhookEndpointKind = flatKind({
  kind: 'WebhookEndpoint',
  table: 'webhook_endpoints',
  order: 28,
  check(manifest, { secrets }) {
    const spec = specOf(manifest);
    const faults = [...addressFaults(spec), ...secretFaults(spec, secrets)];
    return {
      problems: (faults.length > 0 ? faults : targetFaults(spec)).map(
        ({ pointer, stage, message, hint }): Problem => ({
          ...{ kind: manifest.kind, name: manifest.name, stage },
          ...manifest.at(pointer),
          ...{ message, hint },
        }),
      ),
      notes:
        spec.format === 'standard' && spec.secretRef === undefined
          ? ['its messages are not signed; name a secret in secretRef to sign them']
          : [],
    };
  },
  describe(manifest) {
    const { format, enabled } = specOf(manifest);
    return `webhook endpoint of the format ${format}${enabled ? '' : ', disabled'}`;
  },
  converge: convergeWebhookEndpoints,
  prune: pruneWebhookEndpoint,
});

function addressFaults({ url, urlRef, format }: WebhookEndpointSpec): Fault[] {
  const fault = (pointer: string, message: string, hint: string): Fault[] => [
    { pointer, stage: 'schema', message, hint },
  ];
  if ((url === undefined) === (urlRef === undefined))
    return fault(
      url === undefined ? '' : '/urlRef',
      '`spec` needs one of `url` and `urlRef`',
      'Write the address in `url`, or the name of a secret that holds it in `urlRef`.',
    );
  if (url === undefined) return [];
  if (SECRET_ADDRESSES.has(format))
    return [
      {
        ...{ pointer: '/url', stage: 'secrets' },
        message: `the address of the format ${format} is a secret; secrets do not belong in git`,
        hint: 'Create a secret in the environment and name it in `urlRef`. Treat this address as leaked and replace it.',
      },
    ];
  if (isMailto(url)) return [];
  const parsed = URL.parse(url.trim());
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    return fault('/url', '`spec.url` is no address', 'Write https://…, or mailto: with addresses.');
  if (parsed.username !== '' || parsed.password !== '')
    return [
      {
        ...{ pointer: '/url', stage: 'secrets' },
        message: '`spec.url` holds a plain secret; secrets do not belong in git',
        hint: 'Create a secret in the environment that holds the address and name it in `urlRef`.',
      },
    ];
  return [];
}

function secretFaults(
  { urlRef, secretRef, headers }: WebhookEndpointSpec,
  known: ReadonlySet<string>,
): Fault[] {
  const named = Object.entries({ urlRef, secretRef }).flatMap(([field, name]): Fault[] =>
    name === undefined || known.has(secretVariable(name))
      ? []
      : [
          {
            ...{ pointer: `/${field}`, stage: 'secrets' },
            message: `\`${field}\` names the secret "${name}", which this environment does not have`,
            hint: 'Create it in Secrets; the next pass applies this manifest.',
          },
        ],
  );
  const inHeaders = Object.entries(headers).flatMap(([header, text]): Fault[] => {
    const pointer = pointerTo('/headers', header);
    if (holdsPlainSecret(header, text))
      return [
        {
          ...{ pointer, stage: 'secrets' },
          message: `\`headers.${header}\` holds a plain secret; secrets do not belong in git`,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written in a manifest
          hint: 'Create a secret in the environment and write its placeholder here, for example "${SVC_SECRET_NAME}". Treat this one as leaked and replace it.',
        },
      ];
    return secretReferences(text)
      .filter(({ variable, optional }) => !optional && !known.has(variable))
      .map(({ variable }) => ({
        ...{ pointer, stage: 'secrets' as const },
        message: `the secret behind \${${variable}} does not exist in this environment`,
        hint: 'Create it in Secrets; the next pass applies this manifest.',
      }));
  });
  return [...named, ...inHeaders];
}

/** What the API refuses as well; its messages begin with the field. */
function targetFaults({ url, secretRef, headers, format }: WebhookEndpointSpec): Fault[] {
  const address = url?.trim() ?? (format === 'email' ? 'mailto:unknown@example.com' : 'https://example.com');
  try {
    if (isMailto(address)) readMailto(address);
    assertTarget({
      ...{ format, url: address, secret: secretRef === undefined ? null : UNKNOWN },
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [name, replaceSecrets(text, UNKNOWN)]),
      ),
    });
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const [, field = '', text = error.message] =
      /^(url|format|headers|secret): (.*)$/s.exec(error.message) ?? [];
    const [message = text, hint = ''] = text.split('; ');
    const pointer =
      { url: '/url', format: '/format', headers: '/headers', secret: '/secretRef' }[field] ?? '';
    return [{ pointer, stage: 'schema', message, hint }];
  }
}
