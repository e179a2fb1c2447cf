/** What there was to see when a case failed, for what fails only now and then. Support modules tell how to look. */

type Look = () => Promise<string>;

const looks = new Map<string, Look>();

/** A module that opens something names what is seen of it; `look` is called after a case has failed, before its suite ends. */
export const lookOnFailure = (name: string, look: Look): void => void looks.set(name, look);

/** Text of several lines; empty where nothing is open. A look that fails is told, and hides no other. */
export async function failureScene(): Promise<string> {
  const seen = await Promise.all(
    [...looks].map(([name, look]) => look().catch((error: unknown) => `${name}: ${String(error)}`)),
  );
  return seen.filter((text) => text !== '').join('\n');
}
