/** A trigger for `run`: at most one is in flight and one is queued, however often it is pulled. */
export function coalesce(run: () => Promise<void>): () => void {
  let running = false;
  let queued = false;
  const loop = async () => {
    running = true;
    try {
      do {
        queued = false;
        await run();
      } while (queued);
    } finally {
      running = false;
    }
  };
  return () => {
    if (running) queued = true;
    else void loop();
  };
}
