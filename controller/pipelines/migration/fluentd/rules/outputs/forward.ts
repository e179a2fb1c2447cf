/** `forward`: to another Fluentd, or to what stands for it. */
import type { Section } from '../../section/section.ts';
import type { Draft } from '../draft.ts';
import { bufferOptions } from './buffer.ts';
import { Target } from './target.ts';

const IGNORED = [
  ...[
    'send_timeout',
    'recover_wait',
    'heartbeat_type',
    'heartbeat_interval',
    'phi_failure_detector',
    'phi_threshold',
  ],
  ...[
    'hard_timeout',
    'expire_dns_cache',
    'dns_round_robin',
    'ignore_network_errors_at_startup',
    'verify_connection_at_startup',
  ],
  ...[
    'compress',
    'keepalive',
    'keepalive_timeout',
    'require_ack_response',
    'ack_response_timeout',
    'connect_timeout',
  ],
  ...[
    'tls_version',
    'tls_ciphers',
    'tls_allow_self_signed_cert',
    'tls_cert_use_enterprise_store',
    'send_keepalive_packet',
  ],
  ...[
    'time_as_integer',
    'transport',
    'tls_insecure_mode',
    'tls_verify_hostname',
    'heartbeat_port',
    'secure',
    'enable_strict_verification',
  ],
  ...['ca_cert_path', 'ca_private_key_path', 'ca_private_key_passphrase', 'self_hostname'],
];

/** The engine has no sink for Fluentd's protocol: the receiver has to be the engine too. */
export function forwardOutputRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore(...IGNORED);
  const target = new Target(section, draft, prefix);
  const servers = section.children('server').map((server) => {
    server.ignore('name', 'weight', 'standby', 'username', 'password', 'shared_key');
    return {
      address: `${server.text('host') ?? 'localhost'}:${server.text('port') ?? '24224'}`,
      isStandby: server.bool('standby', false),
      line: server.line,
    };
  });
  const discovery = section.child('service_discovery');
  if (discovery) {
    discovery.ignoreAll();
    draft.difference(
      'Servers are not discovered; write an address that a load balancer or DNS answers.',
      discovery.line,
      'large',
    );
  }
  const host = section.text('host');
  if (servers.length === 0 && host !== undefined) {
    servers.push({
      address: `${host}:${section.text('port') ?? '24224'}`,
      isStandby: false,
      line: section.line,
    });
  }
  const [first] = [...servers.filter(({ isStandby }) => !isStandby), ...servers];
  if (!first) {
    draft.open('There is no <server>.', section.line);
    return;
  }
  if (servers.length > 1) {
    draft.difference('Events go to the first server only; put a load balancer before several.', section.line);
  }
  const security = section.child('security');
  security?.ignoreAll();
  section.ignore('shared_key');
  if (security || section.has('shared_key')) {
    draft.difference(
      'There is no shared key; use TLS with client certificates.',
      security?.line ?? section.line,
    );
  }
  const acknowledged = section.bool('require_ack_response', false);
  const gzip = section.plain('compress') === 'gzip';
  target.write('vector', {
    address: first.address,
    ...(gzip ? { compression: 'gzip' } : {}),
    ...(acknowledged ? { acknowledgements: { enabled: true } } : {}),
    ...tls(section),
    ...bufferOptions(target, { batch: true, request: true }),
  });
  draft.difference(
    "The engine cannot write Fluentd's protocol, only read it: events go by the engine's own, with their tag and time in _fluentd.",
    section.line,
    'large',
  );
  draft.action(
    `Migrate the receiver at ${first.address.replaceAll('$$', '$')} first, give it a source of type vector at a port of its own, and write that port here.`,
    first.line,
  );
}

function tls(section: Section): Record<string, unknown> {
  const isTls = section.plain('transport') === 'tls' || section.plugin === 'secure_forward';
  const authority = section.text('tls_cert_path', 'ca_cert_path', 'tls_ca_cert_path');
  const certificate = section.text('tls_client_cert_path');
  const key = section.text('tls_client_private_key_path');
  const password = section.secret('tls_client_private_key_passphrase');
  const insecure = section.bool('tls_insecure_mode', false);
  const hostname = section.bool('tls_verify_hostname', true);
  if (!isTls) return {};
  return {
    tls: {
      enabled: true,
      ...(authority === undefined ? {} : { ca_file: authority }),
      ...(certificate === undefined ? {} : { crt_file: certificate }),
      ...(key === undefined ? {} : { key_file: key }),
      ...(password === undefined ? {} : { key_pass: password }),
      ...(insecure ? { verify_certificate: false } : {}),
      ...(hostname ? {} : { verify_hostname: false }),
    },
  };
}
