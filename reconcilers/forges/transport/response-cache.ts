/**
 * Answers that are asked for again and again, kept to ask whether they still hold (RFC 9110 §13.1.2): at GitHub that counts
 * towards no limit. https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */

/** In characters, of all answers of one client. */
const MOST_KEPT = 8 * 1024 * 1024;

interface KnownAnswer {
  etag: string;
  headers: Headers;
  text: string;
}

const OF_PAGES = /^(content-type|link|x-(next-page|page|per-page|total|total-pages))$/;

/** What an answer without content leaves out of its headers; what it says of token and limits is its own. */
export function withPages(before: Headers, now: Headers): Headers {
  const headers = new Headers(now);
  for (const [name, value] of before) if (OF_PAGES.test(name) && !headers.has(name)) headers.set(name, value);
  return headers;
}

export function createResponseCache(most = MOST_KEPT) {
  /** The one that was used longest ago first. */
  const answers = new Map<string, KnownAnswer>();
  let size = 0;

  // One and the same page comes in several forms.
  const keyOf = (url: URL, sent: Record<string, string>) => `${sent.accept ?? ''} ${url.href}`;

  function drop(key: string): KnownAnswer | null {
    const found = answers.get(key);
    if (!found) return null;
    answers.delete(key);
    size -= found.text.length;
    return found;
  }

  return {
    of(url: URL, sent: Record<string, string>): KnownAnswer | null {
      const key = keyOf(url, sent);
      const found = answers.get(key);
      if (!found) return null;
      answers.delete(key);
      answers.set(key, found);
      return found;
    },
    keep(url: URL, sent: Record<string, string>, { headers, text }: Omit<KnownAnswer, 'etag'>): void {
      const key = keyOf(url, sent);
      drop(key);
      const etag = headers.get('etag');
      if (etag === null || text.length > most) return;
      answers.set(key, { etag, headers, text });
      size += text.length;
      for (const oldest of answers.keys()) {
        if (size <= most) break;
        drop(oldest);
      }
    },
  };
}
