/** Credentials and TLS that several plugins write alike. No value of a credential is copied: each becomes a secret. */
import type { Section } from '../section/section.ts';
import type { Draft } from './draft.ts';

/** Keys of the AWS plugins. Without any, the engine looks for credentials as they do. */
export function awsAuth(section: Section, draft: Draft): Record<string, unknown> {
  section.ignore(
    'instance_profile_credentials',
    'ecs_credentials',
    'shared_credentials',
    'use_default_credentials',
  );
  section.ignore('aws_use_sts', 'aws_ec2_metadata_v2', 'concurrency');
  section.ignoreChildren('instance_profile_credentials', 'shared_credentials', 'ecs_credentials');
  const id = section.secret('aws_key_id', 'aws_access_key_id', 'access_key_id');
  const key = section.secret('aws_sec_key', 'aws_secret_access_key', 'aws_sec_key_id', 'secret_access_key');
  const nested = section.child('assume_role_credentials') ?? section.child('web_identity_credentials');
  const role = (nested ?? section).text('role_arn', 'aws_sts_role_arn', 'assume_role_arn');
  const external = nested?.text('external_id');
  nested?.ignore('role_session_name', 'duration_seconds', 'policy', 'web_identity_token_file', 'sts_region');
  if (nested?.directive.name === 'web_identity_credentials') {
    draft.info('The engine takes the web identity from the environment of the node.', nested.line);
    return {};
  }
  if (id !== undefined && key !== undefined) {
    return {
      auth: {
        access_key_id: id,
        secret_access_key: key,
        ...(role === undefined ? {} : { assume_role: role }),
      },
    };
  }
  if (role === undefined) return {};
  return { auth: { assume_role: role, ...(external === undefined ? {} : { external_id: external }) } };
}

/** TLS and SASL of the Kafka plugins. */
export function kafkaSecurity(section: Section, draft: Draft): Record<string, unknown> {
  section.ignore('sasl_over_ssl', 'ssl_ca_certs_from_system', 'ssl_verify_hostname', 'ssl_client_cert_chain');
  const authority = section.text('ssl_ca_cert');
  const certificate = section.text('ssl_client_cert');
  const key = section.text('ssl_client_cert_key');
  const password = section.secret('ssl_client_cert_key_password');
  const user = section.text('username');
  const secret = section.secret('password');
  const mechanism = section.plain('scram_mechanism');
  const systemCerts = section.bool('ssl_ca_certs_from_system', false);
  if (section.has('principal') || section.has('keytab')) {
    draft.difference(
      'Kerberos needs librdkafka_options; principal and keytab are not translated.',
      section.lineOf('principal'),
      'large',
    );
  }
  section.ignore('principal', 'keytab');
  const tls =
    authority !== undefined || certificate !== undefined || systemCerts
      ? {
          tls: {
            enabled: true,
            ...(authority === undefined ? {} : { ca_file: firstOf(authority) }),
            ...(certificate === undefined ? {} : { crt_file: firstOf(certificate) }),
            ...(key === undefined ? {} : { key_file: key }),
            ...(password === undefined ? {} : { key_pass: password }),
          },
        }
      : {};
  const sasl =
    user === undefined || secret === undefined
      ? {}
      : {
          sasl: {
            enabled: true,
            mechanism:
              mechanism === undefined
                ? 'PLAIN'
                : `SCRAM-${mechanism.toUpperCase().replace('SHA', 'SHA-').replace('--', '-')}`,
            username: user,
            password: secret,
          },
        };
  return { ...tls, ...sasl };
}

const firstOf = (text: string): string => text.replace(/^\[?"?([^",\]]*)[\s\S]*$/, '$1');
