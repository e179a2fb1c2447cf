/** A browser as far as sign-ins need one: it keeps cookies and follows redirects, one station at a time. */
import { type HttpResponse, type SendOptions, send } from '../clients/http.ts';

export interface Station {
  url: string;
  answer: HttpResponse;
}

export class Walker {
  /** By host, as browsers have them: a port is no border. */
  readonly #jar = new Map<string, string>();
  readonly #headers: Readonly<Record<string, string>>;

  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  cookie(name: string): string | undefined {
    return this.#jar.get(name);
  }
  /** The first whose name begins so. */
  cookieFrom(prefix: string): { name: string; value: string } | undefined {
    for (const [name, value] of this.#jar) if (name.startsWith(prefix)) return { name, value };
    return undefined;
  }
  setCookie(name: string, value: string): void {
    this.#jar.set(name, value);
  }
  /** Those whose names begin so. */
  dropCookies(prefix: string): void {
    for (const name of this.#jar.keys()) if (name.startsWith(prefix)) this.#jar.delete(name);
  }
  get cookies(): string {
    return [...this.#jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async get(url: string, headers: SendOptions['headers'] = {}): Promise<HttpResponse> {
    const answer = await send(url, { headers: { ...this.#headers, cookie: this.cookies, ...headers } });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const gone = value === '' || attributes.some((one) => /^expires=Thu, 01 Jan 1970/i.test(one));
      if (gone) this.#jar.delete(name);
      else this.#jar.set(name, value);
    }
    return answer;
  }

  /** Goes on while it is led on, at most to where `stop` says: that one is not asked. */
  async walk(
    url: string,
    {
      stop = () => false,
      headers = {},
    }: { stop?: (url: string) => boolean; headers?: SendOptions['headers'] } = {},
  ): Promise<Station> {
    let at = url;
    for (let hops = 0; hops < 20; hops += 1) {
      const answer = await this.get(at, hops === 0 ? headers : {});
      const { location } = answer.headers;
      if (location === undefined) return { url: at, answer };
      at = new URL(location, at).href;
      if (stop(at)) return { url: at, answer };
    }
    throw new Error(`led in circles, last to ${at}`);
  }
}
