/** The login request of each Vault auth method. It is built without a call to any other service. */
import { createHash, createHmac } from 'node:crypto';
import type { VaultConfig } from '../../../schemas/api/secrets/secret-backends.ts';

type Auth = VaultConfig['auth'];
type AwsAuth = Extract<Auth, { method: 'aws' }>;

export async function loginBody(
  auth: Exclude<Auth, { method: 'token' }>,
  serviceAccountToken: () => Promise<string>,
): Promise<Record<string, string | undefined>> {
  switch (auth.method) {
    case 'approle':
      return { role_id: auth.roleId, secret_id: auth.secretId };
    case 'kubernetes':
      return { role: auth.role, jwt: await serviceAccountToken() };
    case 'jwt':
      return { role: auth.role, jwt: auth.jwt };
    case 'cert':
      // https://developer.hashicorp.com/vault/api-docs/auth/cert#login-with-tls-certificate-method
      return { name: auth.role };
    case 'aws':
      return awsBody(auth);
  }
}

const QUERY = 'Action=GetCallerIdentity&Version=2011-06-15';

/**
 * We sign a request to AWS and Vault sends it, so that AWS confirms the identity of the key to Vault:
 * https://developer.hashicorp.com/vault/api-docs/auth/aws#login
 */
async function awsBody(auth: AwsAuth): Promise<Record<string, string | undefined>> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const { role, region, serverId, accessKeyId, secretAccessKey = '', sessionToken } = auth;
  const host = region === undefined ? 'sts.amazonaws.com' : `sts.${region}.amazonaws.com`;
  const signer = new SignatureV4({
    ...{ service: 'sts', region: region ?? 'us-east-1', sha256: Sha256 },
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) },
  });
  const { headers } = await signer.sign({
    ...{ method: 'POST', protocol: 'https:', hostname: host, path: '/', query: {}, body: QUERY },
    headers: {
      host,
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      ...(serverId ? { 'x-vault-aws-iam-server-id': serverId } : {}),
    },
  });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return {
    role,
    iam_http_request_method: 'POST',
    iam_request_url: base64(`https://${host}/`),
    iam_request_body: base64(QUERY),
    iam_request_headers: base64(JSON.stringify(headers)),
  };
}

/** The hash interface that the signer expects: a hash, or with a secret an HMAC. */
class Sha256 {
  readonly #hash;
  constructor(secret?: unknown) {
    this.#hash = secret ? createHmac('sha256', secret as Uint8Array) : createHash('sha256');
  }
  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}
