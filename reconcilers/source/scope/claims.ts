/** How often each key is claimed, kept from read to read: what is claimed once costs nothing to know. */
export class Claims {
  private readonly counts = new Map<string, number>();
  /** The keys with more than one claim. */
  private readonly shared = new Set<string>();

  /** Whether any key is claimed twice. */
  get contested(): boolean {
    return this.shared.size > 0;
  }

  isContested(key: string): boolean {
    return this.shared.has(key);
  }

  add(key: string): void {
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    if (count === 2) this.shared.add(key);
  }

  remove(key: string): void {
    const count = (this.counts.get(key) ?? 0) - 1;
    if (count > 0) this.counts.set(key, count);
    else this.counts.delete(key);
    if (count < 2) this.shared.delete(key);
  }
}
